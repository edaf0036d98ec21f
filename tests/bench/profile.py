#!/usr/bin/env python3
"""Where the instructions of a data packet of the detailed pair go: docs/performance.md's profile.

profile.py BUILD_DIR [--markdown FILE] [--set KEY=VALUE …]

valgrind's callgrind counts two lengths of tb/scenarios/pair.toml; their difference, divided by the packets, falls out by class (what
is inlined counts for the caller). Repeats whatever else the machine does. By default payload by reference and MRRS 4096.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

LENGTHS = (256, 512)  # messages of 1 MiB
PACKETS = (LENGTHS[1] - LENGTHS[0]) * 256
CACHES = ["--cache-sim=yes", "--branch-sim=yes", "--I1=32768,8,64", "--D1=49152,12,64", "--LL=2097152,16,64"]
ROWS = 16


def group_of(function):
    """A class of the model, or what else it is."""
    inside = re.match(r"(?:void |bool )?mrc::(?:timing::)?(\w+)(?:<[^(]*>)?::", function)
    if "WheelModule" in function or "EventWheel" in function:
        return "EventWheel, WheelModule"
    if inside:
        return inside[1]
    if function.startswith("sc_core::"):
        return "SystemC's kernel"
    if function.startswith("mrc::"):
        return "functions of ring 1 and 2"
    return "libraries: JSON, heap, strings"


def count(binary, settings, rows, scratch):
    """Self cost and calls by group, and the event totals of one run."""
    out = pathlib.Path(scratch) / "callgrind"
    command = ["valgrind", "--tool=callgrind", *CACHES, f"--callgrind-out-file={out}", binary, "run",
               str(ROOT / "tb/scenarios/pair.toml"), "--yes", "--out", f"{scratch}/out", "--set", *settings, f"traffic.rows={rows}"]
    subprocess.run(command, check=True, capture_output=True)
    names, costs, calls = {}, collections.Counter(), collections.Counter()
    current = callee = events = None
    totals = []
    is_call = False
    with open(out) as lines:
        for line in lines:
            if line.startswith("events: "):
                events = line.split()[1:]
            elif line.startswith(("totals: ", "summary: ")):
                totals = [int(n) for n in line.split()[1:]]
            elif name := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
                if name[3]:
                    names[name[2]] = name[3]
                if name[1]:
                    callee = name[2]
                else:
                    current = name[2]
            elif line.startswith("calls="):
                calls[callee] += int(line.split()[0][len("calls="):])
                is_call = True
            elif re.match(r"[+\-*\d]", line):
                if not is_call:
                    costs[current] += int(line.split()[1])
                is_call = False
    by_group = collections.defaultdict(lambda: [0, 0])
    for function, cost in costs.items():
        group = by_group[group_of(names[function])]
        group[0] += cost
        group[1] += calls[function]
    return by_group, dict(zip(events, totals))


def markdown(settings, few, many):
    (few_groups, few_totals), (many_groups, many_totals) = few, many
    each = {event: (many_totals[event] - few_totals.get(event, 0)) / PACKETS for event in many_totals}
    rows = sorted(((many_groups[g][0] - few_groups[g][0]) / PACKETS, (many_groups[g][1] - few_groups[g][1]) / PACKETS, g)
                  for g in many_groups)[::-1]
    whole = sum(row[0] for row in rows)
    lines = [f"`tests/bench/profile.py`: `{' '.join(settings)}`, {whole:,.0f} instructions per data packet; "
             f"{each['I1mr']:,.0f} lines of code beyond 32 KiB, {each['D1mr'] + each['D1mw']:,.0f} of data beyond 48 KiB, "
             f"{each['DLmr'] + each['DLmw']:,.1f} beyond 2 MiB; {each['Bcm'] + each['Bim']:,.0f} branches that a simple predictor misses.",
             "", "| class | instructions | share | calls |", "|---|---:|---:|---:|"]
    lines += [f"| {g} | {cost:,.0f} | {cost / whole:.1%} | {calls:,.1f} |" for cost, calls, g in rows[:ROWS]]
    others = rows[ROWS:]
    lines.append(f"| {len(others)} others | {sum(r[0] for r in others):,.0f} | {sum(r[0] for r in others) / whole:.1%} | |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--set", nargs="+", default=["host.payload=reference", "pcie.mrrs_bytes=4096"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        few, many = (count(f"{args.build}/tb/mrcsim/mrcsim", args.set, rows, scratch) for rows in LENGTHS)
    text = markdown(args.set, few, many)
    page_table.publish(args.markdown, "profile.py", text)


main()
