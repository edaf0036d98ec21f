#!/usr/bin/env python3
"""Mutations that change a block: changing.py NETLIST.il LIST, where LIST is what yosys's `mutate` wrote.

Prints LIST without the lines that change nothing: those on a bit that may have any value (x: the value of a register that is not
written, for example), and those that set a constant bit to the value it has.
"""
import re
import sys

CONSTANT = re.compile(r"(\d+)'([01xz-]+)$")
INTEGER = re.compile(r"-?\d+$")  # of 32 bits
SLICE = re.compile(r"(\S+) \[(\d+)(?::(\d+))?\]$")


def bits(text, widths):
    """The bits of a signal, the lowest first: '0', '1', 'x', or '?' of a wire."""
    text = text.strip()
    if text.startswith("{"):
        parts = re.findall(r"\d+'[01xz-]+|-?\d+(?= )|[\\$]\S+(?: \[\d+(?::\d+)?\])?", text)
        return [bit for part in reversed(parts) for bit in bits(part, widths)]
    if constant := CONSTANT.match(text):
        width, digits = int(constant[1]), constant[2]
        filler = digits[0] if digits[0] in "xz" else "0"
        return list(reversed(digits.rjust(width, filler)[-width:]))
    if INTEGER.match(text):
        return list(f"{int(text) & 0xFFFFFFFF:032b}"[::-1])
    if cut := SLICE.match(text):
        return ["?"] * (int(cut[2]) - int(cut[3] or cut[2]) + 1)
    return ["?"] * widths[text]


def read(path):
    """By cell and port, its signal; and the widths of wires."""
    ports, widths, cell = {}, {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["wire"]:
                widths[words[-1]] = int(words[words.index("width") + 1]) if "width" in words else 1
            elif words[:1] == ["cell"]:
                cell = words[2]
            elif words[:1] == ["connect"] and cell is not None:
                ports[cell, words[1].lstrip("\\")] = line.split(None, 2)[2]
            elif words[:1] == ["end"]:
                cell = None
    return ports, widths


def changes(line, ports, widths):
    found = re.search(r"-mode (\S+) .*-cell (\S+) -port \\*(\S+) -portbit (\d+)", line)
    if not found or (found[2], found[3]) not in ports:
        return True
    bit = bits(ports[found[2], found[3]], widths)[int(found[4])]
    return bit not in ("x", "-", {"const0": "0", "const1": "1"}.get(found[1]))


def main():
    ports, widths = read(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        sys.stdout.writelines(line for line in file if changes(line, ports, widths))


main()
