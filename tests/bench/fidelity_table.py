#!/usr/bin/env python3
"""Completion times of detailed and light endpoints on the same scenarios, as the table of docs/fabric.md.

fidelity_table.py MRCSIM [NODES]: runs each pattern with both kinds and prints Markdown. A few minutes for the default of 16 nodes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FABRIC = ["fabric.nics_per_t0=4", "fabric.t1s_per_plane=4"]


def run(mrcsim, scratch, scenario, settings):
    out = pathlib.Path(scratch) / "out"
    subprocess.run([mrcsim, "run", str(ROOT / "tb/scenarios" / scenario), "--quiet", "--out", str(out), "--set",
                    "host.payload=reference", *settings], check=True)
    return json.loads((out / "result.json").read_text())


def flows(scratch, name, pairs, size):
    path = pathlib.Path(scratch) / f"{name}.csv"
    lines = ["start_us,src,dst,bytes,tag"] + [f"0,{a},{b},{size},0" for a, b in pairs]
    path.write_text("\n".join(lines) + "\n")
    return f"traffic.trace={path}"


def main():
    mrcsim = sys.argv[1]
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    with tempfile.TemporaryDirectory() as scratch:
        many = [f"fabric.nics={nodes}", *FABRIC]
        shift = [(i, (i + nodes // 2) % nodes) for i in range(nodes)]
        incast = [(i, 0) for i in range(1, 8)]
        cases = [
            ("pair, 256 x 1 MiB below one T0", "pair.toml", ["traffic.byte_scale=0.25"]),
            ("pair, 1,024 x 4 KiB below one T0", "pair.toml", ["traffic.byte_scale=0.00390625"]),
            ("ring all-reduce of 2, 64 MiB", "ring.toml", []),
            (f"permutation of {nodes}, 2 MiB each", "pair.toml", [flows(scratch, "permutation", shift, 2 << 20), *many]),
            ("incast 7 to 1, 2 MiB each", "pair.toml",
             [flows(scratch, "incast", incast, 2 << 20), *many, "run.node_under_test=nic1"]),
        ]
        print("| scenario | detailed | light | difference | retransmitted, detailed and light |\n|---|---|---|---|---|")
        for name, scenario, settings in cases:
            detailed = run(mrcsim, scratch, scenario, settings)
            light = run(mrcsim, scratch, scenario, [*settings, "fidelity=endpoint"])
            a, b = detailed["simulated_time_us"], light["simulated_time_us"]
            again = [r["packets"]["retransmitted"] for r in (detailed, light)]
            print(f"| {name} | {a:.2f} us | {b:.2f} us | {100 * (b - a) / a:+.2f} % | {again[0]}, {again[1]} |")


main()
