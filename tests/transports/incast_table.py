#!/usr/bin/env python3
"""The figures of docs/baselines.md on incasts with MRC and on control packets of an all-to-all.

  incast_table.py MRCSIM [--part incast|all-to-all|fairness|across] [--write | --quick] [--jobs N]

Prints the tables, or one of them. --write puts them into the page between their marks. Otherwise compares them with the page, with --quick two
rows only. Exit code 1 where a number differs by more than SAME.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from runs import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

PAGE = ROOT / "docs/baselines.md"
SAME = 0.02  # of a number: other compilers round differently
PORT = ["fidelity=endpoint", "nic.ports=1", "nic.port_gbps=400"]
SENDERS, BYTES = 127, 1_000_000
NO_PROBES = "protocol.probe_interval_ns=1e9"
WEIGHTED = "fabric.scheduling=weighted"
MARKS = "fabric.ecn_last_hop=true"
ONE_QUEUE = "fabric.retransmission_queue=data"
AS_MARKED = "cc.unmarked_delay=as_marked"
ONE_THRESHOLD = "fabric.threshold_scope=port"
NO_RTT = "protocol.rtt_of_retransmissions=false"
INCAST = {
    "defaults": [],
    "without probes": [NO_PROBES],
    '`fabric.scheduling = "weighted"`': [WEIGHTED],
    "weighted, without probes": [WEIGHTED, NO_PROBES],
    "weighted, `fabric.ecn_last_hop`": [WEIGHTED, MARKS],
    "weighted, `fabric.ecn_last_hop`, without probes": [WEIGHTED, MARKS, NO_PROBES],
    '`fabric.retransmission_queue = "data"`': [ONE_QUEUE],
    'the same, `cc.unmarked_delay = "as_marked"`': [ONE_QUEUE, AS_MARKED],
    "these two, `protocol.ev_probe_bytes = 16384`": [ONE_QUEUE, AS_MARKED, "protocol.ev_probe_bytes=16384"],
    '`fabric.threshold_scope = "port"`': [ONE_THRESHOLD],
    "`protocol.rtt_of_retransmissions = false`": [NO_RTT],
    "the same, weighted": [NO_RTT, WEIGHTED],
    "the same, `protocol.ev_probe_bytes = 4097`": [NO_RTT, "protocol.ev_probe_bytes=4097"],
    "the same, `protocol.ev_probe_bytes = 16384`": [NO_RTT, "protocol.ev_probe_bytes=16384"],
}
QUICK = ("defaults", "weighted, `fabric.ecn_last_hop`")
FAIRNESS = {
    "defaults": [],
    '`fabric.threshold_scope = "port"`': [ONE_THRESHOLD],
    "weighted": [WEIGHTED],
    "`fabric.ecn_last_hop`": [MARKS],
    "weighted, `fabric.ecn_last_hop`": [WEIGHTED, MARKS],
    '`cc.unmarked_delay = "as_marked"`': [AS_MARKED],
    'the same, `fabric.retransmission_queue = "data"`': [AS_MARKED, ONE_QUEUE],
}
ACROSS = {
    "defaults": [],
    '`cc.unmarked_delay = "as_marked"`': [AS_MARKED],
    "the same, `cc.base_rtt_is_learned = false`": [AS_MARKED, "cc.base_rtt_is_learned=false"],
    '`fabric.threshold_scope = "port"`': [ONE_THRESHOLD],
    "`protocol.rtt_of_retransmissions = false`": [NO_RTT],
}


def incast_row(mrcsim, folder, name):
    """Share of the receiver's line after framing until the last byte is there, packets retransmitted, control packets."""
    flows = [(0, sender, 0, BYTES) for sender in range(1, SENDERS + 1)]
    code, result, error = run(mrcsim, folder, f"incast{list(INCAST).index(name)}", flows, [*PORT, f"fabric.nics={SENDERS + 1}", *INCAST[name]])
    if code != 0:
        sys.exit(f"incast_table: {name}: exit code {code}: {error}")
    line_gbps = 400 * result["framing_limit_gbps"] / result["line_rate_gbps"]
    share = SENDERS * BYTES * 8 / 1000 / result["simulated_time_us"] / line_gbps
    return [100 * share, result["packets"]["retransmitted"], result["packets"]["control"]]


def control_per_data(mrcsim, folder):
    nodes = 64
    flows = [(0, source, (source + distance) % nodes, 262_144) for distance in range(1, nodes) for source in range(nodes)]
    code, result, error = run(mrcsim, folder, "all_to_all", flows, [*PORT, f"fabric.nics={nodes}"])
    if code != 0:
        sys.exit(f"incast_table: all-to-all: exit code {code}: {error}")
    return result["packets"]["control"] / result["packets"]["delivered"]


def value(text):
    return text if text in ("true", "false") or re.fullmatch(r"[\d.e+]+", text) else f'"{text}"'


def experiment(rows, fabric, senders, flows, until_us, window_us, seeds):
    """A file of `mrcsim validate` that has Jain's index and slowest to fastest sender of each row, of the worst window from 5 ms on."""
    text = f'title = "shares"\nsource = "-"\npublished = "-"\ndepends_on = "-"\nany_setting = true\nseeds = {seeds}\n'
    for number, settings in enumerate(rows.values()):
        pairs = [setting.split("=", 1) for setting in [*PORT, *fabric, f"run.max_time_us={until_us}", *settings]]
        text += f'[[case]]\nname = "row{number}"\nset = {{ ' + ", ".join(f'"{key}" = {value(word)}' for key, word in pairs) + " }\n"
        text += "".join(f"[[case.flow]]\nsrc = {source}\ndst = {target}\nbytes = 262144\ncount = {count}\n" for source, target, count in flows)
        for metric in ("jain", "slowest"):
            text += (f'[[check]]\nwhat = "{metric}"\ncase = "row{number}"\nmetric = "{metric}:0-{senders - 1}"\nfrom_us = 5000\nto_us = {until_us}\n'
                     f"window_us = {window_us}\nat_least = 0\n")
    return text


def fairness(mrcsim, folder, jobs, base, files):
    """[(Jain, slowest)] by row for each file, means over its seeds."""
    experiments = folder / f"experiments_{'_'.join(files)}"
    experiments.mkdir()
    (experiments / "base.toml").write_text(base, encoding="utf-8")
    for name, text in files.items():
        (experiments / f"{name}.toml").write_text(text, encoding="utf-8")
    work = folder / f"work_{'_'.join(files)}"
    done = subprocess.run([mrcsim, "validate", "--experiments", experiments, "--work", work, "--quiet", "--jobs", str(jobs)], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"incast_table: validate: exit code {done.returncode}: {done.stderr}{done.stdout}")
    found = []
    for one in json.loads((work / "values.json").read_text(encoding="utf-8")):
        means = [sum(check["values"]) / len(check["values"]) for check in one["checks"]]
        found.append(list(zip(means[0::2], means[1::2])))
    return found


def fairness_table(mrcsim, folder, jobs):
    seven, thirty_one = fairness(mrcsim, folder, jobs, "seed = 1\ntraffic.outstanding_messages = 128\n", {
        "E7": experiment(FAIRNESS, ["fabric.nics=8"], 7, [("[0, 6]", 7, 1200)], 12000, 1000, 3),
        "E31": experiment(FAIRNESS, ["fabric.nics=32"], 31, [("[0, 30]", 31, 400)], 20000, 5000, 3)})
    return "| | 7 to 1 | 31 to 1 |\n|---|---|---|\n" + "".join(
        f"| {name} | {a:.2f}, {b:.2f} | {c:.2f}, {d:.2f} |\n" for name, (a, b), (c, d) in zip(FAIRNESS, seven, thirty_one))


def across_table(mrcsim, folder, jobs):
    across, = fairness(mrcsim, folder, jobs, (ROOT / "tb/validation/base.toml").read_text(encoding="utf-8"), {
        "E16": experiment(ACROSS, ["fabric.nics=16", "fabric.nics_per_t0=4"], 7, [("[0, 6]", 12, 2400), (7, 13, 2600)], 12000, 1000, 8)})
    return "| | 7 to 1 across T1s |\n|---|---|\n" + "".join(f"| {name} | {a:.2f}, {b:.2f} |\n" for name, (a, b) in zip(ACROSS, across))


def incast_table(rows):
    return "| parameters | share | retransmitted | control packets |\n|---|---|---|---|\n" + "".join(
        f"| {name} | {row[0]:.0f} % | {row[1]:,} | {row[2]:,} |\n" for name, row in rows.items())


def numbers_in(text):
    return [float(word.replace(",", "")) for word in re.findall(r"(?<![\w.])\d[\d,]*\.?\d*", re.sub(r"`[^`]*`", "", text))]


def rows_in(text):
    """Numbers by the name of a row."""
    lines = [[word.strip() for word in line.strip("| ").split("|")] for line in text.splitlines()[2:]]
    return {line[0]: numbers_in(" ".join(line[1:])) for line in lines}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mrcsim", type=pathlib.Path)
    parser.add_argument("--part", choices=("incast", "all-to-all", "fairness", "across"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    mrcsim = options.mrcsim.resolve()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = pathlib.Path(name)
        chosen = QUICK if options.quick else INCAST
        parts = {"incast": lambda: incast_table(dict(zip(chosen, pool.map(lambda row: incast_row(mrcsim, folder, row), chosen)))),
                 "all-to-all": lambda: f"{control_per_data(mrcsim, folder):.2f} control packets for each data packet\n",
                 "fairness": lambda: fairness_table(mrcsim, folder, options.jobs),
                 "across": lambda: across_table(mrcsim, folder, options.jobs)}
        wanted = [options.part] if options.part else ["incast"] if options.quick else parts
        made = {part: parts[part]() for part in wanted}
    wrong = []
    for part, text in made.items():
        print(text)
        if options.write:
            page_table.write(PAGE, part, text)
            continue
        page = page_table.read(PAGE, part)
        there = rows_in(page) if part != "all-to-all" else {part: numbers_in(page)}
        here = rows_in(text) if part != "all-to-all" else {part: numbers_in(text)}
        wrong += [f"{part}: {row}" for row, numbers in here.items()
                  if len(numbers) != len(there.get(row, [])) or any(abs(a - b) > SAME * b + 0.01 for a, b in zip(numbers, there[row]))]
    if wrong:
        sys.exit(f"incast_table: docs/baselines.md has other numbers for {'; '.join(wrong)}; incast_table.py MRCSIM --write replaces them")


main()
