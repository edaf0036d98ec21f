#!/usr/bin/env python3
"""Messages of 64 bytes per second between two NICs: over the number of QPs, the latency of host memory, and how a WQE and its
payload come to the NIC (read over PCIe, in the doorbell, payload inline too). With --out, writes the table into a file of docs.

Checks that all messages complete, and that few QPs are never slower with WQEs in the doorbell. closed_forms.py has the rate
of few QPs that read their WQEs.

  message_rate.py MRCSIM [--out FILE] [--qps N,N,…] [--latencies NS,NS,…]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import page_table

MESSAGES = 4096
BYTES = 64
PREFETCHED = 64  # WQEs of a QP that the NIC holds, and messages of a QP that are outstanding
BATCH = 4
FEW_QPS = 2  # from four on, boxes limit where memory is fast
WAYS = {
    "read": ("WQE and payload are read", {}),
    "doorbell": ("WQE in the doorbell", {"nic.doorbell.carries_wqe": "true"}),
    "inline": ("WQE and payload in the doorbell", {"nic.doorbell.carries_wqe": "true", "nic.wqe_fetch.inline_bytes": str(BYTES), "nic.wqe_fetch.wqe_bytes": "128"}),
}


class Point:
    def __init__(self, qps, latency_ns, way, rate, cause, complete):
        self.qps, self.latency_ns, self.way, self.rate, self.cause, self.complete = qps, latency_ns, way, rate, cause, complete


def run(mrcsim, folder, qps, latency_ns, way):
    lines = ["start_us,src,dst,bytes,tag"] + [f"0,0,1,{BYTES},{i}" for i in range(MESSAGES)]
    (folder / "messages.csv").write_text("\n".join(lines) + "\n")
    (folder / "pair.toml").write_text('seed = 1\ntraffic.trace = "messages.csv"\nfabric.nics = 2\nhost.payload = "reference"\n')
    settings = {"traffic.qps_per_peer": qps, "traffic.outstanding_messages": min(PREFETCHED * qps, 1024),
                "nic.wqe_fetch.prefetch_depth": PREFETCHED, "nic.wqe_fetch.batch": BATCH, "pcie.read_latency_mean_ns": latency_ns,
                "pcie.read_latency_p99_ns": latency_ns, **WAYS[way][1]}
    command = [mrcsim, "run", folder / "pair.toml", "--quiet", "--out", folder / "out"]
    command += [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"message_rate: exit code {done.returncode}: {done.stderr}")
    result = json.loads((folder / "out/result.json").read_text())
    cause = next((row["cause"] for row in result["limits"] if row["cause"] != "framing"), "framing")
    rate = result["messages"]["completed"] / result["simulated_time_us"]
    return Point(qps, latency_ns, way, rate, cause, result["messages"]["completed"] == MESSAGES)


def table(points):
    latencies = sorted({point.latency_ns for point in points})
    lines = []
    for way, (title, _) in WAYS.items():
        lines += [f"### {title}", "", "| QPs | " + " | ".join(f"{ns} ns" for ns in latencies) + " |", "|---" * (len(latencies) + 1) + "|"]
        for qps in sorted({point.qps for point in points}):
            cells = [next(p for p in points if (p.qps, p.latency_ns, p.way) == (qps, ns, way)) for ns in latencies]
            lines.append(f"| {qps} | " + " | ".join(f"{p.rate:.2f} ({p.cause})" for p in cells) + " |")
        lines.append("")
    return "\n".join(lines).rstrip()


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--qps", type=numbers, default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--latencies", type=numbers, default=[300, 600, 1000, 2000])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        points = [run(args.mrcsim, pathlib.Path(temp), qps, ns, way) for way in WAYS for qps in args.qps for ns in args.latencies]
    failed = [f"{p.qps} QPs, {p.latency_ns} ns, {p.way}: not complete" for p in points if not p.complete]
    rates = {(p.qps, p.latency_ns, p.way): p.rate for p in points}
    for (qps, ns, way), rate in rates.items():
        if way == "read" and qps <= FEW_QPS and rates[qps, ns, "doorbell"] < rate:
            failed.append(f"{qps} QPs, {ns} ns: a WQE in the doorbell makes it slower")
    page_table.show(table(points), args.out)
    for what in failed:
        print(f"message_rate: {what}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
