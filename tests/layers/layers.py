#!/usr/bin/env python3
"""Compares the includes between the folders of a ring with the order of layers in docs/architecture.md.

  layers.py ROOT          one line per include against the order, per folder that the order does not name and per
                          circle; exit code 1 if there is one

The order is the fenced block of docs/architecture.md that starts with the line "layers of FOLDER/", innermost layer
first: one line per layer, its name and what it holds. A file may include files of its own layer and of the layers above
its line. A file's layer is its folder below FOLDER; files directly in FOLDER are the layer "(top)".
exceptions.txt has pairs of layers that still include each other against the order, "outer -> inner", and layers that may
have no files, "empty NAME".
Declarations of parameters, *_parameters.h and .cpp beside what they configure, belong to the layer "parameters".
"""
import pathlib
import re
import sys

RINGS = ("sc_models", "include/mrc")
PARAMETERS = re.compile(r"(^|_)parameters\.(h|cpp)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def orders(text):
    """Layers by ring, innermost first."""
    found = {}
    for block in re.findall(r"^```[a-z]*\n(layers of .*?)^```", text, re.M | re.S):
        lines = [line.split() for line in block.splitlines() if line.strip()]
        found[lines[0][2].rstrip("/")] = [words[0] for words in lines[1:]]
    return found


def layer_of(path):
    """Of a path below its ring."""
    if PARAMETERS.search(path.name):
        return "parameters"
    return path.parts[0] if len(path.parts) > 1 else "(top)"


def includes(root, ring):
    """(file, line number, included file), both below the ring, of all includes of files in the ring."""
    base = root / ring
    prefix = "mrc/" if ring == "include/mrc" else ""
    for file in sorted(p for p in base.rglob("*") if p.suffix in (".h", ".cpp")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or not match.group(1).startswith(prefix):
                continue
            target = base / match.group(1).removeprefix(prefix)
            if target.is_file():
                yield file.relative_to(base), number, target.relative_to(base)


def circles(edges):
    """Groups of layers that reach each other: {layer: layers it includes} -> sorted lists of at least two."""
    def reached(start):
        seen, stack = set(), [start]
        while stack:
            for following in edges.get(stack.pop(), ()):
                if following not in seen:
                    seen.add(following)
                    stack.append(following)
        return seen
    reach = {layer: reached(layer) for layer in edges}
    groups = {tuple(sorted(b for b in reach if b in reach[a] and a in reach[b])) for a in reach}
    return sorted(list(group) for group in groups if len(group) > 1)


def exceptions():
    lines = (pathlib.Path(__file__).parent / "exceptions.txt").read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def faults(root):
    found = []
    allowed = exceptions()
    order_of = orders((root / "docs/architecture.md").read_text(encoding="utf-8"))
    for ring in RINGS:
        if ring not in order_of:
            found.append(f"docs/architecture.md: no block \"layers of {ring}/\"")
            continue
        order = order_of[ring]
        edges = {}
        unknown = set()
        seen = set()
        for file, number, target in includes(root, ring):
            outer, inner = layer_of(file), layer_of(target)
            seen |= {outer, inner}
            unknown |= {layer for layer in (outer, inner) if layer not in order}
            if outer == inner:
                continue
            if f"{outer} -> {inner}" in allowed:
                continue
            edges.setdefault(outer, set()).add(inner)
            if outer in order and inner in order and order.index(inner) > order.index(outer):
                found.append(f"{ring}/{file}:{number}: {target} of layer {inner} is outside layer {outer}")
        found += [f"{ring}: layer {layer} is not in the order of docs/architecture.md" for layer in sorted(unknown)]
        found += [f"docs/architecture.md: {ring} has no layer {layer}" for layer in order
                  if layer not in seen and f"empty {layer}" not in allowed]
        found += [f"{ring}: circle among {', '.join(group)}" for group in circles(edges)]
    return found


def main():
    found = faults(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "all includes follow the order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
