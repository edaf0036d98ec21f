#!/usr/bin/env python3
"""layers_test.py SOURCE: layers.py finds what it is there for, in copies of SOURCE with a planted fault."""
import pathlib
import shutil
import sys
import tempfile
import unittest

import layers

SOURCE = pathlib.Path(sys.argv.pop(1))


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for part in layers.RINGS:
            shutil.copytree(SOURCE / part, self.root / part)
        (self.root / "docs").mkdir()
        shutil.copy(SOURCE / "docs/architecture.md", self.root / "docs")
        self.before = set(layers.faults(self.root))

    def tearDown(self):
        self.folder.cleanup()

    def plant(self, path, line):
        file = self.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(line + "\n" + (file.read_text(encoding="utf-8") if file.exists() else ""), encoding="utf-8")
        return [fault for fault in layers.faults(self.root) if fault not in self.before]

    def test_an_include_against_the_order(self):
        found = self.plant("sc_models/engine/occupancy.h", '#include "nic/nic.h"')
        self.assertTrue(any("sc_models/engine/occupancy.h:1" in fault and "nic" in fault for fault in found), found)
        self.assertTrue(any("circle among" in fault and "engine" in fault for fault in found), found)

    def test_an_include_against_the_order_of_ring_1(self):
        found = self.plant("include/mrc/wire/headers.h", '#include "mrc/tx/requestor.h"')
        self.assertTrue(any("include/mrc/wire/headers.h:1" in fault for fault in found), found)

    def test_a_folder_that_the_order_does_not_name(self):
        found = self.plant("sc_models/novel/box.h", '#include "engine/box.h"')
        self.assertEqual(found, ["sc_models: layer novel is not in the order of docs/architecture.md"])

    def test_a_declaration_of_parameters_is_innermost_wherever_it_lies(self):
        found = self.plant("sc_models/engine/occupancy.h", '#include "nic/nic_parameters.h"')
        self.assertEqual(found, [])
        found = self.plant("sc_models/nic/nic_parameters.h", '#include "nic/nic.h"')
        self.assertTrue(any("nic_parameters.h:1" in fault for fault in found), found)

    def test_a_layer_without_files(self):
        document = self.root / "docs/architecture.md"
        text = document.read_text(encoding="utf-8")
        document.write_text(text.replace("layers of sc_models/\n", "layers of sc_models/\ngone  nothing\n"),
                            encoding="utf-8")
        found = [fault for fault in layers.faults(self.root) if fault not in self.before]
        self.assertEqual(found, ["docs/architecture.md: sc_models has no layer gone"])


class Circles(unittest.TestCase):
    def test_groups(self):
        self.assertEqual(layers.circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}), [["a", "b", "c"]])
        self.assertEqual(layers.circles({"a": {"b"}, "b": {"c"}, "c": set()}), [])


if __name__ == "__main__":
    unittest.main()
