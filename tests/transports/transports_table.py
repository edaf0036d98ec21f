#!/usr/bin/env python3
"""The table of docs/transports.md: each transport over permutation, incast, all-to-all and ring all-reduce, undisturbed, with loss and with a
failed uplink, on one fabric.

  transports_table.py MRCSIM [--write | --quick] [--jobs N]

Prints the table. --write puts it into docs/transports.md between its marks. --quick runs a few of its cells and compares them with the page, so
that it never says what runs no longer show. Exit code 1 where one differs by more than SAME.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from matrices import write_matrix

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

PAGE = ROOT / "docs/transports.md"
NAME = "transports_table.py"
NODES, RANKS = 64, 32
SAME = 0.02  # of a number: other compilers round differently

FABRIC = ["fabric.nics=64", "fabric.nics_per_t0=8", "nic.ports=1", "nic.port_gbps=400", "fidelity=endpoint", "run.max_time_us=200000",
          "run.stall_us=50000"]
TRANSPORTS = {
    "MRC": ["transport=mrc"],
    "UET, NSCC": ["transport=uet"],
    "UET, credits": ["transport=uet", "uet.congestion=rccc"],
    "UET, both": ["transport=uet", "uet.congestion=both"],
    "RoCEv2, 1 QP": ["transport=rocev2"],
    "RoCEv2, flow scaling over 8 QPs": ["transport=rocev2", "traffic.qps_per_peer=8", "traffic.split_over_qps=true"],
    "RoCEv2, adaptive routing": ["transport=rocev2", "fabric.routing=adaptive", "rocev2.rc.reorder_packets=512"],
}
TRAFFIC = {
    "permutation": ("permutation", 4_000_000),
    "incast": ("incast", 500_000),
    "all-to-all": ("all_to_all", 64_000),
    "all-reduce": (None, "16MiB"),
}
DISTURBED = {
    "": [],
    "loss of 0.1 %": ["fabric.loss_rate=0.001"],
    "failed uplink": ['fault.1={kind = "link_down", where = "plane0.t0.0.up1", at_us = 10}'],
}
QUICK = {("MRC", "permutation", ""), ("UET, NSCC", "permutation", ""), ("UET, credits", "incast", ""), ("UET, NSCC", "all-reduce", "loss of 0.1 %"),
         ("RoCEv2, adaptive routing", "permutation", "")}


def traces(mrcsim, folder):
    """Trace by traffic."""
    paths = {}
    for name, (kind, size) in TRAFFIC.items():
        paths[name] = folder / f"{name}.cm"
        if kind is not None:
            write_matrix(paths[name], kind, NODES, size)
            continue
        paths[name] = folder / "ring.{rank}.et"
        subprocess.run([mrcsim, "trace", "generate", "ring_all_reduce", "--ranks", str(RANKS), "--bytes", size, "--chunk", "512KiB", "--out",
                        str(paths[name])], check=True, capture_output=True)
    return paths


def cell(mrcsim, folder, trace, key):
    """Until all is complete, in us; None where the job fails."""
    transport, traffic, disturbed = key
    scenario = folder / f"{abs(hash(key))}.toml"
    scenario.write_text("", encoding="utf-8")
    out = folder / f"{abs(hash(key))}"
    settings = [f"traffic.trace={trace}", *FABRIC, *TRANSPORTS[transport], *DISTURBED[disturbed]]
    done = subprocess.run([mrcsim, "run", scenario, "--out", out, "--quiet", "--yes", "--set", *settings], capture_output=True, text=True,
                          check=False)
    if not (out / "result.json").exists():
        sys.exit(f"transports_table: {key}: exit code {done.returncode}: {done.stderr}{done.stdout[-1000:]}")
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    if result["messages"]["completed"] != result["messages"]["count"]:
        return None
    return result["simulated_time_us"]


def shown(time):
    return "fails" if time is None else f"{time:,.0f}"


def rows(times):
    lines = []
    for disturbed in DISTURBED:
        lines += [f"\n{'Undisturbed' if not disturbed else disturbed.capitalize()}, us:\n", "| | " + " | ".join(TRAFFIC) + " |",
                  "|---|" + "---|" * len(TRAFFIC)]
        lines += [f"| {transport} | " + " | ".join(shown(times[transport, traffic, disturbed]) for traffic in TRAFFIC) + " |"
                  for transport in TRANSPORTS]
    return "\n".join(lines).strip("\n") + "\n"


def on_page():
    """Shown time by cell."""
    found = {}
    part = page_table.read(PAGE, NAME)
    for disturbed, block in zip(DISTURBED, re.split(r"^[A-Z].*, us:$", part, flags=re.M)[1:]):
        for line in block.strip().splitlines()[2:]:
            words = [word.strip() for word in line.strip("| ").split("|")]
            for traffic, word in zip(TRAFFIC, words[1:]):
                found[words[0], traffic, disturbed] = word
    return found


def differs(time, text):
    if time is None or text == "fails":
        return shown(time) != text
    page = float(text.replace(",", ""))
    return abs(time - page) > SAME * page + 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mrcsim")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    mrcsim = pathlib.Path(options.mrcsim).resolve()
    keys = [(transport, traffic, disturbed) for transport in TRANSPORTS for traffic in TRAFFIC for disturbed in DISTURBED]
    if options.quick:
        keys = [key for key in keys if key in QUICK]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        paths = traces(mrcsim, pathlib.Path(name))
        done = pool.map(lambda key: (key, cell(mrcsim, pathlib.Path(name), paths[key[1]], key)), keys)
        times = dict(done)
    if options.write:
        page_table.write(PAGE, NAME, rows(times))
        return
    page = on_page()
    wrong = [key for key in keys if differs(times[key], page[key])]
    for key in keys:
        print(f"{', '.join(word for word in key if word)}: {shown(times[key])} us, on the page {page[key]}{' DIFFERS' if key in wrong else ''}")
    sys.exit(1 if wrong else 0)


main()
