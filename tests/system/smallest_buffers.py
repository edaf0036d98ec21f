#!/usr/bin/env python3
"""The smallest value of each buffer that holds 99 % of what the same run reaches with that buffer unlimited, and what
half of it costs. Reads tests/system/buffer_limits.json, prints the table of docs/limits.md; --write puts the table into the page,
and the values found into the file, by which system_test checks them. --check compares table and page.

    tests/system/smallest_buffers.py MRCSIM [--write | --check | KEY ...]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from limits_table import PAGE, page_table, same

NAME = "smallest buffers"
ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/system/buffer_limits.json"
HOLD = 0.99


class Runner:
    def __init__(self, mrcsim, folder, scenario):
        self.mrcsim, self.folder = mrcsim, pathlib.Path(folder)
        self.trace = self.folder / "flows.csv"
        self.scenario = scenario
        self.call("trace", "generate", "flows", *scenario["flows"].split(), "--out", self.trace)

    def call(self, *words):
        return subprocess.run([self.mrcsim, *map(str, words)], cwd=ROOT, capture_output=True, text=True)

    def run(self, row, value):
        """Result of a run with row's buffer at `value`; None where the value is refused."""
        settings = ["host.payload=reference", f"traffic.trace={self.trace}", *self.scenario["settings"],
                    *row["settings"], f"node.{row['node']}.{row['key']}={value}"]
        words = [word for setting in settings for word in ("--set", setting)]
        done = self.call("run", "tb/scenarios/pair.toml", "--quiet", "--out", self.folder / "out", *words)
        if done.returncode == 2:
            return None
        return json.loads((self.folder / "out/result.json").read_text())


def smallest(runner, row):
    target = HOLD * runner.run(row, row["unlimited"])["goodput_gbps"]
    low, high = 0, row["unlimited"]
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        result = runner.run(row, middle)
        if result is not None and result["goodput_gbps"] >= target:
            high = middle
        else:
            low = middle
    return high, target / HOLD


def top_causes(result, most=3):
    limits = [l for l in result["limits"] if l["cause"] != "framing"]
    return ", ".join(f"{l['cause']} {l['gbps']:.0f}" for l in limits[:most])


def line_of(mrcsim, table, row):
    """The row of the page; puts the smallest value into `row`."""
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(mrcsim, folder, table["scenarios"][row["scenario"]])
        row["smallest"], reference = smallest(runner, row)
        half = runner.run(row, row["smallest"] // 2)
    lost = "refused" if half is None else top_causes(half)
    goodput = "" if half is None else f"{half['goodput_gbps']:.1f}"
    run = ", ".join([row["scenario"], *(s.removeprefix("node.") for s in row["settings"])])
    side = "sender" if row["node"] == "nic0" else "receiver"
    return f"| `{row['key']}` | {side} | {run} | {reference:.1f} | {row['smallest']} | {goodput} | {lost} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    mrcsim = pathlib.Path(options.mrcsim).resolve()
    if options.keys and (options.write or options.check):
        parser.error("--write and --check are for the whole table")
    table = json.loads(TABLE.read_text())
    lines = ["| buffer | at | run | reference, Gb/s | smallest | half of it, Gb/s | loss with half, Gb/s |", "|---|---|---|---|---|---|---|"]
    print("\n".join(lines))
    for row in table["rows"]:
        if options.keys and not any(key in row["key"] for key in options.keys):
            continue
        lines.append(line_of(mrcsim, table, row))
        print(lines[-1], flush=True)
    if options.write:
        TABLE.write_text(json.dumps(table, indent=2) + "\n")
        page_table.write(PAGE, NAME, "\n".join(lines) + "\n")
    if options.check:
        wrong = [line for line, there in zip(lines, page_table.read(PAGE, NAME).splitlines(), strict=True) if not same(line, there)]
        if wrong:
            sys.exit("smallest_buffers: docs/limits.md has other figures; smallest_buffers.py MRCSIM --write replaces them:\n"
                     + "\n".join(wrong))


if __name__ == "__main__":
    main()
