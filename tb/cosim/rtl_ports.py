#!/usr/bin/env python3
"""Writes what C++ and SystemVerilog share of an RTL block, so that it is described once.

  rtl_ports.py block PACKAGE.sv BLOCK.sv PORTS.toml FOLDER
      FOLDER/BLOCK_flat.sv  the block with plain ports: the members of structs that PORTS.toml names are pins
      FOLDER/BLOCK_run.sv   the same for runs, where each evaluation costs: with a change of cycle_i, which is in the place of
                            clk_i, the clock has a cycle; with takes_inputs in PORTS.toml, inputs are those at the last change
                            of take_inputs_i, otherwise those at the last evaluation
      FOLDER/ports.h        its streams as structs: order of the fields, to and from pins and transfers
      FOLDER/dut.h          its ports by name for a bench
  rtl_ports.py package PACKAGE.sv FOLDER
      FOLDER/mrc_pkg.h      the enumerations and packed structs of the package

Names and widths are those of the module's header and of the package. PORTS.toml has the streams and the order of their
fields, in which a bench compares them. A field "name=path" takes its value from the port <stream>_<path>_i or _o, or
<path>_i or _o; a path goes on with a dot into a struct; without "name=" the last part of the path is the name.
A file that would stay the same is not written.
"""
import math
import pathlib
import re
import sys
import tomllib


class Failure(Exception):
    pass


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def value_of(expression, names):
    """A constant expression of SystemVerilog, as far as our headers use it."""
    text = expression.replace("$clog2", "clog2")
    text = re.sub(r"\(([^()?]+)\)\s*\?([^:]+):(.+)", r"((\2) if (\1) else (\3))", text)
    text = text.replace("/", "//")
    scope = {"clog2": lambda n: math.ceil(math.log2(n)) if n > 1 else 0, **names}
    return int(eval(text, {"__builtins__": {}}, scope))  # our own sources


class Package:
    """Types of a package: each is a width, and a struct its members, the first one highest."""

    def __init__(self, path):
        text = without_comments(path.read_text())
        self.names = {}
        for name, value in re.findall(r"localparam int unsigned (\w+)\s*=\s*([^;]+);", text):
            self.names[name] = value_of(value, self.names)
        self.widths, self.structs, self.enums = {}, {}, {}
        for kind, body, dims, name in re.findall(
            r"typedef (enum|struct packed|logic)\b([^{;]*\{.*?\}|)\s*((?:\[[^\]]+\]\s*)*)(\w+);", text, re.S
        ):
            if kind == "logic":
                self.widths[name] = self.width_of("logic", dims)
            elif kind == "enum":
                base, values = re.match(r"\s*logic\s*((?:\[[^\]]+\])?)\s*\{(.*)\}", body, re.S).groups()
                self.widths[name] = self.width_of("logic", base)
                self.enums[name] = [
                    (key, int(digits, {"d": 10, "h": 16}[radix]))
                    for key, radix, digits in re.findall(r"(\w+)\s*=\s*\d+'([dh])([0-9A-Fa-f]+)", values)
                ]
            else:
                members = []
                for member in filter(None, (m.strip() for m in body.strip(" {}\n").split(";"))):
                    type_name, member_dims, member_name = re.match(r"(\w+)\s*((?:\[[^\]]+\]\s*)*)(\w+)$", member).groups()
                    members.append((member_name, type_name, self.width_of(type_name, member_dims)))
                self.structs[name] = members
                self.widths[name] = sum(width for _, _, width in members)

    def width_of(self, type_name, dims, names=None):
        width = 1 if type_name == "logic" else self.widths[type_name]
        for high, low in re.findall(r"\[([^:\]]+):([^\]]+)\]", dims):
            scope = {**self.names, **(names or {})}
            width *= value_of(high, scope) - value_of(low, scope) + 1
        return width


class Module:
    """The header of a module."""

    def __init__(self, path, name, package):
        text = without_comments(path.read_text())
        header = re.search(rf"module {name}\b(.*?)\n\);", text, re.S)
        if not header:
            raise Failure(f"{path}: no module {name}")
        parameters, ports = re.match(r".*?#\((.*?)\n\) \((.*)", header.group(1), re.S).groups()
        self.package = package
        self.parameters = re.findall(r"(parameter|localparam)\s+int unsigned\s+(\w+)\s*=\s*(.+?),?\s*(?=\n|$)", parameters)
        self.values = {}
        for _, key, value in self.parameters:
            self.values[key] = value_of(value, {**package.names, **self.values})
        self.ports = []  # (direction, type, dimensions, name)
        for direction, type_name, dims, port in re.findall(
            r"(input|output)\s+(?:mrc_pkg::)?(\w+)\s*((?:\[[^\]]+\]\s*)*)(\w+)", ports
        ):
            self.ports.append((direction, type_name, dims.strip(), port))

    def find(self, stem):
        for port in self.ports:
            if port[3] in (stem + "_i", stem + "_o"):
                return port
        return None

    def width(self, port):
        return self.package.width_of(port[1], port[2], self.values)

    def is_sized(self, port):
        """Its width depends on a parameter."""
        return any(re.search(rf"\b{key}\b", port[2]) for _, key, _ in self.parameters)


class Field:
    def __init__(self, name, port, path, pin, width, sized):
        self.name, self.port, self.path, self.pin, self.width = name, port, path, pin, width
        self.sized = sized and width > 64  # words of a number that a parameter gives
        self.words = (width + 31) // 32 if width > 64 else 0


class Stream:
    def __init__(self, module, entry):
        self.name = entry["name"]
        self.inward = entry["direction"] == "in"
        self.valid = self.pin_of(module, entry.get("valid", self.name + "_valid"))
        self.ready = self.pin_of(module, entry.get("ready", self.name + "_ready"), optional=True)
        prefix = "" if entry.get("bare_members") else self.name + "_"
        self.fields = [self.field(module, text, prefix) for text in entry["fields"]]
        for field in self.fields[:-1]:
            if field.sized:
                raise Failure(f"{self.name}.{field.name}: a field whose words a parameter gives comes last")
        self.type = camel(self.name)

    def pin_of(self, module, stem, optional=False):
        port = module.find(stem)
        if port is None and not optional:
            raise Failure(f"stream {self.name}: the module has no port {stem}")
        return port[3] if port else None

    def field(self, module, text, prefix):
        name, _, path = text.rpartition("=")
        parts = path.split(".")
        name = name or parts[-1]
        port = module.find(f"{self.name}_{parts[0]}") or module.find(parts[0])
        if port is None:
            raise Failure(f"stream {self.name}: no port for {path}")
        suffix = port[3][-2:]
        if len(parts) == 1:
            return Field(name, port, [], port[3], module.width(port), module.is_sized(port))
        type_name, width = port[1], 0
        for part in parts[1:]:
            members = {m: (t, w) for m, t, w in module.package.structs.get(type_name, [])}
            if part not in members:
                raise Failure(f"stream {self.name}: {path}: {type_name} has no member {part}")
            type_name, width = members[part]
        return Field(name, port, parts[1:], prefix + name + suffix, width, False)


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def constant(name):
    return "k" + camel(name)


def module_header(name, package, parameters, pins):
    width = max(len(dims) for _, dims, _ in pins)
    return [
        f"module {name}",
        *([f"  import {package};"] if package else []),
        "#(",
        ",\n".join(f"  {kind:10} int unsigned {key} = {value}" for kind, key, value in parameters),
        ") (",
        ",\n".join(f"  {direction:6} logic {dims:{width}} {name}" for direction, dims, name in pins),
        ");",
        "",
    ]


def instance(name, parameters, connections):
    return [
        f"  {name} #(",
        "    " + ", ".join(f".{key}({key})" for kind, key, _ in parameters if kind == "parameter"),
        f"  ) u_{name} (",
        "    " + ",\n    ".join(connections),
        "  );",
        "",
        "endmodule",
    ]


def flat_module(block, module, streams):
    """The module, its parameters and its pins."""
    package = module.package
    members = {}  # port: {path: field}
    for stream in streams:
        for field in stream.fields:
            if field.path:
                members.setdefault(field.port[3], {})[tuple(field.path)] = field

    pins, setup, taken, connections = [], [], [], []

    def expand(port, type_name, path):
        """Pins of a struct's members, and the struct as an assignment pattern of them."""
        parts = []
        for member, member_type, width in package.structs[type_name]:
            field = members[port[3]].get((*path, member))
            if field:
                pins.append((port[0], f"[{width - 1}:0]" if width > 1 else "", field.pin))
                taken_from = ".".join((*path, member))
                parts.append(f"{member}: {field.pin}")
                if port[0] == "output":
                    taken.append((field.pin, f"{port[3]}_struct.{taken_from}"))
            elif member_type in package.structs:
                parts.append(f"{member}: {expand(port, member_type, (*path, member))}")
            else:
                raise Failure(f"{block}: {port[3]}: no field for member {'.'.join((*path, member))}")
        return "'{" + ", ".join(parts) + "}"

    for port in module.ports:
        direction, type_name, dims, name = port
        if name in members:
            pattern = expand(port, type_name, ())
            setup.append(f"  {type_name} {name}_struct;")
            if direction == "input":
                setup.append(f"  assign {name}_struct = {pattern};")
            connections.append(f".{name}({name}_struct)")
        elif type_name in package.enums:
            width = package.widths[type_name]
            pins.append((direction, f"[{width - 1}:0]" if width > 1 else "", name))
            if direction == "input":
                connections.append(f".{name}({type_name}'({name}))")
            else:
                setup.append(f"  {type_name} {name}_enum;")
                taken.append((name, f"{name}_enum"))
                connections.append(f".{name}({name}_enum)")
        else:
            if type_name != "logic":
                width = package.width_of(type_name, dims, module.values)
                dims = f"[{width - 1}:0]"
            factors = re.findall(r"\[([^:\]]+)-1:0\]", dims)
            if len(factors) > 1:
                dims = "[" + "*".join(factors) + "-1:0]"
            pins.append((direction, dims, name))
            connections.append(f".{name}")

    used = " ".join(dims for _, dims, _ in pins)
    kept = []
    for kind, key, value in reversed(module.parameters):
        if kind == "parameter" or re.search(rf"\b{key}\b", used):
            kept.insert(0, (kind, key, value))
            used += " " + value
    lines = [
        f"// {block} with plain ports, as C++ sees it. Written by tb/cosim/rtl_ports.py: not to be edited.",
        "// verilator coverage_off",
        *module_header(f"{block}_flat", "mrc_pkg::*", kept, pins),
        *setup,
        *(f"  assign {pin} = {value};" for pin, value in taken),
        "",
        *instance(block, kept, connections),
    ]
    return "\n".join(lines) + "\n", kept, pins


def run_module(block, parameters, pins, takes_inputs):
    """Of the same ports, for runs: a clock rises and falls in one evaluation, and inputs may be taken together with that."""
    inputs = [(dims, pin) for direction, dims, pin in pins if direction == "input"]
    clocks = {pin: pin.removesuffix("_i") for _, pin in inputs if pin.endswith("clk_i")}
    cycles = {pin: pin.replace("clk_i", "cycle_i") for pin in clocks}
    taken = {pin: re.sub("_?i$", "_q", pin) for _, pin in inputs if takes_inputs and pin not in clocks}
    width = max(len(dims) for dims, _ in inputs)
    ports = [(direction, dims, cycles.get(pin, pin)) for direction, dims, pin in pins]
    lines = [
        f"// {block}_flat for runs: with each change of cycle_i its clock has a cycle. Written by tb/cosim/rtl_ports.py: not to",
        "// be edited.",
        *module_header(f"{block}_run", None, parameters, [("input", "", "take_inputs_i")] * takes_inputs + ports),
        *(f"  logic {'':{width}} {clock}, {clock}_ended_q = 1'b0;" for clock in clocks.values()),
        *(f"  logic {dims:{width}} {taken[pin]};" for dims, pin in inputs if pin in taken),
    ]
    for pin, clock in clocks.items():
        lines += ["", f"  assign {clock} = {cycles[pin]} ^ {clock}_ended_q;"]
        lines += [f"  always @(posedge {clock}) {clock}_ended_q <= {cycles[pin]};"]
    if takes_inputs:
        lines += ["", "  always @(edge take_inputs_i) begin"]
        lines += [*(f"    {register} <= {pin};" for pin, register in taken.items()), "  end"]
    inside = clocks | taken
    connections = [f".{pin}({inside[pin]})" if pin in inside else f".{pin}" for _, _, pin in pins]
    return "\n".join([*lines, "", *instance(f"{block}_flat", parameters, connections)]) + "\n"


def stream_struct(stream, number):
    narrow = [f for f in stream.fields if not f.words]
    plain = [f for f in stream.fields if not f.sized]
    enumerators, before = [], None
    for field in stream.fields:
        offset = f" = {constant(before.name)} + {before.words}" if before is not None and before.words else ""
        enumerators.append(constant(field.name) + offset)
        before = field
    if not stream.fields[-1].sized:
        enumerators.append("kFields" + (f" = {constant(before.name)} + {before.words}" if before.words else ""))
    members = [
        f"  std::array<std::uint32_t, {f.words}> {f.name}{{}};" if f.words else f"  std::uint64_t {f.name} = 0;"
        for f in plain
    ]
    put, take, values, of = [], [], [], []
    for field in plain:
        if field.words:
            put.append(f"    for (std::size_t i = 0; i < {field.words}; ++i) pins.{field.pin}[i] = {field.name}[i];")
            take.append(f"    for (std::size_t i = 0; i < {field.words}; ++i) s.{field.name}[i] = pins.{field.pin}[i];")
            values += [f"{field.name}[{i}]" for i in range(field.words)]
            of.append(
                f"    for (std::size_t i = 0; i < {field.words}; ++i) s.{field.name}[i] = "
                f"static_cast<std::uint32_t>(values[{constant(field.name)} + i]);"
            )
        else:
            put.append(f"    set_pin(pins.{field.pin}, {field.name});")
            take.append(f"    s.{field.name} = pins.{field.pin};")
            values.append(field.name)
            of.append(f"    s.{field.name} = values[{constant(field.name)}];")
    lines = [
        f"struct {stream.type} {{",
        f"  static constexpr std::size_t kPort = {number};",
        f"  enum Field : std::size_t {{ {', '.join(enumerators)} }};",
    ]
    if plain:
        lines += members
        if stream.inward:
            lines += ["  template <typename Pins>", "  void put(Pins& pins) const {", *put, "  }"]
            lines += [f"  static {stream.type} of(const cosim::Transaction& values) {{"]
            lines += [f"    {stream.type} s;", *of, "    return s;", "  }"]
        else:
            lines += ["  template <typename Pins>", f"  static {stream.type} take(const Pins& pins) {{"]
            lines += [f"    {stream.type} s;", *take, "    return s;", "  }"]
        lines += ["  cosim::Transaction transfer() const { return {" + ", ".join(values) + "}; }"]
    return "\n".join([*lines, "};"])


def ports_header(block, streams):
    text = f"// Streams of {block}. Written by tb/cosim/rtl_ports.py: not to be edited.\n"
    text += '#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n\n#include "cosim/bench/ports.h"\n#include "cosim/pin.h"\n\n'
    text += f"namespace mrc::{block}_ports {{\n\n"
    text += "\n\n".join(stream_struct(stream, number) for number, stream in enumerate(streams))
    return text + f"\n\n}}  // namespace mrc::{block}_ports\n"


def dut_header(block, module, streams, description):
    lines = []
    for stream in streams:
        ready = f", m.{stream.ready}" if stream.ready else ""
        chain = "".join(
            f'\n                           .{"wide_field" if f.words else "field"}("{f.name}", m.{f.pin})'
            for f in stream.fields
        )
        way = "in" if stream.inward else "out"
        lines.append(f'  dut->ports.push_back(Port("{stream.name}", Direction::{way}, m.{stream.valid}{ready}){chain});')
    for kind in ("constants", "state"):
        for name in description.get(kind, []):
            port = module.find(name)
            if port is None:
                raise Failure(f"{kind}: the module has no port {name}")
            lines.append(f'  dut->{kind}.push_back({{"{name}", Pin(m.{port[3]})}});')
    body = "\n".join(lines)
    return f"""// Ports of a Verilated {block}_flat by name. Written by tb/cosim/rtl_ports.py: not to be edited.
#pragma once

#include <memory>

#include "cosim/bench/verilated_dut.h"

namespace mrc::cosim {{

template <typename Model>
std::unique_ptr<Dut> make_{block}_dut(std::uint64_t seed) {{
  auto dut = std::make_unique<VerilatedDut<Model>>(seed);
  Model& m = dut->model();
{body}
  return dut;
}}

}}  // namespace mrc::cosim
"""


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def common_prefix(names):
    parts = [re.findall(r"[A-Z][a-z0-9]*", name) for name in names]
    count = 0
    while all(len(p) > count + 1 and p[count] == parts[0][count] for p in parts):
        count += 1
    return "".join(parts[0][:count])


def package_header(package):
    text = """// Enumerations and packed structs of rtl/common/mrc_pkg.sv. Written by tb/cosim/rtl_ports.py: not to be edited.
#pragma once

#include <cstdint>

namespace mrc::rtl {

"""
    for name, values in package.enums.items():
        prefix = common_prefix([key for key, _ in values])
        values = [(snake(key[len(prefix):]), value) for key, value in values]
        rows = "".join(f"  {key} = {value},\n" for key, value in values)
        checks = "".join(f"  if constexpr (requires {{ Enum::{key}; }}) same += static_cast<unsigned>(Enum::{key}) == {value};\n"
                         for key, value in values)
        stem = name.removesuffix("_e")
        text += f"enum class {camel(stem)} : std::uint8_t {{\n{rows}}};\n"
        text += f"/// Whether `Enum` has the same enumerators with the same values, but for `without` that only the RTL has.\n"
        text += f"template <typename Enum>\nconsteval bool is_{stem}(unsigned without = 0) {{\n  unsigned same = 0;\n{checks}"
        text += f"  return same + without == {len(values)};\n}}\n\n"
    for name, members in package.structs.items():
        if package.widths[name] > 64:
            continue
        low, parts, reads, rows = package.widths[name], [], "", ""
        for member, _, width in members:
            low -= width
            mask = f"0x{(1 << width) - 1:X}ULL"
            rows += f"  std::uint64_t {member} = 0;  ///< {width} bit\n"
            parts.append(f"({member} & {mask}) << {low}" if low else f"({member} & {mask})")
            reads += f"    s.{member} = word >> {low} & {mask};\n"
        pack = " |\n           ".join(parts)
        text += f"struct {camel(name.removesuffix('_t'))} {{\n{rows}"
        text += f"  constexpr std::uint64_t word() const {{\n    return {pack};\n  }}\n"
        type_name = camel(name.removesuffix("_t"))
        text += f"  static constexpr {type_name} of(std::uint64_t word) {{\n    {type_name} s;\n{reads}    return s;\n  }}\n}};\n\n"
    return text + "}  // namespace mrc::rtl\n"


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main(arguments):
    if len(arguments) == 6 and arguments[1] == "block":
        package_path, block_path, ports_path, folder = map(pathlib.Path, arguments[2:])
        block = block_path.stem
        module = Module(block_path, block, Package(package_path))
        description = tomllib.loads(ports_path.read_text())
        streams = [Stream(module, entry) for entry in description["stream"]]
        flat, parameters, pins = flat_module(block, module, streams)
        write(folder / f"{block}_flat.sv", flat)
        write(folder / f"{block}_run.sv", run_module(block, parameters, pins, description.get("takes_inputs", False)))
        write(folder / "ports.h", ports_header(block, streams))
        write(folder / "dut.h", dut_header(block, module, streams, description))
    elif len(arguments) == 4 and arguments[1] == "package":
        write(pathlib.Path(arguments[3]) / "mrc_pkg.h", package_header(Package(pathlib.Path(arguments[2]))))
    else:
        raise Failure(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv)
    except (Failure, OSError, tomllib.TOMLDecodeError) as failure:
        sys.exit(f"rtl_ports.py: {failure}")
