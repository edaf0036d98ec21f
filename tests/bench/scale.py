#!/usr/bin/env python3
"""Memory and time of large runs, as in docs/scale.md.

scale.py MRCSIM [--largest]: permutations of 1 MiB over 8 planes by light endpoints, from 64 to 4,096, what a NIC and a QP take
of memory, and with --largest the scenario of 131,072 NICs. Seconds are those of the processor, building included.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import json

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHAPES = {64: 8, 256: 16, 1024: 64, 4096: 64}


def measure(mrcsim, out, scenario, settings):
    """Result, processor seconds, and the most resident bytes of one run."""
    process = subprocess.Popen([mrcsim, "run", str(scenario), "--quiet", "--yes", "--out", str(out), "--set", *settings])
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"scale.py: a run ended with status {status}")
    return json.loads((out / "result.json").read_text()), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def permutation(folder, nics, size):
    path = folder / f"permutation_{nics}_{size}.csv"
    lines = ["start_us,src,dst,bytes,tag"] + [f"0,{i},{(i + nics // 2) % nics},{size},0" for i in range(nics)]
    path.write_text("\n".join(lines) + "\n")
    return path


def shape(nics):
    return [f"fabric.nics={nics}", f"fabric.nics_per_t0={SHAPES[nics]}", f"fabric.t1s_per_plane={SHAPES[nics]}"]


def main():
    mrcsim = sys.argv[1]
    base = ROOT / "tb/scenarios/clos_8x100g.toml"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        out = folder / "out"

        def run(nics, size, *more):
            trace = permutation(folder, nics, size)
            return measure(mrcsim, out, base, ["fidelity=endpoint", f"traffic.trace={trace}", *shape(nics), *more])

        print("| endpoints | data packets | CPU s | packets/CPU s | peak memory |\n|---|---|---|---|---|")
        for nics in SHAPES:
            result, seconds, memory = run(nics, 1 << 20)
            packets = result["packets"]["sent"]
            print(f"| {nics:,} | {packets:,} | {seconds:.2f} | {packets / seconds:,.0f} | {memory / 2**20:,.0f} MiB |")
        # Each figure is the slope between two runs that differ in one thing.
        small, large = run(1024, 4096)[2], run(4096, 4096)[2]
        print(f"\na NIC with one QP in use, its links and its share of the switches: {(large - small) / 3072:,.0f} bytes")
        one, nine = run(1024, 4096)[2], run(1024, 4096, "traffic.qps_per_peer=9")[2]
        print(f"a QP at one NIC, with requestor, responder and EV table: {(nine - one) / (8 * 1024):,.0f} bytes")
        if "--largest" not in sys.argv:
            return
        result, seconds, memory = measure(mrcsim, out, ROOT / "tb/scenarios/clos_131072.toml", ["seed=1"])
        print(f"131,072 NICs: {result['packets']['sent']:,} data packets, {result['status']}, {seconds:.1f} CPU s, "
              f"{memory / 2**30:.2f} GiB")


main()
