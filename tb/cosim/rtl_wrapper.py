#!/usr/bin/env python3
"""Writes a module with the name and the header of one of our blocks, and a user's module inside.

  rtl_wrapper.py --header rtl/BLOCK/BLOCK.sv --top MODULE --contract contract.toml (--out BLOCK.sv | --check)
                 [--pin ours=yours…] [--parameter ours=yours…]

--check: reads contract and maps, and writes nothing.

Pins and parameters have the block's names where no entry says otherwise. The contract may give the parameters of the user's
module as expressions of ours, the polarity of its reset, a clock enable, and in [pins] ports of the user's module that are
other names for ours ("ours"), parts of them ("ours[7:0]") or several in one bus (a list, the highest bits first, in which a
number stands for that many bits without a counterpart).
"""
import argparse
import pathlib
import re
import sys
import tomllib

from rtl_ports import Failure, Module, Package, write

FUNCTIONS = {"clog2": "$clog2"}
# As parse_contract() of tb/cosim/contract.cpp, which reads the rest of it.
KEYS = ("cycles", "clock", "parameters", "pins", "ready", "reset", "way")


def place(path, text, key):
    """file:line of a key."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*{re.escape(key)}\s*=", line):
            return f"{path}:{number}"
    return str(path)


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def expression_of(text, names, where):
    """An expression of our parameters as SystemVerilog; they may be written as NumQps or num_qps."""
    known = {**{name: name for name in names}, **{snake(name): name for name in names}}
    if re.search(r"[^\w\s+\-*/%()?:<>=]", text):
        raise Failure(f"{where}: {text!r} has other characters than names, numbers and + - * / % ( ) ? : < > =")

    def replace(match):
        word = match.group(0)
        if word[0].isdigit():
            return word
        if word in FUNCTIONS:
            return FUNCTIONS[word]
        if word not in known:
            raise Failure(f"{where}: no parameter {word}; there are: {', '.join(names)}, and the function clog2")
        return known[word]

    return re.sub(r"\w+", replace, text)


def pairs(entries, names, option):
    mapped = {}
    for entry in entries:
        ours, equals, yours = entry.partition("=")
        if not equals or ours not in names:
            raise Failure(f"{option} {entry}: the block has no such name; there are: {', '.join(names)}")
        mapped[ours] = yours
    return mapped


def parameters_of(options, module, contract, text):
    names = [name for kind, name, _ in module.parameters if kind == "parameter"]
    table = contract.get("parameters")
    if table is None:
        mapped = pairs(options.parameter, names, "PARAMETER_MAP")
        return [(mapped.get(name, name), name) for name in names]
    if options.parameter:
        raise Failure(f"{options.contract}: parameters and PARAMETER_MAP: only one of them")
    if not isinstance(table, dict):
        raise Failure(f"{place(options.contract, text, 'parameters')}: parameters: a table NAME = \"expression\"")
    return [(yours, expression_of(str(value), names, f"{place(options.contract, text, yours)}: parameters.{yours}"))
            for yours, value in table.items()]


def reset_of(options, contract, text):
    reset = contract.get("reset", {})
    active = reset.get("active", "low") if isinstance(reset, dict) else None
    if active not in ("low", "high"):
        raise Failure(f"{place(options.contract, text, 'active')}: reset.active: {active!r}; allowed: low, high")
    return "rst_ni" if active == "low" else "!rst_ni"


def clock_enable_of(options, contract, text):
    """The port for which the clock runs, as it is connected."""
    clock = contract.get("clock", {})
    unknown = [key for key in clock if key not in ("enable", "enable_active")]
    if unknown:
        raise Failure(f"{place(options.contract, text, unknown[0])}: clock.{unknown[0]}: unknown; allowed: enable, enable_active")
    active = clock.get("enable_active", "high")
    if active not in ("low", "high"):
        raise Failure(f"{place(options.contract, text, 'enable_active')}: clock.enable_active: {active!r}; allowed: low, high")
    return [(clock["enable"], "1'b1" if active == "high" else "1'b0")] if "enable" in clock else []


class Bus:
    """A port of the user's module that the contract describes by ours."""

    def __init__(self, yours, parts, module, where):
        self.yours, self.parts = yours, parts if isinstance(parts, list) else [parts]
        self.ours, directions = [], set()
        for part in self.parts:
            if isinstance(part, int) and not isinstance(part, bool) and part > 0:
                continue
            name = re.fullmatch(r"(\w+)(\[\d+(:\d+)?\])?", part) if isinstance(part, str) else None
            port = next((p for p in module.ports if name and p[3] == name.group(1)), None)
            if port is None:
                raise Failure(f"{where}: pins.{yours}: {part!r} is no port of the block, no bits of one and no number of unused bits")
            self.ours.append(port[3])
            directions.add(port[0])
        if len(directions) != 1:
            raise Failure(f"{where}: pins.{yours}: inputs and outputs in one bus, or none of them")
        self.output = directions == {"output"}

    def lines(self):
        """Declarations in front of the user's module, and what its port is connected with."""
        unused = [f"  logic [{part - 1}:0] {self.yours}_unused_{i};\n" for i, part in enumerate(self.parts) if isinstance(part, int)]
        names = [f"{self.yours}_unused_{i}" if isinstance(part, int) else part for i, part in enumerate(self.parts)]
        if not self.output:
            values = [f"{part}'d0" if isinstance(part, int) else part for part in self.parts]
            return "", "{" + ", ".join(values) + "}"
        all_parts = "{" + ", ".join(names) + "}"
        bus = f"{self.yours}_bus"
        return "".join(unused) + f"  logic [$bits({all_parts})-1:0] {bus};\n  assign {all_parts} = {bus};\n", bus


def contract_of(options):
    """The contract, and its text."""
    try:
        text = options.contract.read_text()
        contract = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        at = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        place_of_error = f"{options.contract}:{at.group(1)}" if at else str(options.contract)
        raise Failure(f"{place_of_error}: is not TOML: {str(error)[:at.start() if at else None]}") from error
    for key, value in contract.items():
        if key not in KEYS:
            where = next((n for n, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*\[*\s*{re.escape(key)}\b", line)), 1)
            raise Failure(f"{options.contract}:{where}: {key}: unknown; allowed: {', '.join(KEYS)}")
        if key in ("clock", "pins", "ready", "reset") and not isinstance(value, dict):
            raise Failure(f"{place(options.contract, text, key)}: {key}: a table is needed")
    return contract, text


def wrapper(options):
    contract, text = contract_of(options)
    block = options.header.stem
    module = Module(options.header, block, Package(options.header.parent.parent / "common" / "mrc_pkg.sv"))
    ports = [port[3] for port in module.ports]
    pins = pairs(options.pin, ports, "PIN_MAP")
    buses = [Bus(yours, parts, module, place(options.contract, text, yours)) for yours, parts in contract.get("pins", {}).items()]
    declared = "".join(bus.lines()[0] for bus in buses)
    values = {"rst_ni": reset_of(options, contract, text)}
    in_buses = {port for bus in buses for port in bus.ours}
    connected = [(pins.get(port, port), values.get(port, port)) for port in ports if port not in in_buses]
    connected += [(bus.yours, bus.lines()[1]) for bus in buses] + clock_enable_of(options, contract, text)
    connections = ",\n    ".join(f".{yours}({value})" for yours, value in connected)
    parameters = ", ".join(f".{yours}({value})" for yours, value in parameters_of(options, module, contract, text))
    header = re.search(rf"module {block}\b.*?(?=\n\);)", re.sub(r"//[^\n]*", "", options.header.read_text()), re.S)
    return f"""// {options.top} with the ports of {block}. Written by tb/cosim/rtl_wrapper.py: not to be edited.
// The header is the whole one of {block}: some of its parameters are used in the body of that module only.
/* verilator lint_off UNUSEDPARAM */
{header.group(0)}
);
/* verilator lint_on UNUSEDPARAM */
{declared}
  {options.top} #(
    {parameters}
  ) u_{options.top} (
    {connections}
  );

endmodule
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--top", required=True)
    for option in ("--header", "--contract"):
        parser.add_argument(option, required=True, type=pathlib.Path)
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=pathlib.Path)
    target.add_argument("--check", action="store_true")
    for option in ("--pin", "--parameter"):
        parser.add_argument(option, action="append", default=[])
    options = parser.parse_args()
    text = wrapper(options)
    if not options.check:
        write(options.out, text)


if __name__ == "__main__":
    try:
        main()
    except (Failure, OSError) as failure:
        sys.exit(f"rtl_wrapper.py: {failure}")
