#!/usr/bin/env python3
"""MRC, UET and RoCEv2 beside each other below the same switches: all arrives, the same twice and in both kernel modes, and what cannot be mixed
is refused.

  mixed_transports.py MRCSIM
"""
import pathlib
import sys
import tempfile
import unittest

from runs import run

MRCSIM = sys.argv.pop(1)
# Below each T0 two NICs of MRC, one of UET, one of RoCEv2.
FABRIC = ["fidelity=endpoint", "fabric.nics=16", "fabric.nics_per_t0=4", "nic.ports=1", "nic.port_gbps=400", "rocev2.pfc=false",
          "transport=mrc"]
FABRIC += [f"node.nic{4 * t0 + 2}.transport=uet" for t0 in range(4)]
FABRIC += [f"node.nic{4 * t0 + 3}.transport=rocev2" for t0 in range(4)]
FLOWS = [(0, 4 * t0 + i, (4 * t0 + 4 + i) % 16, 2_000_000) for t0 in range(4) for i in range(4)]


class Mixed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_flows(self, name, flows, settings):
        return run(MRCSIM, pathlib.Path(self.folder.name), name, flows, settings)

    def result(self, name, settings=(), flows=FLOWS):
        code, result, error = self.run_flows(name, flows, [*FABRIC, *settings])
        self.assertEqual(code, 0, error)
        self.assertEqual(result["messages"]["completed"], len(flows))
        return result

    def test_all_arrives_and_each_sends_at_its_rate(self):
        result = self.result("all")
        self.assertEqual(result["bytes"]["corrupted"], 0)
        self.assertIn("uet", result)
        # Alone at 400 Gb/s a flow takes 42 us; uplinks are shared.
        self.assertLess(result["simulated_time_us"], 4 * 42)

    def test_the_same_twice_and_in_both_kernel_modes(self):
        first = self.result("first")
        second = self.result("second")
        methods = self.result("methods", ["run.kernel=methods"])
        for result in (first, second, methods):
            for key in ("cost", "parameters", "scenario"):
                result.pop(key)
        self.assertEqual(first, second)
        self.assertEqual(first, methods)

    def test_a_range_of_nodes_is_each_of_them(self):
        of_range = self.result("range", ["node.nic4-7.host.post_ns=300"])
        of_each = self.result("each", [f"node.nic{node}.host.post_ns=300" for node in range(4, 8)])
        self.assertEqual(of_range["parameters"].get("node.nic7.host.post_ns"), 300)
        of_each.pop("scenario"), of_range.pop("scenario")
        of_each["parameters"].pop("traffic.trace"), of_range["parameters"].pop("traffic.trace")
        self.assertEqual(of_range, of_each)

    def test_what_cannot_be_mixed_is_refused(self):
        for name, settings, flows, word in (
                ("across", [], [(0, 0, 2, 1000)], "both ends of a QP"),
                ("pause", ["rocev2.pfc=true"], FLOWS, "rocev2.pfc"),
                ("ideal", ["node.nic0.transport=ideal"], FLOWS, "ideal"),
                ("wide", ["node.nic4-99.host.post_ns=1"], FLOWS, "nic4-99")):
            code, result, error = self.run_flows(name, flows, [*FABRIC, *settings])
            self.assertEqual((code, result), (2, None), name + error)
            self.assertIn(word, error)


unittest.main()
