#!/usr/bin/env python3
"""The table of docs/tenants.md on what two tenants take from each other inside a NIC: contexts, PCIe tags, PCIe credits.

  nic_sharing.py MRCSIM [--write | --quick]

Runs `mrcsim isolation tb/scenarios/nic_neighbor.toml` with the settings of each row, and prints the table. --write puts it into the page between
its marks. Otherwise compares with the page, with --quick a few rows only. Exit code 1 where a number differs by more than SAME.
"""
import argparse
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

PAGE = ROOT / "docs/tenants.md"
SAME = 0.02  # of a number: other compilers round differently

CLASS = ["traffic.classes.count=2", "traffic.classes.rules=job=0 -> 1"]
TAGS = ["pcie.read_tags=48"]
CREDITS = ["pcie.posted_header_credits=8"]
QPS = ["traffic.qps_per_peer=16"]
FEW_CONTEXTS = [*QPS, "nic.qp_scheduler.context_cache_entries=20"]
ROWS = {
    "nothing": [],
    "tags": TAGS,
    "tags, neighbor limited": [*TAGS, "traffic.tenants.rate_limits_gbps=0,100"],
    "tags, class above": [*TAGS, *CLASS],
    "credits of the receiver": CREDITS,
    "credits, neighbor limited": [*CREDITS, "traffic.tenants.rate_limits_gbps=0,40"],
    "credits, class above": [*CREDITS, *CLASS],
    "nothing, 16 QPs each": [*QPS, "nic.qp_scheduler.context_cache_entries=32"],
    "contexts": FEW_CONTEXTS,
    "contexts, neighbor limited": [*FEW_CONTEXTS, "traffic.tenants.context_entries=0,4"],
}
QUICK = ("tags", "contexts", "contexts, neighbor limited")
HEAD = ("| short of | settings | time of 0 | p99 of 0 | worst message of 0 | time of 1 | what holds nic0 up most, both running |\n"
        "|---|---|---|---|---|---|---|\n")


def measured(mrcsim, folder, settings):
    """Slow-downs of the ping-pong, that of the neighbor, and the first cause of the run of both."""
    database = folder / "isolation.sqlite"
    database.unlink(missing_ok=True)
    command = [mrcsim, "isolation", "tb/scenarios/nic_neighbor.toml", "--db", database, "--quiet", "--format", "json"]
    done = subprocess.run([*command, *(["--set", *settings] if settings else [])], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"nic_sharing: {settings}: exit code {done.returncode}: {done.stderr}")
    victim, neighbor = json.loads(done.stdout)["tenants"]
    with sqlite3.connect(database) as data:
        (cause,), = data.execute("SELECT top_limit FROM run WHERE json_extract(settings, '$.\"traffic.tenants.play\"') = ''").fetchall()
    return [victim["slowdown"]["mean"], victim["p99_slowdown"]["mean"], victim["worst_message_slowdown"]["mean"], neighbor["slowdown"]["mean"]], cause


def row_of(name, numbers, cause):
    settings = " ".join(f"'{setting}'" if " " in setting else setting for setting in ROWS[name])
    return f"| {name} | {f'`{settings}`' if settings else ''} | {' | '.join(f'{number:.3f}' for number in numbers)} | `{cause}` |"


def on_page():
    """Numbers and cause by the name of a row."""
    rows = {}
    for line in page_table.read(PAGE, "nic_sharing.py").splitlines()[2:]:
        words = [word.strip() for word in line.strip("| ").split("|")]
        rows[words[0]] = ([float(word) for word in words[2:6]], words[6].strip("`"))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mrcsim", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    names = QUICK if options.quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        rows = {name: measured(options.mrcsim.resolve(), pathlib.Path(folder), ROWS[name]) for name in names}
    table = HEAD + "".join(row_of(name, *row) + "\n" for name, row in rows.items())
    print(table)
    if options.write:
        page_table.write(PAGE, "nic_sharing.py", table)
        return
    page = on_page()
    wrong = [name for name, (numbers, cause) in rows.items()
             if name not in page or cause != page[name][1] or any(abs(a - b) > SAME * b for a, b in zip(numbers, page[name][0]))]
    if wrong:
        sys.exit(f"nic_sharing: docs/tenants.md has other numbers for {', '.join(wrong)}; nic_sharing.py MRCSIM --write replaces them")


main()
