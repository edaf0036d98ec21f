#!/usr/bin/env python3
"""Message size times QPs: what a NIC with the default parameters reaches one way, what framing leaves, and the first
cause of the difference. Prints a table of docs/limits.md.

    tests/system/limits_table.py MRCSIM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = {"256 B": 256, "1 KiB": 1 << 10, "4 KiB": 1 << 12, "16 KiB": 1 << 14, "64 KiB": 1 << 16, "1 MiB": 1 << 20}
QPS = (1, 16, 256, 4096)
OUTSTANDING = 512


def run(mrcsim, folder, size, qps):
    count = max(64, min(8192, (16 << 20) // size))
    trace = f"{folder}/flows.csv"
    subprocess.run([mrcsim, "trace", "generate", "flows", "--count", str(count), "--bytes", str(size), "--out", trace],
                   cwd=ROOT, check=True, capture_output=True)
    settings = [f"traffic.trace={trace}", f"traffic.qps_per_peer={qps}", f"traffic.outstanding_messages={OUTSTANDING}",
                "host.payload=reference", "protocol.path_table_scope=destination"]
    words = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([mrcsim, "run", "tb/scenarios/pair.toml", "--quiet", "--out", f"{folder}/out", *words], cwd=ROOT,
                   check=True)
    return json.loads(pathlib.Path(f"{folder}/out/result.json").read_text())


def cell(result):
    goodput = result["goodput_gbps"]
    lost = {l["cause"]: l["gbps"] for l in result["limits"]}
    limit = result["line_rate_gbps"] * goodput / (goodput + lost.pop("framing"))
    cause = max(lost, key=lost.get)
    return f"{goodput:.1f} of {limit:.1f}, {cause}"


def main():
    mrcsim = str(pathlib.Path(sys.argv[1]).resolve())
    print("| message | " + " | ".join(f"{qps:,} QP{'s' if qps > 1 else ''}" for qps in QPS) + " |")
    print("|---|" + "---|" * len(QPS))
    for name, size in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {name} | " + " | ".join(cell(run(mrcsim, folder, size, qps)) for qps in QPS) + " |", flush=True)


if __name__ == "__main__":
    main()
