#!/usr/bin/env python3
"""Bit errors, correction and link-level retry on whole runs against the closed form.

  link_errors.py MRCSIM
"""
import math
import pathlib
import sys
import tempfile
import unittest

from runs import run

MRCSIM = sys.argv.pop(1)
PAIR = ["fidelity=endpoint", "fabric.nics=2", "nic.ports=1", "nic.port_gbps=400"]
FRAME = 4262  # of a full packet on the link
SYMBOLS, DATA_SYMBOLS = 528, 514


def frame_loss(rate, frame_bytes):
    """RS(528, 514): the binomial tail of wrong symbols, in each codeword that the frame touches."""
    wrong = -math.expm1(10 * math.log1p(-rate))
    corrected = (SYMBOLS - DATA_SYMBOLS) // 2
    tail = sum(math.comb(SYMBOLS, n) * wrong**n * (1 - wrong)**(SYMBOLS - n) for n in range(corrected + 1, SYMBOLS + 1))
    return -math.expm1((1 + (8 * frame_bytes - 1) / (10 * DATA_SYMBOLS)) * math.log1p(-tail))


class LinkErrors(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def result(self, name, settings, flows=((0, 0, 1, 64_000_000),)):
        code, result, error = run(MRCSIM, pathlib.Path(self.folder.name), name, flows, [*PAIR, *settings])
        self.assertEqual(code, 0, error)
        self.assertEqual(result["messages"]["completed"], len(flows))
        return result

    def test_what_the_code_leaves_is_lost(self):
        rate = 4e-4
        result = self.result("lost", ["fabric.fec=rs528_514", f"fabric.bit_error_rate={rate}", "transport=mrc"])
        loss = frame_loss(rate, FRAME)
        # Data crosses two links; control packets are short and few.
        sent = result["packets"]["sent"]
        control = result["packets"]["control"]
        expected = sent * (1 - (1 - loss)**2) + 2 * control * frame_loss(rate, 140)
        self.assertGreater(expected, 100)
        self.assertLess(abs(result["packets"]["dropped"] - expected), 4 * math.sqrt(expected) + 0.02 * expected)
        self.assertGreater(result["packets"]["retransmitted"], 0)

    def test_a_cable_with_errors_of_its_own(self):
        rate = 4e-4
        result = self.result("one", ["fabric.fec=rs528_514", f"fabric.bit_error_rates=nic0.port0={rate}", "transport=mrc"])
        # Data leaves by this cable, and what answers it comes back by it.
        expected = result["packets"]["sent"] * frame_loss(rate, FRAME) + result["packets"]["control"] * frame_loss(rate, 140)
        self.assertGreater(expected, 100)
        self.assertLess(abs(result["packets"]["dropped"] - expected), 4 * math.sqrt(expected) + 0.02 * expected)
        other = self.result("none", ["fabric.fec=rs528_514", f"fabric.bit_error_rates=nic0={rate}, nic0.port0=0", "transport=mrc"])
        self.assertEqual(other["packets"]["dropped"], 0)

    def test_an_unknown_cable_is_refused(self):
        for rates, message in (("nic7=1e-4", '"nic7" is not a cable'), ("nic0=2", "with 0 to 0.5"), ("nic0", "expected WHERE=RATE")):
            code, _, error = run(MRCSIM, pathlib.Path(self.folder.name), "refused", ((0, 0, 1, 64),), [*PAIR, f"fabric.bit_error_rates={rates}"])
            self.assertEqual(code, 2)
            self.assertIn(message, error)

    def test_a_strong_code_leaves_nothing(self):
        result = self.result("strong", ["fabric.fec=rs544_514", "fabric.bit_error_rate=1e-4"])
        self.assertEqual(result["packets"]["dropped"], 0)

    def test_link_retry_loses_nothing_and_costs_its_round_trip(self):
        rate, turnaround_ns, cable_ns = 4e-4, 200, 150
        settings = ["fabric.fec=rs528_514", f"fabric.bit_error_rate={rate}"]
        clean = self.result("clean", ["fabric.fec=rs528_514"])
        retry = self.result("retry", [*settings, "fabric.link_retry=true", f"fabric.link_retry_turnaround_ns={turnaround_ns}"])
        self.assertEqual(retry["packets"]["dropped"], 0)
        self.assertEqual(retry["packets"]["retransmitted"], 0)
        frame_ns = FRAME * 8 / 400
        loss = frame_loss(rate, FRAME)
        held_ns = loss / (1 - loss) * (2 * cable_ns + turnaround_ns + frame_ns)
        expected = (frame_ns + held_ns) / frame_ns
        self.assertGreater(expected, 1.05)
        # Of two links in a row the slower one counts, by chance a little more than their mean.
        self.assertAlmostEqual(retry["simulated_time_us"] / clean["simulated_time_us"] / expected, 1, delta=0.02)

    def test_a_frame_is_lost_after_its_last_retransmission(self):
        rate = 6e-4
        settings = ["fabric.fec=rs528_514", f"fabric.bit_error_rate={rate}", "fabric.link_retry=true", "fabric.link_retry_limit=1", "transport=mrc"]
        result = self.result("limit", settings)
        lost = frame_loss(rate, FRAME)**2
        expected = result["packets"]["sent"] * (1 - (1 - lost)**2)
        self.assertGreater(expected, 100)
        self.assertLess(abs(result["packets"]["dropped"] - expected), 4 * math.sqrt(expected) + 0.02 * expected)

    def test_a_link_that_passes_nothing_ends(self):
        settings = ["fabric.bit_error_rate=0.09", "fabric.link_retry=true", "run.max_time_us=200"]
        for fidelity in ("endpoint", "detailed"):
            code, result, error = run(MRCSIM, pathlib.Path(self.folder.name), fidelity, ((0, 0, 1, 803),),
                                      [*PAIR, f"fidelity={fidelity}", *settings])
            self.assertEqual(code, 0, error)
            self.assertEqual(result["messages"]["completed"], 0)
            self.assertAlmostEqual(result["simulated_time_us"], 200, delta=1)

    def test_time_of_retransmissions_by_links_is_attributed_once(self):
        settings = ["fabric.bit_error_rate=0.026", "fabric.link_retry=true", "run.max_time_us=3000", "nic.ports=8", "nic.port_gbps=100"]
        code, result, error = run(MRCSIM, pathlib.Path(self.folder.name), "once", ((0, 0, 1, 3246),), [*PAIR, *settings])
        self.assertEqual(code, 0, error)
        causes = {limit["cause"]: limit["gbps"] for limit in result["limits"]}
        self.assertGreater(causes["port0.link_retry"], 10)
        self.assertGreater(min(causes.values()), -0.01, causes)
        self.assertLess(causes.get("unattributed", 0), 4, causes)

    def test_latency_of_a_code_is_added_by_each_link(self):
        flow = ((0, 0, 1, 64),)
        without = self.result("without", [], flow)["message_time_us"]["mean"]
        with_code = self.result("with", ["fabric.fec=rs544_514", "fabric.fec_latency_ns=120"], flow)["message_time_us"]["mean"]
        # There and back over two links.
        self.assertAlmostEqual(with_code - without, 4 * 0.120, places=3)

    def test_a_lane_that_fails_leaves_the_others(self):
        fault = 'fault.1={kind = "link_rate", where = "nic0.port0", at_us = 0, share = 0.875}'
        whole = self.result("whole", [])
        seven = self.result("seven", [fault])
        self.assertAlmostEqual(whole["simulated_time_us"] / seven["simulated_time_us"] / 0.875, 1, delta=0.02)


unittest.main()
