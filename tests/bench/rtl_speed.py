#!/usr/bin/env python3
"""Cost of each RTL block, alone and in a whole run: the RTL table of docs/performance.md.

rtl_speed.py BUILD_DIR [--markdown FILE] [--scale SHARE]

Alone: bench_rtl, CPU time, transactions of 4 KiB packets. In a run: tb/scenarios/pair.toml with only this block in RTL on both nodes:
its cycles stand in result.json; its instructions are those of a data packet less those of the same run without RTL (valgrind's callgrind,
two lengths of each, so that building falls out). They repeat on a busy machine, where the time of one block cannot be told from noise.
The last row is `--rtl all`.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table
import performance

BLOCKS = ["pcie_dma", "qp_scheduler", "spray_scheduler", "retransmit_buffer", "srv6_encap", "psn_tracker", "ack_coalescer"]


def run(binary, out, scale, options):
    """result.json of one run."""
    command = [str(binary), "run", str(ROOT / "tb/scenarios/pair.toml"), "--yes", "--quiet", "--out", out,
               "--set", f"traffic.byte_scale={scale}", *options]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        sys.exit(f"rtl_speed.py: {' '.join(command)}: exit code {done.returncode}")
    return json.loads((pathlib.Path(out) / "result.json").read_text())


def instructions(binary, scratch, options):
    """Of one data packet."""
    counted = performance.instructions(str(binary), scratch, ("(b) one block", "pair.toml", [], options), caches=False)
    if not counted:
        sys.exit(f"rtl_speed.py: no instructions counted with {' '.join(options) or 'no RTL'}")
    return counted["instructions_per_packet"]


def measure(build, scale):
    alone = json.loads(subprocess.run([build / "tests/bench/bench_rtl", "--benchmark_format=json"], check=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    alone = {row["name"]: row for row in alone["benchmarks"]}
    binary = build / "tb/mrcsim/mrcsim"
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        plain = instructions(binary, scratch, [])
        for name in [*BLOCKS, "all"]:
            result = run(binary, f"{scratch}/run", scale, ["--rtl", name])
            if sum(part["mismatches"] for part in result["rtl"]) > 0:
                sys.exit(f"rtl_speed.py: {name}: mismatches")
            cycles = sum(part["cycles"] for part in result["rtl"]) / result["packets"]["delivered"]
            rows.append((name, alone.get(name), cycles, instructions(binary, scratch, ["--rtl", name]) - plain))
    return rows


def table(rows):
    lines = ["| block | alone: million cycles per second | alone: cycles per packet | in a run: cycles per packet | "
             "in a run: instructions per packet |", "|---|---:|---:|---:|---:|"]
    for name, alone, cycles, each in rows:
        first = f"{alone['cycles_per_second'] / 1e6:.2f} | {alone['cycles_a_packet']:.1f}" if alone else " | "
        lines.append(f"| {name} | {first} | {cycles:.1f} | {each:,} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path, help="file whose RTL table is replaced")
    parser.add_argument("--scale", type=float, default=0.25, help="of the scenario's bytes, for cycles; default: 0.25, 65,536 packets")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        parser.error("instructions want valgrind (Debian: valgrind)")
    build = options.build.resolve()
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    load = os.getloadavg()[0]
    text = (f"Measured by `tests/bench/rtl_speed.py` on `{model}`, load average {load:.1f} when it began.\n\n"
            + table(measure(build, options.scale)))
    print(text, end="")
    if not options.markdown:
        return
    page_table.write(options.markdown, "rtl_speed.py", text)


if __name__ == "__main__":
    main()
