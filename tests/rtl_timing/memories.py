#!/usr/bin/env python3
"""No memory of the RTL is larger than what its read latency allows.

memories.py ROOT VERILATOR [--limit LEVELS] [BLOCK…]     all blocks, if none is named

Goes over all memories (rtl/common/ram_1r1w.sv) of the blocks at their default sizes (tests/formal/area.json), as Verilator elaborates
them. A read of a bank counts levels as in timing.json and may take its limit for each cycle of its latency: ReadLatency of the
ram_1r1w_banked around it, otherwise 1. Prints the largest memory of each block, and all that take more, with exit code 1;
exit code 2 where there is no such block, or Verilator refuses it.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


@dataclasses.dataclass
class Memory:
    """One bank: an instance of ram_1r1w."""
    name: str
    depth: int
    width: int
    latency: int

    @property
    def bits(self):
        return self.depth * self.width

    def levels(self, counted):
        """Levels of a read: `counted` is "memory" of timing.json."""
        return counted["levels"] + max(0, math.ceil(math.log2(self.bits / counted["bits"])))

    def described(self, counted):
        cycles = f"{self.latency} cycle{'s' if self.latency > 1 else ''}"
        return f"{self.name}, {self.depth:,} x {self.width:,} bits: {self.levels(counted)} levels in {cycles}"


def refuse(message):
    print(f"memories.py: {message}", file=sys.stderr)
    sys.exit(2)


def sources(root, block, top=None):
    """With `top`, of neighbors that are joined, only what is between them."""
    common = sorted((root / "rtl/common").glob("*.sv"), key=lambda file: (file.name != "mrc_pkg.sv", file.name))
    return [*common, *sorted((root / "rtl" / block).glob(f"{top or '*'}.sv"))]


def elaborate(verilator, files, top, parameters):
    """What Verilator elaborates from these sources, as XML."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "elaborated.xml"
        command = [verilator, "--xml-only", "--xml-output", out, "--Mdir", folder, "-Wno-lint", "-Wno-style", "-Wno-fatal", "--top-module", top,
                   *(f"-G{name}={value}" for name, value in parameters.items()), *files]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            refuse(f"{top}: {result.stderr.strip()}")
        return xml.etree.ElementTree.parse(out)


def number(constant):
    """Verilator's 32'sh10."""
    digits = constant.split("'")[1].lstrip("s")
    return int(digits[1:], {"h": 16, "d": 10, "b": 2}[digits[0]])


def memories(tree):
    """All banks below the top module."""
    modules = {}
    for module in tree.iter("module"):
        parameters = {var.get("name"): number(var.find("const").get("name")) for var in module.findall("var")
                      if var.get("param") == "true" and var.find("const") is not None}
        modules[module.get("name")] = (module.get("origName"), parameters)

    def below(cell, latency):
        kind, parameters = modules.get(cell.get("submodname"), (None, {}))
        if kind == "ram_1r1w_banked":
            latency = parameters["ReadLatency"]
        if kind == "ram_1r1w":
            yield Memory(cell.get("hier"), parameters["Depth"], parameters["Width"], latency)
        for inner in cell.findall("cell"):
            yield from below(inner, latency)

    for top in tree.find("cells").findall("cell"):
        yield from below(top, 1)


def check(block, found, setup, limit):
    """Prints what there is to say about the memories of a block; whether all are within the limit."""
    counted = setup["memory"]
    if not found:
        print(f"{block}: no memory")
        return True
    largest = max(found, key=lambda memory: memory.bits)
    print(f"{block}: memories {len(found)}, the largest {largest.described(counted)}")
    exceeding = [memory for memory in found if memory.levels(counted) > memory.latency * limit]
    for memory in exceeding:
        print(f"memories: {memory.described(counted)}; allowed: {memory.latency * limit}. More banks or a longer latency: rtl/common/ram_1r1w_banked.sv")
    return not exceeding


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("verilator")
    parser.add_argument("--limit", type=int)
    parser.add_argument("blocks", nargs="*")
    options = parser.parse_args()
    setup = json.loads((options.root / "tests/rtl_timing/timing.json").read_text())
    area = json.loads((options.root / "tests/formal/area.json").read_text())
    for block in options.blocks:
        if block not in area:
            refuse(f"no block {block}; there are: {', '.join(area)}")
    good = True
    for block in options.blocks or area:
        parameters = list(area[block]["sizes"].values())[-1]
        top = area[block].get("top")
        found = list(memories(elaborate(options.verilator, sources(options.root, block, top), top or block, parameters)))
        good = check(block, found, setup, options.limit or setup["limit"]) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
