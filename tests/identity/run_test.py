#!/usr/bin/env python3
"""run.py finds a planted difference, and ignores what it may ignore. In the place of mrcsim a script that writes given files."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run.py"
RESULT = {"mrcsim_version": "1", "status": "complete", "details": ["one"], "goodput_gbps": 758.25, "cost": {"box_steps": 7},
          "events": [{"time_us": 1.5, "what": "bypassed", "effect": "old words"}], "latency_terms": [{"term": "parser", "ns": 8.0, "source": "here"}],
          "ledger": [{"node": "nic0", "box": "parser", "busy": 0.25, "blocked": {"parser.queue": 0.5}}], "limits": [{"cause": "framing", "gbps": 30}],
          "buffers": [{"node": "nic0", "name": "parser.queue", "capacity": 30}]}
SERIES = {"step_us": 10, "plane_goodput_gbps": [[1.0, 2.0]]}
FAKE = """#!/usr/bin/env python3
import pathlib, shutil, sys
out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(parents=True)
for file in ("result.json", "series.json"):
    shutil.copy(pathlib.Path(sys.argv[0]).parent / file, out)
sys.exit(EXIT_CODE)
"""


class RunTest(unittest.TestCase):
    def setUp(self):
        self._scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._scratch.name)
        self.addCleanup(self._scratch.cleanup)
        self.result, self.series = copy.deepcopy(RESULT), copy.deepcopy(SERIES)
        recorded = self.run_py("--reference", self.folder / "reference", "--record", self.mrcsim("old", RESULT, SERIES))
        self.assertEqual(recorded.returncode, 0, recorded.stdout + recorded.stderr)

    def mrcsim(self, name, result, series, code=0):
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / "result.json").write_text(json.dumps(result))
        (self.folder / name / "series.json").write_text(json.dumps(series))
        program = self.folder / name / "mrcsim"
        program.write_text(FAKE.replace("EXIT_CODE", str(code)))
        program.chmod(0o755)
        return program

    @staticmethod
    def run_py(*arguments):
        command = [sys.executable, RUN, "--only", "^scenarios/pair$", *arguments]
        return subprocess.run([os.fspath(word) for word in command], capture_output=True, text=True, check=False)

    def compared(self, code=0):
        return self.run_py("--reference", self.folder / "reference", self.mrcsim("new", self.result, self.series, code))

    def expect_difference(self, text, code=0):
        done = self.compared(code)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(text, done.stdout)

    def test_the_same(self):
        done = self.compared()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 same", done.stdout)

    def test_ignored(self):
        self.result["mrcsim_version"] = "2"
        self.result["cost"] = {"box_steps": 8}
        self.result["details"] = ["two", "three"]
        self.result["events"][0]["effect"] = "new words"
        self.result["latency_terms"][0]["source"] = "there"
        self.result["limits"] = []
        self.result["new"] = {"key": 1}
        self.result["ledger"][0]["blocked"]["another"] = 0
        self.series["new"] = []
        self.assertEqual(self.compared().returncode, 0)

    def test_value(self):
        self.result["ledger"][0]["blocked"]["parser.queue"] = 0.5000000000000001
        self.expect_difference("result.json /ledger/0/blocked/parser.queue (nic0 parser): 0.5 -> 0.5000000000000001")

    def test_number_of_another_kind(self):
        self.result["buffers"][0]["capacity"] = 30.0
        self.expect_difference("/buffers/0/capacity (nic0 parser.queue): 30 -> 30.0")

    def test_source_elsewhere(self):
        self.result["events"][0]["what"] = "other"
        self.expect_difference("/events/0/what")

    def test_missing_key(self):
        del self.result["ledger"][0]["busy"]
        self.expect_difference("/ledger/0/busy (nic0 parser): 0.25 -> missing")

    def test_longer_array(self):
        self.result["buffers"].append({"node": "nic1"})
        self.expect_difference("/buffers: 1 entries -> 2 entries")

    def test_series(self):
        self.series["plane_goodput_gbps"][0][1] = 2.5
        self.expect_difference("series.json /plane_goodput_gbps/0/1: 2.0 -> 2.5")

    def test_exit_code(self):
        self.expect_difference("exit code 0 -> 3", code=3)

    def test_not_recorded(self):
        done = subprocess.run([sys.executable, RUN, "--only", "^scenarios/ring$", "--reference", self.folder / "reference",
                               self.mrcsim("new", RESULT, SERIES)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the reference has no such run", done.stdout)

    def test_two_executables(self):
        self.series["step_us"] = 11
        done = self.run_py("--against", self.folder / "old/mrcsim", self.mrcsim("new", self.result, self.series))
        self.assertEqual(done.returncode, 1)
        self.assertIn("series.json /step_us: 10 -> 11", done.stdout)


if __name__ == "__main__":
    unittest.main()
