#!/usr/bin/env python3
"""The Python package: frames agree with the files, studies with what the executable prints. python_test.py MRCSIM REPOSITORY.
Needs python3-pandas; exits with 77 and a reason without it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import typing
import unittest

try:
    import pandas  # noqa: F401
except ImportError:
    print("SKIPPED: python3-pandas is missing")
    sys.exit(77)

MRCSIM, REPOSITORY = sys.argv[1], pathlib.Path(sys.argv[2])
os.environ["MRCSIM"] = MRCSIM
sys.path.insert(0, str(REPOSITORY / "tb/python"))
import mrcsim  # noqa: E402

PAIR = REPOSITORY / "tb/scenarios/pair.toml"
SHORT = {"traffic.rows": 16, "host.payload": "reference"}


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.database = self.folder / "study.sqlite"

    def test_frames_of_a_run(self):
        run = mrcsim.run(PAIR, SHORT, seed=3, out=self.folder / "out")
        result = json.loads((self.folder / "out/result.json").read_text())
        self.assertEqual((run.status, run.json), ("complete", result))
        self.assertEqual(run.json["seed"], 3)
        self.assertAlmostEqual(run.limits.gbps.sum() + run.goodput_gbps, result["line_rate_gbps"], delta=0.01)
        self.assertEqual(run.limits.index[0], "framing")
        tags = run.buffers.loc[("nic0", "pcie.completion_buffer")]
        self.assertEqual(tags.capacity, 262144)
        self.assertEqual(run.parameters["traffic.rows"], 16)
        shares = run.ledger.loc["nic0"]
        self.assertTrue(((shares.sum(axis="columns") - 1).abs() < 1e-6).all())
        self.assertEqual(run.plane_goodput.shape[1], 8)
        self.assertEqual(run.plane_goodput.index.name, "time_us")
        step = run.series_json["step_us"]
        self.assertAlmostEqual(run.plane_goodput.to_numpy().sum() * step * 1000 / 8, result["bytes"]["delivered"], delta=100)
        self.assertIn("nic0.segmenter.queue", run.buffer_occupancy.columns)
        self.assertEqual(set(run.ev_states("nic0").columns), {"good", "skip", "assumed_bad", "denied"})
        self.assertGreater(len(run.queue_bytes.columns), 0)
        self.assertEqual(len(run.messages), result["all_message_time_us"]["count"])
        self.assertEqual(len(run.events), 0)
        self.assertEqual(int(run.sram.bits.sum()), sum(row["bits"] for row in result["sram"]))
        self.assertIn("complete", repr(run))
        self.assertEqual(mrcsim.load(self.folder / "out").json, run.json)

    def test_a_run_without_a_folder_keeps_its_own(self):
        run = mrcsim.run(PAIR, SHORT)
        self.assertEqual(len(run.flows), 1)
        folder = run.folder
        del run
        self.assertFalse(folder.exists())

    def test_what_is_wrong_is_an_error(self):
        with self.assertRaisesRegex(mrcsim.Error, "nearest: nic.ports") as caught:
            mrcsim.run(PAIR, {"nic.prots": 4})
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertEqual(mrcsim.run(PAIR, {**SHORT, "run.max_time_us": 1}, check=False).status, "partial")

    def test_sweep(self):
        vary = {"nic.retransmit_buffer.entries": [32, 256], "pcie.read_tags": "128..256:x2"}
        study = mrcsim.sweep(PAIR, vary, SHORT, seeds=2, database=self.database)
        points = study.points
        self.assertEqual(list(points["nic.retransmit_buffer.entries"]), [32, 32, 256, 256])
        self.assertEqual(list(points["pcie.read_tags"]), [128, 256, 128, 256])
        self.assertLess(points.goodput_gbps[0], points.goodput_gbps[3])
        self.assertEqual((len(study.runs), set(study.runs.seed)), (8, {1, 2}))
        self.assertEqual(len(study.limits), 8)
        self.assertIn("retransmit_buffer.entries", study.limits.columns)
        # Another study of the same database, and the first one again.
        other = mrcsim.sweep(PAIR, {"nic.ports": [4, 8]}, SHORT, database=self.database)
        again = mrcsim.sweep(PAIR, vary, SHORT, seeds=2, database=self.database)
        self.assertEqual((again.identity, other.identity != study.identity), (study.identity, True))
        self.assertEqual(len(mrcsim.open_study(self.database).studies), 2)
        self.assertIsNone(study.answer)

    def test_size(self):
        sizing = mrcsim.size(PAIR, "nic.retransmit_buffer.entries", SHORT, hold=["goodput>=90%", "drops=0"], seeds=1,
                             database=self.database)
        self.assertTrue(sizing.curve.holds.loc[sizing.smallest])
        self.assertFalse(sizing.curve.holds.loc[: sizing.smallest - 1].any())
        none = mrcsim.size(PAIR, "pcie.read_tags", SHORT, hold="goodput>=900", seeds=1, database=self.database)
        self.assertIsNone(none.smallest)

    def test_why(self):
        answer = mrcsim.why(PAIR, {**SHORT, "nic.retransmit_buffer.entries": 32}, seeds=1,
                            database=self.database)
        self.assertEqual(answer.causes.index[0], "retransmit_buffer.entries")
        self.assertIn("nic.retransmit_buffer.entries", answer.remedies.change[0])
        self.assertGreater(answer.remedies.gain_gbps[0], 10)

    def test_parameters_and_version(self):
        self.assertEqual(mrcsim.params().loc["nic.ports", "maximum"], 8)
        self.assertTrue(mrcsim.version().startswith("mrcsim "))
        self.assertEqual(mrcsim.executable(), MRCSIM)

    def test_everything_public_is_typed_and_documented(self):
        document = (REPOSITORY / "docs/python.md").read_text(encoding="utf-8")
        for name in mrcsim.__all__:
            thing = getattr(mrcsim, name)
            if not isinstance(thing, types.FunctionType):
                continue
            hints = typing.get_type_hints(thing)
            self.assertIn("return", hints, name)
            arguments = thing.__code__.co_varnames[: thing.__code__.co_argcount + thing.__code__.co_kwonlyargcount]
            self.assertEqual(set(arguments) - set(hints), set(), name)
            self.assertTrue(thing.__doc__, name)
            self.assertIn(f"`{name}(", document)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
