#!/usr/bin/env python3
"""The JSON schema of scenarios: schema_test.py MRCSIM REPOSITORY. It takes every scenario that is shipped, and refuses what mrcsim
refuses. Needs python3-jsonschema; exits with 77 and a reason without it."""
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is missing")
    sys.exit(77)

MRCSIM, REPOSITORY = sys.argv[1], pathlib.Path(sys.argv[2])
FLAP = 'kind = "link_flap"\nwhere = "nic0.port0"\nat_us = 1\nperiod_us = "1ms"\ncount = 2\n'

# Text of a scenario beside its trace, and whether it is allowed.
CASES = {
    "number": ("fabric.loss_rate = 0.01", True),
    "percent": ('fabric.loss_rate = "1%"', True),
    "rate": ('nic.port_gbps = "100Gb/s"', True),
    "bytes": ('nic.rx_staging.bytes = "64MiB"', True),
    "bytes in powers of ten": ('nic.rx_staging.bytes = "1.5 MB"', True),
    "time": ('fabric.cable_delay_ns = "1.5us"', True),
    "Greek letter": ('fabric.cable_delay_ns = "1.5µs"', True),
    "unit of another quantity": ('fabric.cable_delay_ns = "1MB"', False),
    "bytes for a rate": ('nic.port_gbps = "100GB/s"', False),
    "no unit": ('fabric.loss_rate = "1"', False),
    "unknown key": ("fabric.los_rate = 0.1", False),
    "unknown table": ("fabrik.loss_rate = 0.1", False),
    "out of range": ("fabric.loss_rate = 1.5", False),
    "fraction": ("nic.ports = 2.5", False),
    "text for a number": ('nic.ports = "four"', False),
    "number from a list": ("pcie.lanes = 8", True),
    "number not in the list": ("pcie.lanes = 12", False),
    "word": ('fabric.routing = "ecmp"', True),
    "unknown word": ('fabric.routing = "bgp"', False),
    "flag": ("fabric.ecn = true", True),
    "text for a flag": ('fabric.ecn = "yes"', False),
    "node": ('[node.nic1]\npcie.read_tags = 64', True),
    "node by another name": ("[node.nicX]\npcie.read_tags = 64", False),
    "key of all nodes on one": ("[node.nic1]\nfabric.nics = 4", False),
    "table for a value": ("[nic.ports]\nx = 1", False),
    "fault": ('[[fault]]\nkind = "pcie_stall"\nwhere = "nic1"\nat_us = 5\nfor_us = "20us"', True),
    "flap": (f"[[fault]]\n{FLAP}", True),
    "key of another kind of fault": (f"[[fault]]\n{FLAP}light = true", False),
    "fault without a place": ('[[fault]]\nkind = "plane_loss"\nat_us = 5', False),
    "unknown kind of fault": ('[[fault]]\nkind = "fire"\nwhere = "nic0"\nat_us = 5', False),
    "stall without an end": ('[[fault]]\nkind = "pcie_stall"\nwhere = "nic1"\nat_us = 5', False),
    "fault with a unit of size": ('[[fault]]\nkind = "plane_loss"\nwhere = "plane1"\nat_us = "5MB"', False),
    "probability in percent": ('[[fault]]\nkind = "loss"\nwhere = "nic0"\nat_us = 5\nprobability = "2%"', True),
    "one fault, not a list": ('[fault]\nkind = "plane_loss"\nwhere = "plane1"\nat_us = 5', False),
}


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        printed = subprocess.run([MRCSIM, "params", "--format", "schema"], capture_output=True, text=True, check=True).stdout
        cls.schema = json.loads(printed)
        jsonschema.Draft7Validator.check_schema(cls.schema)
        cls.validator = jsonschema.Draft7Validator(cls.schema)

    def test_takes_every_scenario_that_is_shipped(self):
        files = sorted([*REPOSITORY.glob("tb/scenarios/*.toml"), *REPOSITORY.glob("tests/identity/random/*.toml")])
        self.assertGreater(len(files), 30)
        for file in files:
            with self.subTest(file=file.name):
                content = tomllib.loads(file.read_text(encoding="utf-8"))
                self.assertEqual([error.message for error in self.validator.iter_errors(content)], [])

    def test_agrees_with_the_program(self):
        """What the schema takes, mrcsim takes, and the other way round."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "scenario.toml"
            for name, (text, allowed) in CASES.items():
                with self.subTest(case=name):
                    file.write_text(f'traffic.trace = "none.csv"\n{text}\n', encoding="utf-8")
                    valid = self.validator.is_valid(tomllib.loads(file.read_text(encoding="utf-8")))
                    taken = subprocess.run([MRCSIM, "params", str(file)], capture_output=True, text=True, check=False)
                    self.assertEqual(valid, allowed)
                    self.assertEqual(taken.returncode, 0 if allowed else 2, taken.stderr)
                    self.assertEqual(taken.stderr.count("\n"), 0 if allowed else 1, taken.stderr)

    def test_a_scenario_needs_a_trace(self):
        self.assertFalse(self.validator.is_valid({"seed": 1}))
        self.assertFalse(self.validator.is_valid({"traffic": {"rows": 4}}))

    def test_editors_find_meaning_and_default(self):
        loss = self.schema["properties"]["fabric"]["properties"]["loss_rate"]
        self.assertEqual(loss["default"], 0)
        self.assertIn("source", loss["description"])
        node = self.schema["properties"]["node"]["patternProperties"]["^nic[0-9]+(-[0-9]+)?$"]["properties"]
        self.assertIn("pcie", node)
        self.assertNotIn("fabric", node)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
