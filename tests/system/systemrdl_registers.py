"""Reads a register map with systemrdl-compiler: systemrdl_registers.py FILE prints address, access and name of each register.

The map is made with two QPs and two memory regions.
"""

import sys

from systemrdl import RDLCompiler
from systemrdl.node import RegNode


def access(register):
    fields = list(register.fields())
    if any(field.get_property("onwrite") is not None for field in fields):
        return "W1C"
    return {"r": "RO", "rw": "RW", "w": "WO"}[fields[0].get_property("sw").name]


def main():
    compiler = RDLCompiler()
    compiler.compile_file(sys.argv[1])
    top = compiler.elaborate(parameters={"QPS": 2, "MEMORY_REGIONS": 2}).top
    for node in top.descendants(unroll=True):
        if isinstance(node, RegNode):
            print(f"0x{node.absolute_address:X} {access(node)} {node.get_rel_path(top)}")


main()
