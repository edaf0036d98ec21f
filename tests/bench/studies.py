#!/usr/bin/env python3
"""Speed of studies: what a point costs beyond its packets, and points per minute of the tutorial's size and sweep.

studies.py MRCSIM [--old OLD_MRCSIM] [--markdown FILE] [--only TEXT]

The cost of a point is that of a sweep whose runs have 3 packets each, by point: start, trace, model, results, database. The tutorial's study
has random loss; another without is counted with every run to its end, and with runs that end when their goodput is known
(run.stop_within_percent). With --old both executables run in turn.
"""
import argparse
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

PAIR = str(ROOT / "tb/scenarios/pair.toml")
TUTORIAL = ["--set", "traffic.byte_scale=0.25", "--set", "host.payload=reference", "--set", "fabric.loss_rate=0.01"]
SIZE = ["size", PAIR, *TUTORIAL, "--buffer", "nic.retransmit_buffer.entries", "--hold", "goodput>=99%", "--seeds", "3"]
SWEEP = ["sweep", PAIR, *TUTORIAL, "--vary", "nic.retransmit_buffer.entries=64..1024:x2", "--seeds", "3"]
FEW_PACKETS = ["sweep", PAIR, "--set", "traffic.rows=1", "--set", "traffic.byte_scale=0.01", "--set", "host.payload=reference",
               "--vary", "pcie.read_tags=100..299:+1"]
EARLY = ["--set", "run.stop_within_percent=1"]
TAGS = ["size", PAIR, "--set", "host.payload=reference", "traffic.byte_scale=0.5", "--buffer", "pcie.read_tags", "--hold", "goodput>=99%", "--seeds", "3"]
CASES = (("sweep of 200 points of 3 packets", FEW_PACKETS, False), ("size of the tutorial", SIZE, False),
         ("sweep of the tutorial", SWEEP, False),
         ("size of tags, 512 MiB without loss", TAGS, False), ("the same, goodput to 1 %", [*TAGS, *EARLY], True))


def measure(binary, arguments, scratch):
    """Runs done, wall and CPU seconds of the study and its runs, and the answer of a size."""
    database = pathlib.Path(scratch) / "study.sqlite"
    database.unlink(missing_ok=True)
    start = time.monotonic()
    child = subprocess.Popen([binary, *arguments, "--db", str(database), "--quiet"], cwd=scratch)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"studies.py: {binary} {' '.join(arguments)}: exit code {os.waitstatus_to_exitcode(status)}")
    with sqlite3.connect(database) as data:
        runs = data.execute("SELECT count(*) FROM run WHERE state = 'done'").fetchone()[0]
        answer = data.execute("SELECT json_extract(answer, '$.answer'), json_extract(answer, '$.answer_low'), "
                              "json_extract(answer, '$.answer_high') FROM study").fetchone()
    return {"runs": runs, "wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime,
            "answer": "" if answer[0] is None else f"{answer[0]} ({answer[1]} … {answer[2]})"}


def rows(args, scratch):
    programs = [("", args.mrcsim)] if not args.old else [("before: ", args.old), ("", args.mrcsim)]
    for name, arguments, early in CASES:
        if args.only not in name:
            continue
        for label, program in programs:
            if early and label:
                continue  # it did not know how to end early
            done = measure(program, arguments, scratch)
            done["name"] = label + name
            print(f"{done['name']:<56} {done['runs']:>4} runs, {done['wall_s']:.2f} s, {done['cpu_s']:.2f} s of CPU time", file=sys.stderr)
            yield done


def markdown(binary, results):
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    build = re.search(r"built +(\S+),", version)[1]
    lines = [f"Measured by `tests/bench/studies.py` on {os.cpu_count()} cores, load average {os.getloadavg()[1]:.1f}, build type {build}.", "",
             "| study | runs | CPU time per run, ms | runs per minute of CPU time | runs per minute | answer |", "|---|---:|---:|---:|---:|---|"]
    for r in results:
        lines.append(f"| {r['name']} | {r['runs']} | {1000 * r['cpu_s'] / r['runs']:.1f} | {60 * r['runs'] / r['cpu_s']:,.0f} | "
                     f"{60 * r['runs'] / r['wall_s']:,.0f} | {r['answer']} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim", type=os.path.abspath)
    parser.add_argument("--old", type=os.path.abspath)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        text = markdown(args.mrcsim, list(rows(args, scratch)))
    page_table.publish(args.markdown, "studies.py", text)


if __name__ == "__main__":
    main()
