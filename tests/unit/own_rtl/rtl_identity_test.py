#!/usr/bin/env python3
"""tb/cosim/rtl_identity.py and rtl_wrapper.py: rtl_identity_test.py REPOSITORY"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


def run(script, *arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "tb" / "cosim" / script, *map(str, arguments)], capture_output=True, text=True)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Identity(Folder):
    def line(self, *sources, include=()):
        result = run("rtl_identity.py", "--block", "b", "--top", "t", "--base", self.path, "--library", self.path / "library", "--line",
                     *(f"--include={folder}" for folder in include), *sources)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def test_a_comment_and_an_included_file_change_the_hash(self):
        source = self.write("own.sv", '`include "widths.svh"\nmodule own; endmodule\n')
        header = self.write("inc/widths.svh", "`define WIDTH 3\n")
        first = self.line(source, include=[self.path / "inc"])
        self.assertIn("RTL: b, top t, own.sv widths.svh, sha256 ", first)
        header.write_text("`define WIDTH 4\n")
        second = self.line(source, include=[self.path / "inc"])
        source.write_text(source.read_text() + "// a comment\n")
        self.assertEqual(len({first, second, self.line(source, include=[self.path / "inc"])}), 3)

    def test_the_order_of_the_sources_does_not_count_and_their_names_do_not(self):
        a, b = self.write("a.sv", "module a; endmodule\n"), self.write("b.sv", "module b; endmodule\n")
        c = self.write("c.sv", a.read_text())
        hashes = {self.line(*sources).split("sha256 ")[1] for sources in ((a, b), (b, a), (c, b))}
        self.assertEqual(len(hashes), 1)

    def test_modules_of_the_library_count_where_they_are_used_and_not_defined(self):
        self.write("library/fifo.sv", "module fifo; endmodule\n")
        self.write("library/other.sv", "module other; endmodule\n")
        user = self.write("user.sv", "module user; fifo u_fifo(); endmodule\n")
        self.assertIn("user.sv fifo.sv, sha256", self.line(user))
        self.assertIn("user.sv own_fifo.sv, sha256", self.line(user, self.write("own_fifo.sv", "module fifo; endmodule\n")))


    def test_the_contract_is_named_with_its_folder(self):
        source = self.write("own/own.sv", "module own; endmodule\n")
        for base, name in ((self.path, "own/contract.toml"), (self.path / "elsewhere", f"{self.path}/own/contract.toml")):
            contract, out = self.write("own/contract.toml", ""), self.path / "identity.h"
            result = run("rtl_identity.py", "--block", "b", "--top", "own", "--base", base, "--base", self.path / "own", "--contract", contract,
                         "--out", out, "--depfile", self.path / "identity.d", source)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f'MRCSIM_RTL_CONTRACT_FILE "{name}"', out.read_text())


class Wrapper(Folder):
    def wrap(self, contract, *arguments, block="ack_coalescer"):
        path = self.write("contract.toml", contract)
        out = self.path / "out.sv"
        result = run("rtl_wrapper.py", "--header", ROOT / "rtl" / block / f"{block}.sv", "--top", "mine", "--contract", path, "--out", out,
                     *arguments)
        return result, out.read_text() if out.exists() else ""

    def test_pins_and_parameters_have_the_users_names(self):
        result, text = self.wrap("", "--pin", "evt_valid_i=s_valid", "--parameter", "NumSlots=Queues")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(".s_valid(evt_valid_i)", text)
        self.assertIn(".Queues(NumSlots), .CounterWidth(CounterWidth)", text)
        self.assertIn(".rst_ni(rst_ni)", text)

    def test_parameters_are_expressions_of_ours_and_a_reset_may_be_active_high(self):
        result, text = self.wrap('[reset]\nactive = "high"\n[parameters]\nLOG2_SLOTS = "clog2(num_slots)"\nW = "2 * CounterWidth + 1"\n',
                                 "--pin", "rst_ni=rst")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(".LOG2_SLOTS($clog2(NumSlots)), .W(2 * CounterWidth + 1)", text)
        self.assertIn(".rst(!rst_ni)", text)

    def refused(self, contract, message, *arguments):
        result, _ = self.wrap(contract, *arguments)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertIn(message, result.stderr)

    def test_wrong_contracts_are_refused_with_their_line(self):
        self.refused('[parameters]\n\nA = "num_slot + 1"\n', "contract.toml:3: parameters.A: no parameter num_slot; there are: NumSlots, CounterWidth")
        self.refused('[parameters]\nA = "system(`x`)"\n', "contract.toml:2: parameters.A")
        self.refused('[reset]\nactive = "on"\n', "contract.toml:2: reset.active: 'on'; allowed: low, high")
        self.refused("[reset\n", "contract.toml:1: is not TOML: ")
        self.refused("\n[[wais]]\n", "contract.toml:2: wais: unknown; allowed: cycles, clock, parameters, pins, ready, reset, way")
        self.refused("", "PIN_MAP evt_valid=x: the block has no such name; there are: clk_i", "--pin", "evt_valid=x")
        self.refused("[parameters]\n", "parameters and PARAMETER_MAP: only one of them", "--parameter", "NumSlots=X")
        self.refused('[clock]\nenable_activ = "low"\n', "contract.toml:2: clock.enable_activ: unknown; allowed: enable, enable_active")
        self.refused('[clock]\nenable = "en"\nenable_active = "on"\n', "contract.toml:3: clock.enable_active: 'on'; allowed: low, high")
        self.refused('[pins]\ns_tdata = ["evt_event_i", "evt_quantity_i"]\n', "contract.toml:2: pins.s_tdata: 'evt_quantity_i' is no port")
        self.refused('[pins]\ns_tdata = ["evt_event_i", "sack_slot_o"]\n', "contract.toml:2: pins.s_tdata: inputs and outputs in one bus")
        self.refused("[pins]\ns_tdata = [3]\n", "contract.toml:2: pins.s_tdata: inputs and outputs in one bus, or none")

    def test_buses_and_a_clock_enable_are_connected_bit_by_bit(self):
        result, text = self.wrap('[clock]\nenable = "stop"\nenable_active = "low"\n[pins]\n'
                                 's_tdata = ["evt_slot_i", 3, "evt_payload_bytes_i[7:0]"]\nm_tdata = [2, "sack_slot_o", "sack_counter_bytes_o"]\n')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(".stop(1'b0)", text)
        self.assertIn(".s_tdata({evt_slot_i, 3'd0, evt_payload_bytes_i[7:0]})", text)
        self.assertIn("assign {m_tdata_unused_0, sack_slot_o, sack_counter_bytes_o} = m_tdata_bus;", text)
        self.assertIn(".m_tdata(m_tdata_bus)", text)
        for port in ("evt_slot_i", "evt_payload_bytes_i", "sack_slot_o", "sack_counter_bytes_o"):
            self.assertNotIn(f".{port}(", text)

    @unittest.skipIf(shutil.which("verilator") is None, "needs verilator")
    def test_a_module_with_buses_fits(self):
        """Structs and enumerations in a bus; Verilator's lint counts the bits."""
        result, _ = self.wrap('[clock]\nenable = "run"\n[reset]\nactive = "high"\n[parameters]\nLOG2_SLOTS = "clog2(num_slots)"\n[pins]\n'
                              'limits = ["threshold_bytes_i", "min_add_bytes_i", "evt_counter_bytes_i"]\n'
                              's_tdata = ["evt_event_i", "evt_slot_i", 2, "evt_payload_bytes_i", "evt_retransmission_i", "evt_reflection_i"]\n'
                              'm_tdata = ["sack_slot_o", "sack_causes_o", 5, "sack_counter_bytes_o", "sack_reflection_o"]\n',
                              "--pin", "clk_i=clk", "--pin", "rst_ni=rst")
        self.assertEqual(result.returncode, 0, result.stderr)
        mine = self.write("mine.sv", """module mine #(parameter int unsigned LOG2_SLOTS = 3) (
  input logic clk, input logic rst, input logic run, input logic [66:0] limits,
  input logic evt_valid_i, output logic evt_ready_o, input logic [LOG2_SLOTS+111:0] s_tdata,
  output logic sack_valid_o, input logic sack_ready_i, output logic [LOG2_SLOTS+126:0] m_tdata);
  always_ff @(posedge clk) if (rst) m_tdata <= '0; else if (run) m_tdata <= {s_tdata, 15'(limits)};
  assign {evt_ready_o, sack_valid_o} = {sack_ready_i, evt_valid_i & (^limits)};
endmodule
""")
        lint = subprocess.run(["verilator", "--lint-only", "-Wall", "--top-module", "ack_coalescer", ROOT / "rtl/common/mrc_pkg.sv", mine,
                               self.path / "out.sv", "-Wno-DECLFILENAME"], capture_output=True, text=True)
        self.assertEqual(lint.returncode, 0, lint.stderr)


if __name__ == "__main__":
    unittest.main()
