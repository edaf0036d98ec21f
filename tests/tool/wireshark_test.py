#!/usr/bin/env python3
"""The path of packets in Wireshark, and which packets an answer is about: wireshark_test.py MRCSIM REPOSITORY. EV, plane and uSIDs as
tshark shows them agree with the ports at which the packets were captured, with the rule by which an EV selects its T1, and with the EVs
that SACKs name. SACKs and NACKs lead to the frames of their packets."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

MRCSIM, REPOSITORY = sys.argv[1], pathlib.Path(sys.argv[2])
TSHARK = shutil.which("tshark")
if not TSHARK:
    print("SKIPPED: tshark is missing")
    sys.exit(77)
FIELDS = ("frame.number", "frame.interface_name", "mrc.bth.opcode", "mrc.ev", "mrc.plane", "mrc.usid", "mrc.seth.entropy", "_ws.col.Info", "mrc.bth.psn",
          "mrc.bth.dqp", "mrc.bth.rtx", "mrc.seth.cack_psn", "mrc.seth.ack_psn_offset", "mrc.seth.pr", "mrc.neth.nack_psn", "mrc.neth.entropy",
          "mrc.trimmed", "mrc.answers", "mrc.acknowledges", "mrc.acknowledged_by")
PSNS = 1 << 24
UPLINKS = 4


def tshark(pcap, *options):
    command = [TSHARK, "-r", str(pcap), "-X", f"lua_script:{REPOSITORY}/docs/wireshark/mrc.lua", "-T", "fields", *options]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, check=False)
    # Wireshark 4.4 loads no Lua for root.
    if done.returncode != 0 and os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/nonexistent", *command]
        done = subprocess.run(command, capture_output=True, check=True)
    assert b"Lua" not in done.stderr, done.stderr
    return [dict(zip(FIELDS, line.split("\t"))) for line in done.stdout.decode().splitlines()]


class Paths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        folder.chmod(0o755)
        (folder / "flows.csv").write_text("start_us,src,dst,bytes,tag\n0,0,3,256KiB,0\n")
        (folder / "clos.toml").write_text('traffic.trace = "flows.csv"\n[fabric]\nnics = 4\nnics_per_t0 = 2\nloss_rate = "1%"\n'
                                          f"t1s_per_plane = {UPLINKS}\n[nic]\nports = 2\nport_gbps = 400\n")
        cls.pcap = folder / "clos.pcapng"
        subprocess.run([MRCSIM, "run", folder / "clos.toml", "--quiet", "--out", folder / "out", "--pcap", cls.pcap], check=True)
        cls.rows = tshark(cls.pcap)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def data(self, node):
        rows = [row for row in self.rows if row["frame.interface_name"].startswith(node) and 0xC6 <= int(row["mrc.bth.opcode"], 16) <= 0xCB]
        self.assertGreater(len(rows), 60)
        return rows

    def test_plane_is_that_of_the_port(self):
        for row in self.rows:
            self.assertEqual(row["mrc.plane"], row["frame.interface_name"].split("port")[1])

    def test_sender_names_all_switches_and_the_ev_selects_one(self):
        taken = set()
        for row in self.data("nic0."):
            first, upper, last, down = row["mrc.usid"].split(",")
            self.assertEqual((first, last, down), ("t0.0", "t0.1", "down1"))
            self.assertEqual(upper, f"t1.{int(row['mrc.ev'], 16) % UPLINKS}")
            taken.add(upper)
        self.assertEqual(len(taken), UPLINKS)

    def test_receiver_sees_what_is_left(self):
        for row in self.data("nic3."):
            self.assertTrue(row["mrc.usid"].endswith("down1"), row)
            self.assertLess(row["mrc.usid"].count(","), 3)

    def test_sacks_name_evs_of_data(self):
        sent = {row["mrc.ev"] for row in self.data("nic0.")}
        named = {row["mrc.seth.entropy"] for row in self.rows if row["mrc.seth.entropy"]}
        self.assertGreater(len(named), 3)
        self.assertLessEqual({int(ev, 16) for ev in named}, {int(ev, 16) for ev in sent})

    def test_info_has_path_and_flags_by_name(self):
        infos = [row["_ws.col.Info"] for row in self.rows]
        self.assertTrue(any(" plane 1: t0.0 t1." in info for info in infos))
        self.assertTrue(any("[retransmission]" in info or "retransmission]" in info for info in infos))
        self.assertTrue(any("ACK requested" in info for info in infos))

    def test_the_other_order_of_halves(self):
        swapped = tshark(self.pcap, "-o", "mrc.low_half_in_label:TRUE")
        for row, other in zip(self.rows, swapped):
            ev = int(row["mrc.ev"], 16)
            self.assertEqual(int(other["mrc.ev"], 16), (ev & 0xFFFF) << 16 | ev >> 16)


class Links(unittest.TestCase):
    """Two NICs that send to each other over two QPs each."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        folder.chmod(0o755)
        (folder / "flows.csv").write_text("start_us,src,dst,bytes,tag\n" + "".join(f"0,{i % 2},{1 - i % 2},512KiB,{i}\n" for i in range(4)))
        (folder / "pair.toml").write_text('[traffic]\ntrace = "flows.csv"\nqps_per_peer = 2\n[fabric]\nnics = 2\nloss_rate = "2%"\n'
                                          'trim_rate = "4%"\n[nic]\nports = 4\nport_gbps = 200\n')
        pcap = folder / "pair.pcapng"
        subprocess.run([MRCSIM, "run", folder / "pair.toml", "--quiet", "--out", folder / "out", "--pcap", pcap], check=True)
        # Twice, so that a packet knows of the SACK behind it, as it does in Wireshark.
        cls.rows = tshark(pcap, "-2")
        cls.by_frame = {row["frame.number"]: row for row in cls.rows}
        cls.data = [row for row in cls.rows if 0xC6 <= int(row["mrc.bth.opcode"], 16) <= 0xCB]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def answers(self, opcode):
        return [row for row in self.rows if int(row["mrc.bth.opcode"], 16) == opcode and row["mrc.seth.pr"] in ("", "0")]

    @staticmethod
    def nic(row):
        return row["frame.interface_name"].split(".")[0]

    def test_a_sack_leads_to_the_packet_that_it_reports_on(self):
        linked = 0
        for sack in self.answers(0xDC):
            if not sack["mrc.answers"]:
                continue
            packet = self.by_frame[sack["mrc.answers"]]
            offset = int(sack["mrc.seth.ack_psn_offset"], 16)
            offset -= 1 << 16 if offset >> 15 else 0
            self.assertEqual(int(packet["mrc.bth.psn"]), (int(sack["mrc.seth.cack_psn"]) + offset) % PSNS)
            self.assertEqual(int(packet["mrc.ev"], 16), int(sack["mrc.seth.entropy"], 16))
            self.assertIn(f" reports PSN {packet['mrc.bth.psn']}", sack["_ws.col.Info"])
            linked += 1
        self.assertEqual(linked, len(self.answers(0xDC)))
        self.assertGreater(linked, 20)

    def test_all_packets_are_acknowledged_once_by_the_right_qp(self):
        of_qp = {}
        for sack in self.answers(0xDC):
            for frame in filter(None, sack["mrc.acknowledges"].split(",")):
                packet = self.by_frame[frame]
                of_qp.setdefault((packet["mrc.bth.dqp"], sack["mrc.bth.dqp"], self.nic(packet)), set()).add(int(packet["mrc.bth.psn"]))
        # One requestor's QP for each QP that data goes to, at each NIC.
        responders = {(row["mrc.bth.dqp"], self.nic(row)) for row in self.data if row["mrc.acknowledged_by"]}
        self.assertEqual(len(of_qp), len({(dqp, nic) for dqp, _, nic in of_qp}))
        self.assertEqual(len(of_qp), 4)
        for (dqp, _, nic), psns in of_qp.items():
            self.assertIn((dqp, nic), responders)
            self.assertEqual(psns, set(range(min(psns), min(psns) + len(psns))), "a packet has no SACK")
            self.assertEqual(len(psns), 128)

    def test_both_copies_of_a_sack_have_the_same_links(self):
        links = {}
        for sack in self.answers(0xDC):
            key = (sack["mrc.bth.dqp"], sack["mrc.seth.cack_psn"], sack["mrc.answers"])
            links.setdefault(key, set()).add(sack["mrc.acknowledges"])
        self.assertTrue(all(len(different) == 1 for different in links.values()), links)

    def test_a_packet_leads_to_its_sack(self):
        for row in self.data:
            if row["mrc.trimmed"]:
                continue
            sack = self.by_frame[row["mrc.acknowledged_by"]]
            self.assertEqual(int(sack["mrc.bth.opcode"], 16), 0xDC)
            self.assertLess(int(row["frame.number"]), int(sack["frame.number"]))

    def test_a_nack_leads_to_the_trimmed_packet(self):
        nacks = self.answers(0xDD)
        self.assertGreater(len(nacks), 0)
        for nack in nacks:
            packet = self.by_frame[nack["mrc.answers"]]
            self.assertTrue(packet["mrc.trimmed"])
            self.assertEqual((packet["mrc.bth.psn"], int(packet["mrc.ev"], 16)), (nack["mrc.neth.nack_psn"], int(nack["mrc.neth.entropy"], 16)))
            self.assertIn(" TRIMMED", nack["_ws.col.Info"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
