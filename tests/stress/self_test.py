#!/usr/bin/env python3
"""The stress of random scenarios, with a script in mrcsim's place: each law finds what breaks it, and findings are reduced."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import draw
import laws

HERE = pathlib.Path(__file__).resolve().parent
GOOD = {
    "status": "complete", "simulated_time_us": 10.0, "goodput_gbps": 700.0, "line_rate_gbps": 800.0,
    "messages": {"count": 2, "completed": 2, "failed": 0}, "bytes": {"offered": 10, "delivered": 10, "corrupted": 0},
    "packets": {"sent": 3, "delivered": 3}, "message_time_quantiles": [{"share": 0.5, "us": 1.0}, {"share": 1, "us": 2.0}],
    "limits": [{"cause": "framing", "gbps": 100.0}, {"cause": "unattributed", "gbps": 0.0}],
    "accounts": [{"in": 3, "out": 1, "lost": 1, "held": 1}],
    "ledger": [{"busy": 0.5, "starved": 0.25, "idle": 0.25, "blocked": {}}],
    "buffers": [{"capacity": 8, "mean": 1.0, "p99": 2.0, "high_water": 2, "time_full_share": 0.0}],
    "parameters": {"transport": "mrc", "run.kernel": "wheel"}, "cost": {"box_steps": 1}}
# Breaks a law where the scenario has a lower MTU: what is reduced must keep that setting and no other.
FAKE = """#!/usr/bin/env python3
import json, pathlib, sys
words = sys.argv[1:]
if words[0] == "params":
    print(json.dumps([{"name": "protocol.mtu_bytes", "type": "integer", "words": ["256", "4096"], "default": "4096", "minimum": 256,
                       "maximum": 4096, "per_node": False},
                      {"name": "nic.deep", "type": "real", "words": [], "default": "1", "minimum": 0.0, "maximum": 9.0, "per_node": True}]))
    sys.exit(0)
result = json.loads(%r)
if "protocol.mtu_bytes = 256" in pathlib.Path(words[1]).read_text():
    result["bytes"]["corrupted"] = 1
out = pathlib.Path(words[words.index("--out") + 1])
out.mkdir(parents=True)
(out / "result.json").write_text(json.dumps(result))
(out / "series.json").write_text("{}")
"""


class Laws(unittest.TestCase):
    def names(self, change, code=0, err=""):
        result = copy.deepcopy(GOOD)
        change(result)
        scenario = draw.Scenario(0)
        return {law for law, _ in laws.broken(scenario, laws.Outcome(code, err, result, "{}"))}

    def test_a_good_result_breaks_none(self):
        self.assertEqual(self.names(lambda r: None), set())

    def test_each_law_finds_what_breaks_it(self):
        self.assertEqual(self.names(lambda r: r["limits"].append({"cause": "port.slow", "gbps": -1.0})), {"limits"})
        self.assertEqual(self.names(lambda r: r["limits"][1].update(gbps=5.0)), {"unattributed", "limits"})
        self.assertEqual(self.names(lambda r: r["accounts"][0].update(held=2)), {"accounts"})
        self.assertEqual(self.names(lambda r: r["ledger"][0].update(busy=1.5)), {"ledger"})
        self.assertEqual(self.names(lambda r: r["buffers"][0].update(high_water=9)), {"buffers"})
        self.assertEqual(self.names(lambda r: r["messages"].update(completed=1)), {"messages"})
        self.assertEqual(self.names(lambda r: r["bytes"].update(corrupted=1)), {"memory"})
        self.assertEqual(self.names(lambda r: r.update(simulated_time_us=1e6)), {"time"})
        self.assertEqual(self.names(lambda r: r.update(goodput_gbps=float("nan"))), {"result"})

    def test_ends(self):
        self.assertEqual(self.names(lambda r: None, -1), {"ends"})
        self.assertEqual(self.names(lambda r: None, -11), {"ends"})
        self.assertEqual(self.names(lambda r: None, 1, "mrcsim: internal error: x\n"), {"ends"})
        self.assertEqual(self.names(lambda r: None, 4), {"memory"})
        self.assertEqual(self.names(lambda r: None, 2, "mrcsim: a line\n"), set())
        self.assertEqual(self.names(lambda r: None, 2, "mrcsim: two\nlines\n"), {"message"})

    def test_differences(self):
        one = laws.Outcome(0, "", GOOD, '{"a": [1]}')
        other = laws.Outcome(0, "", {**GOOD, "cost": {"box_steps": 2}}, '{"a": [2]}')
        self.assertEqual(laws.differences("kernels", one, one, cost=True), [])
        self.assertIn("cost", laws.differences("repeatable", one, other, cost=True)[0][1])
        self.assertIn("series.json differs: /a/0", laws.differences("kernels", one, other, cost=False)[0][1])


class Stress(unittest.TestCase):
    def test_a_finding_is_reduced_to_what_shows_it(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            fake = folder / "mrcsim"
            fake.write_text(FAKE % json.dumps(GOOD))
            fake.chmod(0o755)
            done = subprocess.run([sys.executable, HERE / "stress.py", fake, "--count", "12", "--jobs", "2", "--out", folder / "found"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            found = sorted((folder / "found").glob("memory_1_*.toml"))
            self.assertTrue(found, done.stdout)
            for file in found:
                text = file.read_text()
                self.assertIn("protocol.mtu_bytes = 256", text)
                self.assertNotIn("deep", text)
                self.assertNotIn("[[fault]]", text)
                self.assertEqual(len(file.with_suffix(".csv").read_text().splitlines()), 2)
            excepted = subprocess.run([sys.executable, HERE / "stress.py", fake, "--count", "12", "--except", "memory", "--out", folder / "none"],
                                      capture_output=True, text=True, check=False)
            self.assertEqual(excepted.returncode, 0, excepted.stdout)


if __name__ == "__main__":
    unittest.main()
