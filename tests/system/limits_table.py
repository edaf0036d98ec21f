#!/usr/bin/env python3
"""The tables of docs/limits.md that single runs give: steady state, message size times QPs, a faster core, small packets into a slow
receiver, QPs of a receiver with one context, QPs of a sender with a few. smallest_buffers.py has the other one.

    tests/system/limits_table.py MRCSIM [--write | --quick]

--write puts them into the page between their marks. Otherwise compares them with the page, with --quick the short ones only. Exit
code 1 where a number differs by more than SAME, or a cause does.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

PAGE = ROOT / "docs/limits.md"
SAME = 0.01  # of a number: other compilers round differently
SIZES = {"256 B": 256, "1 KiB": 1 << 10, "4 KiB": 1 << 12, "16 KiB": 1 << 14, "64 KiB": 1 << 16, "1 MiB": 1 << 20}
QPS = (1, 16, 256, 4096)
OUTSTANDING = 512
ROWS = "host.payload=reference traffic.rows=64"
AT_1600G = f"{ROWS} nic.port_gbps=200"
CHANGES = ("", "nic.core_clock_ghz=2", "nic.port.tx_fifo_bytes=131072 nic.rx_staging.bytes=1048576",
           "nic.core_clock_ghz=2 pcie.read_latency_p99_ns=1000",
           "nic.core_clock_ghz=2 pcie.completion_buffer_bytes=1048576 nic.payload_fetch.queue_entries=256",
           "nic.core_clock_ghz=2 pcie.mrrs_bytes=4096")
PACKETS = (256, 512, 1024, 2048, 4096)
PACKET_OF_EACH_QP = ("host.payload=reference traffic.rows=256 traffic.byte_scale=0.0625 traffic.qps_per_peer=64 "
                     "nic.qp_scheduler.quantum_bytes=4096")
ONE_CONTEXT = f"{PACKET_OF_EACH_QP} node.nic1.nic.qp_scheduler.context_cache_entries=1"
WAITING = (1, 2, 4, 8, 16, 32)
CONTEXTS = (1, 4, 8, 16, 24, 32, 64)


class Runner:
    def __init__(self, mrcsim, folder):
        self.mrcsim, self.folder = mrcsim, folder

    def call(self, *words):
        subprocess.run([self.mrcsim, *map(str, words)], cwd=ROOT, check=True, capture_output=True)

    def run(self, settings, scenario="pair"):
        self.call("run", f"tb/scenarios/{scenario}.toml", "--quiet", "--out", f"{self.folder}/out",
                  *(word for setting in settings.split() for word in ("--set", setting)))
        return json.loads(pathlib.Path(f"{self.folder}/out/result.json").read_text(encoding="utf-8"))

    def trace(self, name, *words):
        path = self.folder / name
        if not (self.folder / name.replace("{rank}", "0")).exists():
            self.call("trace", "generate", *words, "--out", path)
        return f"traffic.trace={path}"


def limit_of(result, overhead=("framing",)):
    """Goodput, and what the overhead leaves of the line."""
    goodput = result["goodput_gbps"]
    taken = sum(l["gbps"] for l in result["limits"] if l["cause"] in overhead)
    return goodput, result["line_rate_gbps"] * goodput / (goodput + taken)


def causes_of(result):
    return [(l["cause"], l["gbps"]) for l in result["limits"] if l["cause"] != "framing"]


def size_cell(runner, size, qps):
    count = max(64, min(8192, (16 << 20) // size))
    trace = runner.trace(f"flows{size}.csv", "flows", "--count", count, "--bytes", size)
    result = runner.run(f"{trace} traffic.qps_per_peer={qps} traffic.outstanding_messages={OUTSTANDING} "
                        "host.payload=reference protocol.path_table_scope=destination")
    goodput, limit = limit_of(result)
    return f"{goodput:.1f} of {limit:.1f}, {causes_of(result)[0][0]}"


def message_sizes(runner):
    lines = ["| message | " + " | ".join(f"{qps:,} QP{'s' if qps > 1 else ''}" for qps in QPS) + " |", "|---|" + "---|" * len(QPS)]
    lines += [f"| {name} | " + " | ".join(size_cell(runner, size, qps) for qps in QPS) + " |" for name, size in SIZES.items()]
    return lines


def steady_state(runner):
    small = runner.trace("ring.{rank}.et", "ring_all_reduce", "--ranks", 2, "--bytes", "128MiB", "--chunk", "32KiB")
    rows = [("`pair.toml`: one direction, aligned", "pair", "", "framing"),
            ("`pair.toml --set traffic.offset_bytes=64`", "pair", "traffic.offset_bytes=64", "framing"),
            ("`ring.toml --set traffic.byte_scale=4`: both directions, messages of 4 MiB", "ring", "traffic.byte_scale=4",
             "framing, and the acknowledgements of the other direction"),
            ("the same with `traffic.offset_bytes=64`", "ring", "traffic.byte_scale=4 traffic.offset_bytes=64", ""),
            ("both directions, messages of 32 KiB (`LineRateOfSmallMessages`)", "ring", f"{small} traffic.outstanding_messages=256", ""),
            ("`pair.toml --set nic.port_gbps=200`: 1.6 Tb/s with the default core and PCIe", "pair", "nic.port_gbps=200", None)]
    lines = ["| run | goodput, Gb/s | line without framing and control packets, Gb/s | cause of the limit |", "|---|---|---|---|"]
    for name, scenario, settings, cause in rows:
        result = runner.run(f"host.payload=reference {settings}", scenario)
        shown = cause if cause is not None else ", ".join(f"{c} {gbps:.1f}" for c, gbps in causes_of(result)[:3])
        goodput, limit = limit_of(result, ("framing", "control"))
        lines.append(f"| {name} | {goodput:.1f} | {limit:,.1f} | {shown} |")
    return lines


def faster_core(runner):
    lines = ["| change | goodput, Gb/s |", "|---|---|"]
    for change in CHANGES:
        goodput = runner.run(f"{AT_1600G} {change}")["goodput_gbps"]
        lines.append(f"| {f'`{change}`' if change else 'none'} | {goodput:.1f} |")
    return lines


def small_packets(runner):
    results = [runner.run(f"{ROWS} node.nic1.pcie.generation=4 protocol.mtu_bytes={size}") for size in PACKETS]
    shares = [100 * r["packets"]["retransmitted"] / r["packets"]["sent"] for r in results]
    return ["| `protocol.mtu_bytes` | " + " | ".join(f"{size:,}" for size in PACKETS) + " |", "|---|" + "---|" * len(PACKETS),
            "| goodput, Gb/s | " + " | ".join(f"{r['goodput_gbps']:.1f}" for r in results) + " |",
            "| retransmitted, share of packets sent | " + " | ".join(f"{share:.1f} %" for share in shares) + " |"]


def one_context(runner):
    goodputs = [runner.run(f"{ONE_CONTEXT} nic.psn_tracker.context_wait_entries={n}")["goodput_gbps"] for n in WAITING]
    return ["| `nic.psn_tracker.context_wait_entries` | " + " | ".join(map(str, WAITING)) + " |", "|---|" + "---|" * len(WAITING),
            "| goodput, Gb/s | " + " | ".join(f"{goodput:.1f}" for goodput in goodputs) + " |"]


def few_contexts(runner):
    key = "nic.qp_scheduler.context_cache_entries"
    goodputs = [runner.run(f"{PACKET_OF_EACH_QP} node.nic0.{key}={n}")["goodput_gbps"] for n in CONTEXTS]
    return [f"| `{key}` | " + " | ".join(map(str, CONTEXTS)) + " |", "|---|" + "---|" * len(CONTEXTS),
            "| goodput, Gb/s | " + " | ".join(f"{goodput:.1f}" for goodput in goodputs) + " |"]


PARTS = {"message sizes": message_sizes, "steady state": steady_state, "faster core": faster_core, "small packets": small_packets,
         "one context": one_context, "few contexts": few_contexts}
QUICK = ("message sizes", "faster core", "one context", "few contexts")


NUMBER = re.compile(r"(?<![\w.=])\d[\d,]*\.?\d*")


def same(here, there):
    """Equal words, and numbers that are nearly equal."""
    if NUMBER.sub("#", here) != NUMBER.sub("#", there):
        return False
    numbers = [[float(n.replace(",", "")) for n in NUMBER.findall(text)] for text in (here, there)]
    return all(abs(a - b) <= SAME * abs(b) + 0.1 for a, b in zip(*numbers))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    wrong = []
    for name in QUICK if options.quick else PARTS:
        with tempfile.TemporaryDirectory() as folder:
            made = "\n".join(PARTS[name](Runner(options.mrcsim.resolve(), pathlib.Path(folder)))) + "\n"
        print(made, flush=True)
        if options.write:
            page_table.write(PAGE, name, made)
            continue
        page = page_table.read(PAGE, name)
        if len(made.splitlines()) != len(page.splitlines()):
            wrong.append(f"{name}: another number of rows")
        wrong += [f"{name}: {here} (the page has {there})" for here, there in zip(made.splitlines(), page.splitlines())
                  if not same(here, there)]
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        sys.exit("limits_table: docs/limits.md has other figures; limits_table.py MRCSIM --write replaces them")


if __name__ == "__main__":
    main()
