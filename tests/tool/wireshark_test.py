#!/usr/bin/env python3
"""The path of packets in Wireshark: wireshark_test.py MRCSIM REPOSITORY. EV, plane and uSIDs as tshark shows them agree with the
ports at which the packets were captured, with the rule by which an EV selects its T1, and with the EVs that SACKs name."""
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
FIELDS = ("frame.interface_name", "mrc.bth.opcode", "mrc.ev", "mrc.plane", "mrc.usid", "mrc.seth.entropy", "_ws.col.Info")
UPLINKS = 4


def tshark(pcap, *options):
    command = [TSHARK, "-r", "-", "-X", f"lua_script:{REPOSITORY}/docs/wireshark/mrc.lua", "-T", "fields", *options]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, input=pcap.read_bytes(), capture_output=True, check=False)
    # Wireshark 4.4 loads no Lua for root.
    if done.returncode != 0 and os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/nonexistent", *command]
        done = subprocess.run(command, input=pcap.read_bytes(), capture_output=True, check=True)
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
