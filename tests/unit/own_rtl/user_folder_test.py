#!/usr/bin/env python3
"""A folder MRCSIM_USER_RTL that is not right ends the configuration with one line and leaves the build folder as it was:
user_folder_test.py REPOSITORY"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
EXAMPLE = ROOT / "tb/examples/own_srv6_encap"
ANY_TARGET = "mrcsim_rtl_ports_srv6_encap"


class UserFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def build(self, flags, target=ANY_TARGET):
        environment = {**os.environ, "MRCSIM_CMAKE_FLAGS": f"-DMRCSIM_TESTS=OFF {flags}"}
        return subprocess.run([ROOT / "tb/build.sh", self.path / "build", "--target", target], env=environment, capture_output=True,
                              text=True)

    def refused(self, folder, *parts):
        result = self.build(f"-DMRCSIM_USER_RTL={folder}")
        self.assertNotEqual(result.returncode, 0, result.stdout)
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("mrcsim: "), lines[0])
        for part in parts:
            self.assertIn(part, lines[0])

    def copy(self, name, contract=None, lists=None):
        folder = self.path / name
        shutil.copytree(EXAMPLE, folder)
        if contract is not None:
            (folder / "contract.toml").write_text(contract)
        if lists is not None:
            (folder / "CMakeLists.txt").write_text(lists)
        return folder

    def accepted(self, flags):
        result = self.build(flags)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)

    def targets(self):
        return subprocess.run(["ninja", "-C", self.path / "build", "-t", "targets", "all"], capture_output=True, text=True).stdout

    def test_a_folder_that_is_not_right_is_named_in_one_line_and_leaves_the_build_folder_as_it_was(self):
        # In a new build folder; then without it.
        self.refused(self.path / "none", f"MRCSIM_USER_RTL: {self.path}/none: no such folder; allowed: a folder whose CMakeLists.txt calls")
        self.accepted("")
        # Behind one that was right, which stays.
        own = self.copy("own")
        self.accepted(f"-DMRCSIM_USER_RTL={own}")
        self.assertIn("mrcsim_own_encap", self.targets())
        (self.path / "empty").mkdir()
        self.refused(self.path / "empty", f"MRCSIM_USER_RTL: {self.path}/empty: CMakeLists.txt is missing; allowed: ")
        self.refused(self.copy("idle", lists=""), f"{self.path}/idle/CMakeLists.txt: mrcsim_use_rtl() is not called")
        self.refused(self.copy("typo", lists="mrcsim_use_rlt(a)\n"), f"{self.path}/typo/CMakeLists.txt:1: Unknown CMake command")
        lists = (EXAMPLE / "CMakeLists.txt").read_text()
        self.refused(self.copy("other", lists=lists.replace("BLOCK srv6_encap", "BLOCK srv6")), "no block srv6; there are: pcie_dma, ")
        self.refused(self.copy("absent", lists=lists.replace("TOP own", "CONTRACT not_there.toml TOP own")),
                     f"{self.path}/absent/not_there.toml does not exist")
        self.refused(self.copy("toml", contract='cycles = "ranges"\n[reset\n'), f"{self.path}/toml/contract.toml:2: is not TOML: ")
        self.refused(self.copy("key", contract="\nwais = 1\n"), f"{self.path}/key/contract.toml:2: wais: unknown; allowed: cycles, clock")
        again = subprocess.run(["cmake", "--build", self.path / "build", "--target", ANY_TARGET], capture_output=True, text=True)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn("mrcsim_own_encap", self.targets())
        # The folder that is configured, after a change.
        with (own / "CMakeLists.txt").open("a") as text:
            text.write("mrcsim_use_rlt(a)\n")
        self.refused(own, "Unknown CMake command")
        # A folder that was right and has gone: clearing the variable recovers.
        shutil.rmtree(own)
        self.refused(own, "no such folder")
        self.accepted("-DMRCSIM_USER_RTL=")
        self.assertNotIn("mrcsim_own_encap", self.targets())

    def test_a_port_of_another_width_ends_the_build_with_one_line(self):
        source = (EXAMPLE / "own_encap.sv").read_text()
        own = self.copy("own")
        # The bench of the small sizes has 512 bits.
        name = "Vsrv6_encap_bench_small"
        verilated = f"user_rtl/mrcsim_own_encap_cosim_srv6_encap_small_verilated.dir/{name}/{name}.h"
        for change, line in (
            (("input  logic [Width-1:0]     s_tdata", "input  logic [Width/2-1:0]   s_tdata"),
             "mrcsim: module own_encap: port s_tdata has 256 bits, wanted 512, as in_data_i of srv6_encap"),
            (("output logic [CountBits-1:0] m_tbytes", "output logic [7:0]           m_tbytes"),
             "mrcsim: module own_encap: port m_tbytes has 8 bits, wanted 7, as out_bytes_o of srv6_encap"),
            (("m_tfirst", "m_first"),
             "mrcsim: module own_encap: there is no port m_tfirst, wanted for out_sop_o of srv6_encap"),
            (None, None),
        ):
            (own / "own_encap.sv").write_text(source.replace(*change) if change else source)
            if change:
                self.assertIn(change[0], source)
            result = self.build(f"-DMRCSIM_USER_RTL={own}", target=verilated)
            self.assertEqual(result.returncode == 0, change is None, result.stdout + result.stderr)
            if line:
                said = [text for text in (result.stdout + result.stderr).splitlines() if text.startswith(("mrcsim: ", "%"))]
                self.assertEqual(said, [line], result.stdout + result.stderr)
        # A module with our name and our ports has no module around it.
        text = (ROOT / "rtl/srv6_encap/srv6_encap.sv").read_text()
        (own / "srv6_encap.sv").write_text(text.replace("logic [CountWidth-1:0] in_bytes_i", "logic [CountWidth:0] in_bytes_i"))
        (own / "CMakeLists.txt").write_text(f"mrcsim_use_rtl(mrcsim_own_encap BLOCK srv6_encap SOURCES srv6_encap.sv"
                                            f" {ROOT}/rtl/srv6_encap/icrc_append.sv)\n")
        result = self.build(f"-DMRCSIM_USER_RTL={own}", target=verilated)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("mrcsim: module srv6_encap: port in_bytes_i has 8 bits, wanted 7, as in_bytes_i of srv6_encap", result.stdout)


if __name__ == "__main__":
    unittest.main()
