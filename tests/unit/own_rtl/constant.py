#!/usr/bin/env python3
"""Writes a block that only ever says the same: constant.py --core BLOCK.sv --package mrc_pkg.sv --ready 0|1 --out FILE

All outputs are 0, but for ready where it is 1: the block takes everything then, and never answers.
"""
import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tb" / "cosim"))
from rtl_ports import Module, Package, without_comments  # noqa: E402

parser = argparse.ArgumentParser()
for option in ("--core", "--package", "--out"):
    parser.add_argument(option, required=True, type=pathlib.Path)
parser.add_argument("--ready", required=True, choices=("0", "1"))
options = parser.parse_args()
block = options.core.stem
header = re.search(rf"module {block}\b.*?\n\);", without_comments(options.core.read_text()), re.S).group(0)
lines = [header.replace(f"module {block}", f"module constant_{block}", 1)]
for direction, type_name, _, name in Module(options.core, block, Package(options.package)).ports:
    if direction == "output":
        value = options.ready if name.endswith("_ready_o") else "0"
        lines.append(f"  assign {name} = '{value};" if type_name == "logic" else f"  assign {name} = mrc_pkg::{type_name}'(0);")
options.out.parent.mkdir(parents=True, exist_ok=True)
options.out.write_text("\n".join([*lines, "endmodule", ""]))
