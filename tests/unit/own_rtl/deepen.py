#!/usr/bin/env python3
"""Writes a user's variant of a block: another name, other names of clock, reset and a parameter, and a pipeline stage more at
each of the given streams.

  deepen.py --core BLOCK.sv --package mrc_pkg.sv --streams in,out --out FOLDER [--log2 NumSlots=LOG2_SLOTS]
            [--level others_o=EXPRESSION] [--comment TEXT]

FOLDER/core_BLOCK.sv is BLOCK.sv with its module renamed, FOLDER/deep_BLOCK.sv the variant around it. Its clock is clk, its reset
rst is active high. --level: an output that tells of what the stages hold too.
"""
import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tb" / "cosim"))
from rtl_ports import Module, Package, without_comments  # noqa: E402


def of_stream(name, stream):
    return name.startswith(stream + "_") or name in (stream + "_i", stream + "_o")


def stage(stream, direction, payload):
    data = ", ".join(payload)
    inward = direction == "input"
    suffix, back = ("i", "o") if inward else ("o", "i")
    outside = f"{stream}_valid_{suffix}", f"{stream}_ready_{back}"
    inside = f"{stream}_valid_s", f"{stream}_ready_s"
    first, second = (outside, inside) if inward else (inside, outside)
    source = data if inward else ", ".join(f"{port}_s" for port in payload)
    return f"""
  logic {stream}_valid_s, {stream}_ready_s;
  logic [$bits({{{data}}})-1:0] {stream}_q;
  stream_stage #(.Width($bits({{{data}}}))) u_{stream} (
    .clk, .rst, .valid_i({first[0]}), .ready_o({first[1]}), .data_i({{{source}}}),
    .valid_o({second[0]}), .ready_i({second[1]}), .data_o({stream}_q)
  );
"""


def cast(port, value):
    _, type_name, dims, _ = port
    return value if type_name == "logic" else f"{type_name}'({value})"


def deep(block, text, module, streams, log2, levels):
    header = re.search(rf"module {block}\b.*?\n\);", without_comments(text), re.S).group(0)
    header = header.replace(f"module {block}", f"module deep_{block}", 1)
    header = re.sub(r"\bclk_i\b", "clk", re.sub(r"\brst_ni\b", "rst", header))
    for ours, yours in log2:
        header = re.sub(rf"parameter +int unsigned {ours} *= *(\d+)",
                        lambda m: f"parameter  int unsigned {yours} = {int(m.group(1)).bit_length() - 1},\n"
                                  f"  localparam int unsigned {ours} = 1 << {yours}", header)
    values = {port[3]: port[3] for port in module.ports}
    values.update(clk_i="clk", rst_ni="!rst")
    body = ""
    for stream in streams:
        ports = [p for p in module.ports if of_stream(p[3], stream) and not re.fullmatch(rf"{stream}_(valid|ready)_[io]", p[3])]
        direction = ports[0][0]
        for valid in (f"{stream}_valid", f"{stream}_ready"):
            values.update({f"{valid}_{s}": f"{valid}_s" for s in "io" if f"{valid}_{s}" in values})
        if direction == "output":
            body += "".join(f"  {p[1]} {p[2]} {p[3]}_s;\n" for p in ports)
        body += stage(stream, direction, [p[3] for p in ports])
        if direction == "input":
            body += "".join(f"  logic [$bits({p[3]})-1:0] {p[3]}_s;\n" for p in ports)
            body += "  assign {" + ", ".join(f"{p[3]}_s" for p in ports) + f"}} = {stream}_q;\n"
            values.update({p[3]: cast(p, f"{p[3]}_s") for p in ports})
        else:
            body += "".join(f"  logic [$bits({p[3]})-1:0] {p[3]}_l;\n" for p in ports)
            body += "  assign {" + ", ".join(f"{p[3]}_l" for p in ports) + f"}} = {stream}_q;\n"
            body += "".join(f"  assign {p[3]} = {cast(p, p[3] + '_l')};\n" for p in ports)
            values.update({p[3]: f"{p[3]}_s" for p in ports})
    for level, value in levels:
        values[level] = ""
        body += f"  assign {level} = {value};\n"
    parameters = ", ".join(f".{name}({name})" for kind, name, _ in module.parameters if kind == "parameter")
    ports = ",\n    ".join(f".{name}({value})" for name, value in values.items())
    off, on = ("".join(f"/* verilator lint_{state} {what} */\n" for what in ("UNUSEDPARAM", "PINCONNECTEMPTY")) for state in ("off", "on"))
    return (f"// Written by deepen.py.\n{off}{header}\n{body}\n  core_{block} #({parameters}) u_core (\n    {ports}\n  );\n"
            f"endmodule\n{on}")


def main():
    parser = argparse.ArgumentParser()
    for option in ("--core", "--package", "--out"):
        parser.add_argument(option, required=True, type=pathlib.Path)
    parser.add_argument("--streams", required=True)
    parser.add_argument("--log2", action="append", default=[])
    parser.add_argument("--level", action="append", default=[])
    parser.add_argument("--comment", default="")
    options = parser.parse_args()
    block = options.core.stem
    text = options.core.read_text()
    module = Module(options.core, block, Package(options.package))
    options.out.mkdir(parents=True, exist_ok=True)
    core = re.sub(rf"^module {block}\b", f"module core_{block}", text, count=1, flags=re.M)
    (options.out / f"core_{block}.sv").write_text(core)
    log2 = [tuple(entry.split("=")) for entry in options.log2]
    levels = [tuple(entry.split("=", 1)) for entry in options.level]
    (options.out / f"deep_{block}.sv").write_text(
        f"// {options.comment}\n" + deep(block, text, module, options.streams.split(","), log2, levels))


if __name__ == "__main__":
    main()
