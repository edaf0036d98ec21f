"""What tb/cosim/rtl_ports.py makes of a small block, and what it refuses: rtl_ports_test.py RTL_PORTS.py"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
PACKAGE = """package mrc_pkg;
  typedef enum logic [1:0] {
    ThingFirst = 2'd0,  // a comment, with one = sign
    ThingSecond = 2'd2
  } thing_e;
  typedef struct packed {
    thing_e      thing;
    logic [2:0]  count;
  } about_t;
endpackage
"""
BLOCK = """module echo
  import mrc_pkg::*;
#(
  parameter  int unsigned Entries = 64,
  localparam int unsigned Width   = $clog2(Entries),
  localparam int unsigned Unused  = 3
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             ask_valid_i,
  output logic             ask_ready_o,
  input  about_t           ask_about_i,
  input  logic [Width-1:0] ask_entry_i,
  output logic             say_valid_o,
  output thing_e           say_thing_o
);
endmodule
"""
PORTS = """
[[stream]]
name = "ask"
direction = "in"
fields = ["entry", "about.count", "kind=about.thing"]

[[stream]]
name = "say"
direction = "out"
fields = ["thing"]
"""


class RtlPorts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, cwd=self.folder)

    def block(self, ports):
        for name, text in (("mrc_pkg.sv", PACKAGE), ("echo.sv", BLOCK), ("ports.toml", ports)):
            (self.folder / name).write_text(text)
        return self.run_script("block", "mrc_pkg.sv", "echo.sv", "ports.toml", "out")

    def test_members_of_a_struct_are_pins_in_their_widths(self):
        self.assertEqual(self.block(PORTS).stderr, "")
        flat = (self.folder / "out/echo_flat.sv").read_text()
        self.assertRegex(flat, r"input  logic \[1:0\] +ask_kind_i,\n +input  logic \[2:0\] +ask_count_i,")
        self.assertIn("'{thing: ask_kind_i, count: ask_count_i}", flat)
        self.assertIn("localparam int unsigned Width = $clog2(Entries)", flat)
        self.assertNotIn("Unused", flat)

    def test_in_runs_a_change_is_a_cycle_and_inputs_may_be_taken(self):
        self.block(PORTS)
        run = (self.folder / "out/echo_run.sv").read_text()
        self.assertRegex(run, r"input  logic +cycle_i,")
        self.assertIn("assign clk = cycle_i ^ clk_ended_q;", run)
        self.assertIn(".ask_entry_i,", run)
        self.assertNotIn("take_inputs_i", run)
        self.block("takes_inputs = true\n" + PORTS)
        run = (self.folder / "out/echo_run.sv").read_text()
        self.assertIn("    rst_n_q <= rst_ni;\n    ask_valid_q <= ask_valid_i;\n    ask_kind_q <= ask_kind_i;", run)
        self.assertIn(".clk_i(clk),\n    .rst_ni(rst_n_q),\n    .ask_valid_i(ask_valid_q),\n    .ask_ready_o,", run)

    def test_fields_are_in_the_order_of_the_description(self):
        self.block(PORTS)
        self.assertIn("{ kEntry, kCount, kKind, kFields }", (self.folder / "out/ports.h").read_text())
        dut = (self.folder / "out/dut.h").read_text()
        self.assertLess(dut.index('"entry", m.ask_entry_i'), dut.index('"kind", m.ask_kind_i'))
        self.assertIn('Port("say", Direction::out, m.say_valid_o)', dut)

    def test_what_would_stay_the_same_is_not_written(self):
        self.block(PORTS)
        written = (self.folder / "out/ports.h").stat().st_mtime_ns
        self.block(PORTS)
        self.assertEqual((self.folder / "out/ports.h").stat().st_mtime_ns, written)

    def test_unknown_names_are_refused(self):
        for wrong, message in (
            (PORTS.replace('"entry"', '"entries"'), "stream ask: no port for entries"),
            (PORTS.replace("about.count", "about.counts"), "stream ask: about.counts: about_t has no member counts"),
            (PORTS.replace('"about.count", ', ""), "echo: ask_about_i: no field for member count"),
            (PORTS.replace('name = "say"', 'name = "tell"'), "stream tell: the module has no port tell_valid"),
        ):
            refused = self.block(wrong)
            self.assertEqual(refused.returncode, 1)
            self.assertEqual(refused.stderr, f"rtl_ports.py: {message}\n")

    def test_enumerations_and_structs_of_the_package(self):
        (self.folder / "mrc_pkg.sv").write_text(PACKAGE)
        self.assertEqual(self.run_script("package", "mrc_pkg.sv", "out").stderr, "")
        header = (self.folder / "out/mrc_pkg.h").read_text()
        self.assertIn("enum class Thing : std::uint8_t {\n  first = 0,\n  second = 2,\n};", header)
        self.assertIn("return (thing & 0x3ULL) << 3 |\n           (count & 0x7ULL);", header)


unittest.main()
