#!/usr/bin/env python3
"""libmrc_dpi.so from Python: reference_test.py REPOSITORY LIBRARY [MRCSIM]. With MRCSIM also vectors that its cosim kept."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, LIBRARY = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
MRCSIM = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
sys.path.insert(0, str(ROOT / "tb" / "dpi"))
from mrc_reference import Library, NotAllowed, vectors  # noqa: E402

MRC = Library(LIBRARY)
WRITE_ONLY, US = 0xCA, 1_000_000


class Page(unittest.TestCase):
    """docs/dpi.md."""

    def setUp(self):
        self.text = (ROOT / "docs/dpi.md").read_text()

    def test_its_signatures_are_those_of_the_header(self):
        header = (ROOT / "tb/dpi/mrc_reference.h").read_text()
        declared = re.findall(r"^(\w[^;{}/]*\bmrc_reference_\w+\([^;]*\));", header, re.M)
        self.assertGreater(len(declared), 10)
        self.assertEqual(sorted(re.findall(r"^\| `([^`]*\bmrc_reference_\w+\([^`]*)` \|", self.text, re.M)), sorted(declared))

    @unittest.skipIf(shutil.which("cc") is None, "needs a C compiler")
    def test_its_program_in_c_compiles_links_and_runs_with_its_command(self):
        source, command = re.search(r"```c\n(.*?)```.*?```\n(cc [^\n]*)\n```", self.text, re.S).groups()
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "window.c").write_text(source)
            command = re.sub(r"(\$PWD/)?build/tb/dpi", str(LIBRARY.resolve().parent), command)
            command = command.replace("-I tb/dpi", f"-I {ROOT}/tb/dpi -Wall -Werror")
            result = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (0, "outcome 0\nbanks in use 0\n"), result.stderr)


class Interface(unittest.TestCase):
    def test_the_library_needs_neither_systemc_nor_verilator(self):
        needed = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertIn("libstdc++", needed)
        for other in ("systemc", "verilat"):
            self.assertNotIn(other, needed.lower())

    def test_all_blocks_and_the_halves_of_a_qp_are_there(self):
        joins = {"nic_tx", "nic_rx"}  # they join blocks and have no values of their own
        blocks = {path.parent.name for path in ROOT.glob("rtl/*/contract.toml")} - joins
        self.assertLessEqual(blocks | {"requestor", "responder", "nscc"}, set(MRC.names()))

    def test_what_may_not_be_given_is_refused_and_changes_nothing(self):
        with self.assertRaisesRegex(NotAllowed, "no reference psn_tracer"):
            MRC.new("psn_tracer")
        with self.assertRaisesRegex(NotAllowed, "no setting banks_=1"):
            MRC.new("psn_tracker", banks_=1)
        window = MRC.new("psn_tracker", slots=2)
        for port, fields in (("req", {"slot": 2}), ("req", {"op": 9}), ("req", {"op": 1}), ("rsp", {}), ("req", {"psm": 1})):
            with self.assertRaises(NotAllowed, msg=f"{port} {fields}"):
                window.accept(port, **fields)
        self.assertIsNone(window.expected("rsp"))
        with self.assertRaises(NotAllowed):
            window.state("bank_in_use")
        self.assertEqual(window.state("banks_in_use"), 0)


class Halves(unittest.TestCase):
    def test_a_message_goes_from_requestor_to_responder_and_a_lost_packet_is_repeated(self):
        sender = MRC.new("requestor", first_psn=0xFFFFFE)
        receiver = MRC.new("responder", first_psn=0xFFFFFE, rkey=7)
        sender.accept("post", id=42, bytes=5 * 4096, remote_address=4096, rkey=7)
        now, sent, lost_once, answers = 0, [], False, []
        while sender.state("messages_pending") and now < 1000 * US:
            now += US
            sender.accept("take", now=now)
            plan = sender.expected("plan")
            if plan["gate"] == 0:
                sent.append(plan["psn"])
                sender.accept("sent", now=now, psn=plan["psn"], ev=len(sent))
                if plan["psn"] == 0 and not lost_once:
                    lost_once = True
                    continue
                packet = {k: plan[k] for k in ("opcode", "psn", "msn", "payload_bytes", "dma_length", "va", "rkey", "retransmission",
                                                "ack_request")}
                receiver.accept("packet", **packet, ecn=2, pkey=0xFFFF, packet_buffer=1, other_resource=1, ev=0)
                decision = receiver.expected("decision")
                self.assertEqual((decision["admitted"], decision["nack"], decision["place"]), (1, 0, 1))
                if decision["closes_messages"]:
                    receiver.accept("written", messages=decision["closes_messages"])
                answers += [("sack", a) for a in iter(lambda: receiver.expected("sack"), None)]
                answers += [("transport_ack", a) for a in iter(lambda: receiver.expected("transport_ack"), None)]
            elif not answers and sender.state("next_deadline") > now:
                now = sender.state("next_deadline")
            for port, answer in answers:
                sender.accept(port, now=now + US, **answer)
            now += US if answers else 0
            answers = []
            sender.accept("deadline", now=now)
        self.assertEqual(sent[:5], [0xFFFFFE, 0xFFFFFF, 0, 1, 2])
        self.assertEqual(sent.count(0), 2)
        self.assertEqual(sender.expected("completion"), {"id": 42, "status": 0})
        self.assertEqual((sender.state("inflight_bytes"), sender.state("retransmissions")), (0, len(sent) - 5))
        self.assertEqual(receiver.state("banks_in_use"), 0)

    def test_nscc_starts_at_its_largest_window_and_a_loss_makes_it_smaller(self):
        window = MRC.new("nscc", base_rtt_ps=8 * US, line_rate_gbps=400)
        self.assertEqual(window.state("cwnd_bytes"), 600_000)  # 1.5 x 50 B/ns x 8 us
        window.accept("loss", now=1, bytes=4184)
        self.assertEqual(window.expected("window"), {"cwnd_bytes": 595_816, "inflight_bytes": 0, "last_cut": 3})
        with self.assertRaisesRegex(NotAllowed, "time does not go back"):
            window.accept("loss", now=0, bytes=1)


class Blocks(unittest.TestCase):
    def test_an_outer_header_and_the_bytes_behind_it(self):
        encap = MRC.new("srv6_encap")
        encap.accept("packet", packet=b"\x60abc", locator=0x20010DB8, usid0=0x1, usid_count=1, uplink_position=7, plane=5,
                     source_low=1, payload_length=4, hop_limit=64, dscp=4, ecn=2)
        out = encap.expected("out")
        self.assertEqual(out["header_bytes"], 40)
        self.assertEqual(out["packet"].hex(), "61200000" "0004" "29" "40" + "00" * 15 + "01" + "20010db8" "a001" + "00" * 10 + "60616263")

    def test_reads_are_cut_answered_and_reported_in_order(self):
        dma = MRC.new("pcie_dma", mrrs_bytes=512)
        dma.accept("rd", address=4096 - 100, bytes=612, job=3, in_order=1)
        dma.accept("rd", address=0, bytes=8, job=4, in_order=1)
        requests = []
        for _ in range(4):
            dma.accept("credit")
            if (request := dma.expected("req")) is not None:
                requests.append(request)
        self.assertEqual([(r["address"], r["bytes"]) for r in requests], [(3996, 100), (4096, 512), (0, 8)])
        self.assertEqual(dma.state("buffer_used"), 620)
        for request in reversed(requests):
            self.assertIsNone(dma.expected("ordered"))
            dma.accept("cpl", tag=request["tag"], bytes=request["bytes"], byte_count=request["bytes"])
        self.assertEqual([dma.expected("ordered"), dma.expected("ordered")], [{"job": 3}, {"job": 4}])
        dma.accept("release", bytes=620)
        self.assertEqual((dma.state("idle"), dma.state("buffer_used")), (1, 0))

    def test_turns_are_granted_and_contexts_take_the_slots_of_others(self):
        turns = MRC.new("qp_scheduler", qps=4, slots=2, quantum_bytes=4096)
        for qp in (2, 0, 2, 1):
            turns.accept("act", qp=qp)
        self.assertEqual(turns.state("listed"), 3)
        for qp, slot in ((2, 0), (0, 1)):  # both slots were empty
            turns.accept("pick", read_room=1)
            self.assertEqual(turns.expected("turn"), {"qp": qp, "lookup": 2})
            self.assertEqual(turns.expected("fetch"), {"qp": qp, "slot": slot, "evicts": 0, "evicted_qp": 0})
        turns.accept("pick", read_room=1)
        self.assertEqual(turns.expected("turn"), {"qp": 1, "lookup": 3})  # both slots are in use: it goes behind
        turns.accept("fill", qp=2, list=1)
        turns.accept("fill", qp=0, used=1)
        for wrong in (("fill", {"qp": 2, "list": 1}), ("back", {"qp": 2, "slot": 0}), ("look", {"qp": 4})):
            with self.assertRaises(NotAllowed, msg=wrong):
                turns.accept(wrong[0], **wrong[1])
        turns.accept("pick", read_room=0)
        self.assertEqual(turns.expected("turn"), {"qp": 1, "lookup": 3})  # no read
        turns.accept("look", qp=0)
        self.assertEqual(turns.expected("seen"), {"qp": 0, "lookup": 0, "slot": 1})  # used again: a second chance
        turns.accept("pick", read_room=1)
        self.assertEqual(turns.expected("turn"), {"qp": 2, "lookup": 0})
        self.assertEqual(turns.expected("grant"), {"qp": 2, "slot": 0, "quantum_bytes": 4096})
        turns.accept("act", qp=2)
        turns.accept("pick", read_room=1)  # slot 0 has a grant, and slot 1 had its second chance
        self.assertEqual(turns.expected("turn"), {"qp": 1, "lookup": 2})
        self.assertEqual(turns.expected("fetch"), {"qp": 1, "slot": 1, "evicts": 1, "evicted_qp": 0})
        self.assertEqual([turns.state("here", qp) for qp in range(4)], [0, 0, 1, 0])
        turns.accept("back", qp=2, slot=0)
        self.assertEqual((turns.state("listed"), turns.state("held")), (1, 1))  # it was activated meanwhile
        turns.accept("drop", qp=2)
        turns.accept("pick", read_room=0)
        self.assertEqual(turns.expected("turn"), {"qp": 2, "lookup": 3})

    def test_a_path_that_lost_is_not_taken_until_a_probe_came_back(self):
        paths = MRC.new("spray_scheduler", planes=2, ev_count=8, ev_active=4)
        for plane in (0, 1):
            paths.accept("credit", plane=plane, bytes=10_000_000)
        bad = paths.state("order", 0)
        paths.accept("upd", event=5, ev=bad)  # LOST
        self.assertEqual(paths.expected("done")["state"], 2)
        taken = set()
        for _ in range(64):
            paths.accept("sel", bytes=4096, ports_up=3)
            rsp = paths.expected("rsp")
            self.assertEqual(rsp["found"], 1)
            taken.add(rsp["ev"])
        self.assertNotIn(bad, taken)
        self.assertEqual(len(taken), 4)  # a backup has its place


def settings_of(block, constants):
    """The bench is built for these sizes, which only the answers without room show."""
    if block == "ack_coalescer":
        return {"slots": 64, **constants}
    if block == "psn_tracker":
        return {"slots": 64, "banks": 32, "mpr_units": 4, **constants}
    return {"records": 64}


class Contexts:
    """Contexts in a file of vectors: a load brings one that an earlier store has put out. The reference of psn_tracker knows them by
    a number, that of retransmit_buffer by their QPs."""

    LOAD, STORE = 6, 7

    def __init__(self, block):
        self.numbered, self.numbers, self.stores, self.count = block == "psn_tracker", {}, [], 0

    @staticmethod
    def taken_from(fields):
        return tuple(fields.pop(name) for name in [name for name in fields if name.startswith("context")])

    def asked(self, fields):
        context = self.taken_from(fields)
        if not self.numbered:
            return
        self.count += 1
        stores = fields["op"] == self.STORE
        self.stores.append(self.count if stores else None)
        if stores:
            fields["qp"] = self.count
        elif fields["op"] == self.LOAD:
            fields["qp"] = self.numbers[context].pop(0)

    def answered(self, fields):
        context = self.taken_from(fields)
        if self.stores and (number := self.stores.pop(0)) is not None:
            self.numbers.setdefault(context, []).append(number)


@unittest.skipIf(MRCSIM is None, "without mrcsim there are no vectors")
class Vectors(unittest.TestCase):
    def answers_of(self, block):
        """Of a run of the bench: each output that the reference gives for the inputs is the one in the file."""
        count, reference, constants, due, contexts = 0, None, {}, {}, Contexts(block)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "vectors.txt"
            subprocess.run([MRCSIM, "cosim", block, "--count", "4000", "--out", folder, "--keep-vectors", path], check=True,
                           capture_output=True)
            for kind, *rest in vectors(path):
                if kind == "reset":
                    reference, constants, due, contexts = None, {}, {}, Contexts(block)
                elif kind == "constant":
                    constants[rest[0]] = rest[1]
                elif kind == "in":
                    reference = reference or MRC.new(block, **settings_of(block, constants))
                    contexts.asked(rest[2])
                    reference.accept(rest[1], **rest[2])
                    for port in reference.ports["out"]:
                        while (answer := reference.expected(port)) is not None:
                            due.setdefault(port, []).append(answer)
                else:
                    contexts.answered(rest[2])
                    self.assertEqual(rest[2], {**dict.fromkeys(rest[2], 0), **due[rest[1]].pop(0)}, f"{block}, cycle {rest[0]}")
                    count += 1
        self.assertGreater(count, 300)

    def test_ack_coalescer(self):
        self.answers_of("ack_coalescer")

    def test_psn_tracker(self):
        self.answers_of("psn_tracker")

    def test_retransmit_buffer(self):
        self.answers_of("retransmit_buffer")


def counts(path):
    """Hits by point of a file of Verilator's coverage."""
    return {key: int(count) for key, count in re.findall(r"^C '(.*)' (\d+)$", pathlib.Path(path).read_text(), re.M)}


@unittest.skipIf(MRCSIM is None or shutil.which("verilator_coverage") is None, "needs mrcsim and verilator_coverage")
class Coverage(unittest.TestCase):
    def test_the_files_of_two_runs_are_merged_by_verilators_own_tool(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = []
            for seed in (1, 2):
                out = pathlib.Path(folder) / str(seed)
                subprocess.run([MRCSIM, "cosim", "ack_coalescer", "--count", "300", "--seed", str(seed), "--out", out], check=True,
                               capture_output=True)
                kept.append(out / "coverage.dat")
            merged = pathlib.Path(folder) / "merged.dat"
            subprocess.run(["verilator_coverage", "--write", merged, *kept], check=True, capture_output=True)
            first, second, both = counts(kept[0]), counts(kept[1]), counts(merged)
            self.assertGreater(len(both), 100)
            self.assertEqual(both, {key: first.get(key, 0) + second.get(key, 0) for key in {*first, *second}})
            self.assertNotEqual(first, second)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
