#!/usr/bin/env python3
"""RTL cycles per second of each block, alone and in a whole run: the RTL table of docs/performance.md.

rtl_speed.py BUILD_DIR [--markdown FILE] [--scale SHARE]

Alone: bench_rtl, CPU time, transactions of 4 KiB packets. In a run: tb/scenarios/pair.toml with only this block in RTL on both nodes;
its cycles stand in result.json, its time is the run's CPU time less that of the same run without RTL (the shorter of three each).
The last row is `--rtl all`, the cycles of all blocks together.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

BLOCKS = ["pcie_dma", "qp_scheduler", "spray_scheduler", "retransmit_buffer", "srv6_encap", "psn_tracker", "ack_coalescer"]


def run(binary, out, scale, options):
    """CPU seconds and result.json of one run."""
    command = [str(binary), "run", str(ROOT / "tb/scenarios/pair.toml"), "--yes", "--out", out,
               "--set", f"traffic.byte_scale={scale}", *options]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"rtl_speed.py: {' '.join(command)}: exit code {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, json.loads((pathlib.Path(out) / "result.json").read_text())


def fastest(binary, out, scale, options):
    runs = [run(binary, out, scale, options) for _ in range(3)]
    return min(runs, key=lambda result: result[0])


def measure(build, scale):
    alone = json.loads(subprocess.run([build / "tests/bench/bench_rtl", "--benchmark_format=json"], check=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    alone = {row["name"]: row for row in alone["benchmarks"]}
    binary = build / "tb/mrcsim/mrcsim"
    rows = []
    with tempfile.TemporaryDirectory() as out:
        plain, _ = fastest(binary, out, scale, [])
        for name in [*BLOCKS, "all"]:
            seconds, result = fastest(binary, out, scale, ["--rtl", name])
            cycles = sum(part["cycles"] for part in result["rtl"])
            if sum(part["mismatches"] for part in result["rtl"]) > 0:
                sys.exit(f"rtl_speed.py: {name}: mismatches")
            rows.append((name, alone.get(name), cycles, result["packets"]["delivered"], max(seconds - plain, 1e-9)))
    return rows


def table(rows):
    lines = ["| block | alone: million cycles per second | alone: cycles per packet | in a run: million cycles per second | "
             "in a run: cycles per packet | in a run: µs per packet |", "|---|---:|---:|---:|---:|---:|"]
    for name, alone, cycles, packets, seconds in rows:
        first = f"{alone['cycles_per_second'] / 1e6:.2f} | {alone['cycles_a_packet']:.1f}" if alone else " | "
        lines.append(f"| {name} | {first} | {cycles / seconds / 1e6:.2f} | {cycles / packets:.1f} | {seconds / packets * 1e6:.2f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path, help="file whose RTL table is replaced")
    parser.add_argument("--scale", type=float, default=1.0, help="of the scenario's bytes; default: 1, 262,144 packets")
    options = parser.parse_args()
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
