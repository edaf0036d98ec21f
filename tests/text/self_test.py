#!/usr/bin/env python3
"""Each check of this folder finds a planted failure, and nothing in a clean text: self_test.py ROOT."""
import pathlib
import shutil
import sys
import tempfile
import unittest

import check_causes
import check_format
import check_plans
import check_texts
import texts

ROOT = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else ".").resolve()
CLEAN = "A SACK is sent per packet. There is no queue; it is no longer than 4 cycles, and a packet is retransmitted."


def found(findings):
    return [message for _, message in findings]


class Phrases(unittest.TestCase):
    def test_planted(self):
        for text in ("8 accesses a cycle", "20 packets a second", "4 EVs a plane", "the packet is sent again", "252 of them again",
                     "a rank stands for all", "the first so many rows", "nic7 is no node", "what nic0 lost of its line rate",
                     "the data's way", "charged to the receiver"):
            self.assertTrue(found(check_texts.phrases([("place", text)])), text)

    def test_clean(self):
        self.assertEqual(found(check_texts.phrases([("place", CLEAN)])), [])

    def test_across_lines_of_a_document(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "README.md")
            file.write_text("# Title\n\n`20 packets a second` is code, and 20 packets\na second are not.\n\n```\nstands\n```\n", encoding="utf-8")
            self.assertEqual([place for place, _ in check_texts.phrases(texts.documents_prose(folder))], [f"{file}:3"])

    def test_in_a_comment(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "tb").mkdir()
            pathlib.Path(folder, "tb", "a.cpp").write_text("// The value\n// stands here.\nint a = 1;  // packets a second\nint b;  ///< fine\n")
            places = [place.rsplit(":", 1)[1] for place, _ in check_texts.phrases(texts.comments(folder))]
            self.assertEqual(places, ["1", "3"])


class Abbreviations(unittest.TestCase):
    GLOSSARY = "| term | meaning |\n|---|---|\n| SACK, NIC | terms |\n| E1 … E3 | numbers |\n"

    def test_planted(self):
        self.assertEqual(found(check_texts.abbreviations([("place", "NICs send SACKs to the XYZW of E4")], self.GLOSSARY)),
                         ["XYZW is not in docs/glossary.md", "E4 is not in docs/glossary.md"])

    def test_clean(self):
        self.assertEqual(found(check_texts.abbreviations([("place", "NICs send a SACK in E2, ASSUMED_BAD, {FILE}")], self.GLOSSARY)), [])


class OpenRules(unittest.TestCase):
    PARAMETERS = [{"name": "protocol.a", "source": "assumption"}, {"name": "cc.b", "source": "spec"}]

    def findings(self, row):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "ambiguities.md")
            file.write_text(f"| rule |\n|---|\n{row}\n", encoding="utf-8")
            return found(check_texts.open_rules(file, self.PARAMETERS, "TEST(Suite, Case) {"))

    def test_planted(self):
        self.assertEqual(self.findings("| `protocol.a` | `Suite.Other` |"), ["Suite.Other: there is no such test"])
        self.assertEqual(self.findings("| `protocol.a*`, `cc.c` |"), ["cc.c: there is no such parameter"])
        self.assertEqual(self.findings("| `cc.b` |"), ["protocol.a is an assumption about the protocol and missing"])
        self.assertEqual(self.findings("`protocol.ab`"), ["protocol.a is an assumption about the protocol and missing"])

    def test_clean(self):
        self.assertEqual(self.findings("| `protocol.a`, `cc.b` | `Suite.Case` |"), [])


@unittest.skipUnless(shutil.which("aspell"), "aspell is missing")
class Spelling(unittest.TestCase):
    def test_planted(self):
        messages = found(check_texts.spelling([("place", "the rec" "ieved packets of a requestor")], ["requestor"]))
        self.assertEqual(len(messages), 1, messages)
        self.assertTrue(messages[0].startswith("rec" "ieved"))

    def test_clean(self):
        self.assertEqual(found(check_texts.spelling([("place", CLEAN + " --seed, qp_scheduler, NicChoice")], ["retransmitted"])), [])


@unittest.skipUnless(shutil.which("codespell"), "codespell is missing")
class Misspellings(unittest.TestCase):
    def test_planted_and_clean(self):
        with tempfile.TemporaryDirectory() as folder:
            good, bad = pathlib.Path(folder, "good.cpp"), pathlib.Path(folder, "bad.cpp")
            good.write_text("// A Clos network.\n", encoding="utf-8")
            bad.write_text("// Packets that are rec" "ieved.\n", encoding="utf-8")
            self.assertEqual([place for place, _ in check_texts.misspellings([good, bad])], [f"{bad}:1"])


class Links(unittest.TestCase):
    def test_planted_and_clean(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.md")
            pathlib.Path(folder, "b.md").write_text("# Two words\n", encoding="utf-8")
            file.write_text("[b](b.md) [b](b.md#two-words) [web](https://example.org)\n[c](c.md)\n[d](b.md#three)\n", encoding="utf-8")
            self.assertEqual([place for place, _ in check_texts.links([file])], [f"{file}:2", f"{file}:3"])

    def test_named_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.md")
            pathlib.Path(folder, "tb", "x").mkdir(parents=True)
            pathlib.Path(folder, "tb", "x", "here.cpp").touch()
            file.write_text("`tb/x/here.{h,cpp}` `tb/BLOCK/here.cpp` `tb/x/`\n`tb/x/gone.cpp`\n", encoding="utf-8")
            self.assertEqual([place for place, _ in check_texts.named_files(folder, [file])], [f"{file}:2"])


@unittest.skipUnless(shutil.which("clang-format"), "clang-format is missing")
class Format(unittest.TestCase):
    def test_planted_and_clean(self):
        with tempfile.TemporaryDirectory() as folder:
            good, bad = pathlib.Path(folder, "good.cpp"), pathlib.Path(folder, "bad.cpp")
            good.write_text("int main() {\n  return 0;\n}\n", encoding="utf-8")
            bad.write_text("int main( ) {\n    return 0 ;\n}\n", encoding="utf-8")
            lines = check_format.findings([good, bad], ROOT / ".clang-format")
            self.assertTrue(lines)
            self.assertTrue(all("bad.cpp" in line for line in lines), lines)


class Causes(unittest.TestCase):
    def test_all_kinds_of_declarations_are_found(self):
        names, unknown = check_causes.names_in(ROOT / "sc_models")
        self.assertEqual(unknown, [])
        for name in ("host.iommu", "rocev2.rate", "receiver.window", "cwnd.ecn", "portN.slow", "decrypt.key_miss", "dma_write", "framing",
                     "retransmission.trim", "unattributed", "completion.moderation", "uet.credit"):
            self.assertIn(name, names)

    def test_planted(self):
        explained = {"host.memory", "receiver.port.line", "sram.…", "fabric.…", "receiver.pcie.…"}
        for name in ("host.iommu", "fabric.pause", "pcie.line"):
            self.assertFalse(check_causes.is_explained(name, explained), name)
        for name in ("host.memory", "port.line", "sram.bitmap"):
            self.assertTrue(check_causes.is_explained(name, explained), name)



class Plans(unittest.TestCase):
    def planted(self, file, old, new):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for part in ("rtl/psn_tracker", "tests/formal", "tests/unit/psn_tracker/patches", "tb/cosim/psn_tracker"):
                shutil.copytree(ROOT / part, root / part)
            text = (root / file).read_text(encoding="utf-8")
            self.assertIn(old, text)
            (root / file).write_text(text.replace(old, new), encoding="utf-8")
            return list(check_plans.findings(root, "psn_tracker", check_plans.tests(ROOT)))

    def test_planted(self):
        plan = "rtl/psn_tracker/verification_plan.md"
        self.assertEqual(self.planted(plan, "`NACK`", "—"), [f"{plan}: bins: NACK is missing"])
        self.assertEqual(self.planted(plan, "`placed_once` ", ""), [f"{plan}: assertions: placed_once is missing"])
        self.assertTrue(self.planted(plan, "`bank_kept`", "`bank_lost`")[0].endswith("there is none of the name bank_lost"))
        self.assertEqual(len(self.planted("rtl/psn_tracker/assertions/psn_tracker_assertions.sv", "edge_never_back: assert", "assert")), 2)
        self.assertRaises(ValueError, self.planted, plan, "| assertions |", "|")

    def test_clean(self):
        self.assertEqual(self.planted("rtl/psn_tracker/verification_plan.md", "psn_tracker", "psn_tracker"), [])

if __name__ == "__main__":
    unittest.main()
