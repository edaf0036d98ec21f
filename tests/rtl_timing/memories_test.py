#!/usr/bin/env python3
"""memories.py finds each bank of a block, with its size and latency, and what is too large: memories_test.py ROOT VERILATOR"""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

import memories

VERILATOR = sys.argv.pop()
ROOT = pathlib.Path(sys.argv.pop())
SETUP = json.loads((ROOT / "tests/rtl_timing/timing.json").read_text())

PLANTED = """
module planted #(parameter int unsigned Depth = 1 << 20) (input logic clk_i, re_i, input logic [19:0] raddr_i, output logic [63:0] data_o[2]);
  logic corrected, uncorrectable;
  ram_1r1w #(.Depth(Depth), .Width(64)) u_one (
    .clk_i, .we_i(1'b0), .waddr_i('0), .wdata_i('0), .re_i, .raddr_i, .rdata_o(data_o[0]));
  ram_1r1w_banked #(.Depth(Depth), .Width(64), .ReadLatency(2), .Banks(4), .Secded(1)) u_banked (
    .clk_i, .we_i(1'b0), .waddr_i('0), .wdata_i('0), .flip_i('0), .re_i, .raddr_i, .rdata_o(data_o[1]), .corrected_o(corrected),
    .uncorrectable_o(uncorrectable));
endmodule
"""


def planted():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "planted.sv"
        file.write_text(PLANTED)
        return list(memories.memories(memories.elaborate(VERILATOR, [*memories.sources(ROOT, "none"), file], "planted", {})))


class Memories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = planted()

    def said(self, limit):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            good = memories.check("planted", self.found, SETUP, limit)
        return good, said.getvalue()

    def test_banks_have_their_size_check_bits_and_latency(self):
        sizes = sorted((memory.depth, memory.width, memory.latency) for memory in self.found)
        self.assertEqual(sizes, [(1 << 18, 72, 2)] * 4 + [(1 << 20, 64, 1)])

    def test_levels_are_those_of_the_timing(self):
        levels = {memory.latency: memory.levels(SETUP["memory"]) for memory in self.found}
        self.assertEqual(levels, {1: 12 + 10, 2: 12 + 9})  # 64 Mibit; 18 Mibit
        self.assertEqual(memories.Memory("small", 16, 8, 1).levels(SETUP["memory"]), 12)
        self.assertEqual(memories.Memory("just", 1 << 10, 64, 1).levels(SETUP["memory"]), 12)
        self.assertEqual(memories.Memory("above", 1 << 10, 65, 1).levels(SETUP["memory"]), 13)

    def test_a_latency_of_two_allows_twice_the_levels(self):
        self.assertTrue(self.said(22)[0])
        good, said = self.said(21)
        self.assertFalse(good)
        self.assertIn("planted.u_one, 1,048,576 x 64 bits: 22 levels in 1 cycle; allowed: 21.", said)
        self.assertNotIn("u_banked", said.split("memories: ", 1)[1])
        self.assertEqual(self.said(10)[1].count("allowed: 20."), 4)


if __name__ == "__main__":
    unittest.main()
