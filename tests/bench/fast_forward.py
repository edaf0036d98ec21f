#!/usr/bin/env python3
"""Runs with skipped time (run.fast_forward_percent) against the same runs in full: how much faster, and how far off.

fast_forward.py MRCSIM [--markdown FILE] [--only TEXT] [--percent P]

Each pair of runs is compared by the figures of FIGURES, by the times of all messages, and by each cause of limits[], as a share of
line rate.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

LONG = ROOT / "tb/scenarios/long_all_reduce.toml"
PAIR = ROOT / "tb/scenarios/pair.toml"
FLOW = ["flows", "--src", "0", "--dst", "1", "--count", "1", "--bytes", "4000000000"]
PERMUTATION = ["permutation", "--ranks", "8", "--bytes", "1000000000"]
REFERENCE = "host.payload=reference"
FAULT = '[[fault]]\nkind = "link_rate"\nwhere = "nic0.port0"\nat_us = 5000\nshare = 0.5\n'
# name; scenario; the trace that is generated for it, or None; settings; lines behind those of the scenario, or none
CASES = (
    ("all-reduce of 10 GB, ring, 8 NICs", LONG, None, []),
    ("all-reduce of 1 GB, ring, 8 NICs", LONG, None, ["traffic.byte_scale=953.67431640625"]),
    ("all-reduce of 2 GB, halving and doubling", LONG, None, ["traffic.byte_scale=1907.3486328125", "traffic.collective.all_reduce=halving_doubling"]),
    ("all-reduce of 2 GB, 4 channels", LONG, None, ["traffic.byte_scale=1907.3486328125", "traffic.collective.channels=4"]),
    ("all-reduce of 2 GB, light endpoints", LONG, None, ["traffic.byte_scale=1907.3486328125", "fidelity=endpoint"]),
    ("permutation of 8, 1 GB each", LONG, PERMUTATION, ["traffic.byte_scale=1", "traffic.ranks=0"]),
    ("one flow of 4 GB", PAIR, FLOW, [REFERENCE]),
    ("the same, every byte compared", PAIR, FLOW, []),
    ("the same, 96 tags", PAIR, FLOW, [REFERENCE, "pcie.read_tags=96"]),
    ("the same, host memory of 2 us, p99 6 us", PAIR, FLOW, [REFERENCE, "pcie.read_latency_mean_ns=2000", "pcie.read_latency_p99_ns=6000"]),
    ("the same, receiver with 8 lanes", PAIR, FLOW, [REFERENCE, "node.nic1.pcie.lanes=8"]),
    ("the same, a port of 50 Gb/s from 5 ms on", PAIR, FLOW, [REFERENCE], FAULT),
)
FIGURES = {"time": ("simulated_time_us",), "goodput": ("goodput_gbps",), "message time": ("message_time_us", "mean"),
           "largest message time": ("message_time_us", "max"), "data packets": ("packets", "sent"),
           "control packets": ("packets", "control"), "step time": ("job", "step_time_us")}


def run(mrcsim, scenario, settings, out):
    start = os.times()
    command = [mrcsim, "run", str(scenario), "--quiet", "--yes", "--out", str(out), "--set", *settings]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"fast_forward.py: {' '.join(command)}: {done.stderr}")
    end = os.times()
    result = json.loads((out / "result.json").read_text())
    with open(out / "messages.csv") as lines:
        result["times"] = [float(row["completed_us"]) for row in csv.DictReader(lines)]
    return result, end.children_user + end.children_system - start.children_user - start.children_system


def figure(result, path):
    for key in path:
        result = result[key]
    return result


def differences(full, fast):
    """Name and percent of all that is compared, the largest first."""
    found = [(name, 100 * abs(figure(fast, path) / figure(full, path) - 1)) for name, path in FIGURES.items()]
    found += [("end of a message", 100 * abs(b / a - 1)) for a, b in zip(full["times"], fast["times"], strict=True)]
    return sorted(found, key=lambda row: -row[1])


def limits_difference(full, fast):
    of_full, of_fast = ({row["cause"]: row["gbps"] for row in r["limits"]} for r in (full, fast))
    if not of_full or not of_fast:
        return None
    return max(100 * abs(of_full.get(cause, 0) - of_fast.get(cause, 0)) / full["line_rate_gbps"] for cause in of_full.keys() | of_fast.keys())


def rows(args, scratch):
    for number, (name, scenario, generated, settings, *more) in enumerate(CASES):
        if args.only not in name:
            continue
        settings = list(settings)
        if more:
            copy = scratch / scenario.name
            copy.write_text(scenario.read_text() + more[0])
            scenario = copy
        if generated:
            trace = scratch / f"{number}.csv"
            subprocess.run([args.mrcsim, "trace", "generate", *generated, "--out", str(trace)], check=True, stdout=subprocess.DEVNULL)
            settings.append(f"traffic.trace={trace}")
        full, full_s = run(args.mrcsim, scenario, [*settings, "run.fast_forward_percent=0"], scratch / f"full{number}")
        fast, fast_s = run(args.mrcsim, scenario, [*settings, f"run.fast_forward_percent={args.percent:g}"], scratch / f"fast{number}")
        what, most = differences(full, fast)[0]
        row = {"name": name, "packets": full["packets"]["sent"], "full_s": full_s, "fast_s": fast_s, "skips": fast["fast_forward"]["skips"],
               "skipped": 100 * fast["fast_forward"]["skipped_us"] / fast["simulated_time_us"], "what": what, "most": most,
               "limits": limits_difference(full, fast)}
        print(row, file=sys.stderr)
        yield row


def markdown(args, results):
    lines = [f"Measured by `tests/bench/fast_forward.py` with `run.fast_forward_percent = {args.percent:g}`, load average {os.getloadavg()[1]:.1f}.", "",
             "| run | data packets | CPU time in full, s | with skipped time, s | times faster | skips | time skipped | largest difference | causes of `limits`, of line rate |",
             "|---|---:|---:|---:|---:|---:|---:|---|---:|"]
    for r in results:
        limits = "none" if r["limits"] is None else f"{r['limits']:.2f} %"
        lines.append(f"| {r['name']} | {r['packets']:,} | {r['full_s']:.1f} | {r['fast_s']:.1f} | {r['full_s'] / r['fast_s']:.1f} | {r['skips']} | "
                     f"{r['skipped']:.1f} % | {r['most']:.3f} % ({r['what']}) | {limits} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim", type=os.path.abspath)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--percent", type=float, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        text = markdown(args, list(rows(args, pathlib.Path(scratch))))
    page_table.publish(args.markdown, "fast_forward.py", text)


if __name__ == "__main__":
    main()
