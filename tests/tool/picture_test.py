#!/usr/bin/env python3
"""The picture of a run: picture_test.py MRCSIM REPOSITORY. It is XML, says what the result says, takes no text from outside as markup,
and is in the report."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

MRCSIM, REPOSITORY = sys.argv[1], pathlib.Path(sys.argv[2])
PAIR = str(REPOSITORY / "tb/scenarios/pair.toml")
SVG = "{http://www.w3.org/2000/svg}"
QUICK = ("--set", "traffic.rows=16", "host.payload=reference")


def mrcsim(*arguments):
    return subprocess.run([MRCSIM, *map(str, arguments)], capture_output=True, text=True, check=False)


class Picture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_pair(self, *settings):
        done = mrcsim("run", PAIR, *QUICK, *settings, "--quiet", "--out", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "out/result.json").read_text())

    def draw(self):
        done = mrcsim("report", self.folder / "out", "--picture", self.folder / "nic.svg")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return xml.parse(self.folder / "nic.svg").getroot()

    @staticmethod
    def texts(picture):
        return [text.text for text in picture.iter(SVG + "text")]

    def test_says_what_limits_and_where(self):
        result = self.run_pair("nic.retransmit_buffer.entries=32")
        picture = self.draw()
        texts = self.texts(picture)
        lost = next(row["gbps"] for row in result["limits"] if row["cause"] == "retransmit_buffer.entries")
        at_the_box = sum(row["gbps"] for row in result["limits"] if row["cause"].removeprefix("sram.").startswith("retransmit_buffer"))
        self.assertGreater(lost, 100)
        self.assertIn(f"lost {at_the_box:.1f} Gb/s", texts)
        self.assertTrue(any(text.startswith(f"lost: retransmit_buffer.entries {lost:.1f} Gb/s") for text in texts))
        self.assertTrue(any(f"{result['goodput_gbps']:.1f} Gb/s from nic0 of 800.0 Gb/s" in text for text in texts))
        for name in ("doorbell", "srv6_encap", "parser", "probe_engine", "port7", "plane 7", "PCIe gen6 x16"):
            self.assertIn(name, texts)
        self.assertEqual(texts.count("segmenter"), 2)
        limiting = [group for group in picture.iter(SVG + "g") if any(r.get("class") == "box limits" for r in group.iter(SVG + "rect"))]
        self.assertIn("retransmit_buffer", [text for group in limiting for text in self.texts(group)])

    def test_bars_are_the_shares_of_the_result(self):
        result = self.run_pair()
        busy = {row["box"]: row["busy"] for row in result["ledger"] if row["node"] == "nic0"}
        for group in self.draw().iter(SVG + "g"):
            title = group.find(SVG + "title").text
            if not title.startswith("srv6_encap: busy"):
                continue
            track, bar = (group.findall(SVG + "rect")[i] for i in (1, 2))
            self.assertAlmostEqual(float(bar.get("width")) / float(track.get("width")), busy["srv6_encap"], delta=0.01)
            break
        else:
            self.fail("srv6_encap has no busy bar")

    def test_a_receiver_that_limits(self):
        self.run_pair("node.nic1.pcie.generation=4")
        picture = self.draw()
        self.assertIn("PCIe gen4 x16", self.texts(picture))
        self.assertTrue(any(text.startswith("lost: receiver.pcie.line") for text in self.texts(picture)))

    def run_four(self, *settings):
        """nic0 sends most to nic2; nic1 receives more, from nic3."""
        (self.folder / "flows.csv").write_text("start_us,src,dst,bytes,tag\n0,0,1,65536,0\n0,0,2,1048576,0\n0,3,1,4194304,0\n")
        (self.folder / "four.toml").write_text('[traffic]\ntrace = "flows.csv"\n[fabric]\nnics = 4\nnics_per_t0 = 2\nt1s_per_plane = 2\n')
        done = mrcsim("run", self.folder / "four.toml", "--out", self.folder / "out", *settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_peer_is_the_node_that_gets_most_of_the_node_under_test(self):
        summary = self.run_four()
        self.assertIn("share of the time that boxes were busy, % (nic2 gets most of nic0)", summary)
        self.assertRegex(summary, r"\n    nic0  \S.*(\n {9}.*)*\n    nic2  \S")
        self.assertNotRegex(summary, r"\n    nic[13]  \S")
        texts = self.texts(self.draw())
        self.assertIn("nic0, under test", texts)
        self.assertIn("nic2, receives most of nic0", texts)

    def test_links_that_were_down_are_dashed_and_named(self):
        self.run_four("--set", 'fault.1={kind = "link_down", where = "nic0.port3", at_us = 2, for_us = 5}',
                      'fault.2={kind = "link_down", where = "plane3.t0.0.up1", at_us = 3, for_us = 5}',
                      'fault.3={kind = "link_flap", where = "plane5.t0.1.up0", at_us = 3, for_us = 1, period_us = 4, count = 2}',
                      'fault.4={kind = "link_down", where = "nic0.port6", at_us = 1e6, for_us = 5}')
        picture = self.draw()
        texts = self.texts(picture)
        self.assertIn("down: nic0.port3 +1", texts)
        self.assertIn("down: t0.1.up0", texts)
        self.assertNotIn("down: nic0.port6", texts)
        down = [path.get("d") for path in picture.iter(SVG + "path") if "down" in path.get("class").split()]
        self.assertEqual(len(down), 2, "nic0's cable to plane 3, and the legend")
        titles = [title.text for title in picture.iter(SVG + "title")]
        self.assertTrue(any(title.endswith("; down at some time: nic0.port3, t0.0.up1") for title in titles), titles)
        self.run_pair()
        self.assertNotIn("was down at some time", self.texts(self.draw()))

    def test_text_from_outside_stays_text(self):
        result = self.run_pair()
        result["scenario"] = '<script>alert("1")</script>&\u0007'
        result["buffers"][0]["name"] = 'doorbell.<b onclick="x">'
        (self.folder / "out/result.json").write_text(json.dumps(result))
        picture = self.draw()
        self.assertEqual(len(list(picture.iter(SVG + "script"))), 0)
        self.assertTrue(any('<script>alert("1")</script>&?' in text for text in self.texts(picture)))

    def test_what_has_no_boxes_is_refused(self):
        self.run_pair("fidelity=endpoint")
        done = mrcsim("report", self.folder / "out", "--picture", self.folder / "nic.svg")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("light endpoint", done.stderr)
        self.assertFalse((self.folder / "nic.svg").exists())
        self.assertEqual(mrcsim("report", self.folder / "out", "-o", self.folder / "run.html").returncode, 0)

    def test_only_a_picture_of_ours_is_replaced(self):
        self.run_pair()
        (self.folder / "nic.svg").write_text("<svg>precious</svg>")
        done = mrcsim("report", self.folder / "out", "--picture", self.folder / "nic.svg")
        self.assertEqual(done.returncode, 2)
        self.assertEqual((self.folder / "nic.svg").read_text(), "<svg>precious</svg>")
        (self.folder / "nic.svg").unlink()
        self.draw()
        self.draw()

    def test_the_report_begins_with_it(self):
        self.run_pair()
        done = mrcsim("report", self.folder / "out", "--picture", self.folder / "nic.svg", "-o", self.folder / "run.html")
        self.assertEqual(done.stdout.split(), [str(self.folder / "nic.svg"), str(self.folder / "run.html")])
        page = (self.folder / "run.html").read_text()
        self.assertEqual(page.count('<svg xmlns="http://www.w3.org/2000/svg" class="nic"'), 1)
        self.assertLess(len(page), 2_000_000)
        self.assertLess(len((self.folder / "nic.svg").read_text()), 100_000)

    def test_another_program_draws_it(self):
        converter = shutil.which("rsvg-convert")
        if not converter:
            self.skipTest("rsvg-convert is missing (Debian: librsvg2-bin)")
        self.run_pair()
        self.draw()
        done = subprocess.run([converter, self.folder / "nic.svg"], capture_output=True, check=True)
        self.assertTrue(done.stdout.startswith(b"\x89PNG"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
