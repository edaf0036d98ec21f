#!/usr/bin/env python3
"""NICs of 1.6 and 3.2 Tb/s (tb/scenarios/nic_*.toml): that they reach line rate, and what each part must be for it: core, PCIe,
buffers, QPs. With --out, writes the tables into a file of docs, and with --write the smallest sizes into rates.json.

A run is at line rate if its goodput is at least 98 % of what framing leaves. Checks that the presets are, for every seed and in
both directions (where acknowledgements of the other direction are left out); that the clock that a core needs is its closed form,
and goodput over PCIe never above its law; that half of each smallest size is not at line rate; and that no part makes the NIC
slower by more than 0.3 % when it becomes twice as large.

Also that RTL by pins gives the goodput and the cause that SystemC gives, with the width that is too small as with the one that is not.

  rates.py MRCSIM [--out FILE] [--write] [--quick] [--jobs N]
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import page_table

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALLEST = pathlib.Path(__file__).with_name("rates.json")
LINE_RATE = 0.98  # of what framing leaves
SLOWER = 0.003  # of goodput: more than this is not a difference between two runs of the same NIC
SEEDS = (1, 2, 3)
PRESETS = {
    "nic_1600g_8x200": ("8 x 200 Gb/s", 1600, "Gen7 x16", "2,048 bits, 1 GHz"),
    "nic_1600g_4x400": ("4 x 400 Gb/s", 1600, "2 x Gen6 x16", "2,048 bits, 1 GHz"),
    "nic_3200g_8x400": ("8 x 400 Gb/s", 3200, "2 x Gen7 x16", "2,048 bits, 2 GHz"),
    "nic_3200g_2x1600": ("2 x 1,600 Gb/s", 3200, "2 x Gen7 x16", "2,048 bits, 2 GHz"),
}
OF_RATE = {1600: "nic_1600g_8x200", 3200: "nic_3200g_8x400"}
FRAME_BYTES = 4224  # of a full packet under SRv6 in the datapath: without Ethernet
LINK_BYTES = 4262  # with Ethernet, preamble and gap
PAYLOAD = 4096
WIDTHS = (1024, 2048, 4096)
RTL_WIDTHS = (512, 1024, 2048)  # that RTL of srv6_encap is built for
BY_PINS = {"`srv6_encap` in RTL": "srv6_encap@nic0",
           "five blocks in RTL": "srv6_encap@nic0,spray_scheduler@nic0,retransmit_buffer@nic0,psn_tracker@nic1,ack_coalescer@nic1"}
PCIE = [(5, 2), (5, 4), (6, 1), (6, 2), (6, 4), (7, 1), (7, 2)]  # generation, links of 16 lanes
# Parts of both nodes whose smallest size is looked for, the rows of a table.
PARTS = [
    "pcie.read_tags", "pcie.completion_buffer_bytes", "pcie.non_posted_header_credits", "pcie.posted_header_credits",
    "pcie.posted_data_credits", "nic.payload_fetch.queue_entries", "nic.retransmit_buffer.entries", "nic.port.tx_fifo_bytes",
    "nic.rx_staging.bytes", "nic.dma_write.queue_entries", "nic.psn_tracker.bitmap_banks", "nic.psn_tracker.queue_entries",
    "nic.wqe_fetch.prefetch_depth", "protocol.mpr_units", "traffic.outstanding_messages",
]
# Twice of these is another NIC, fabric or task.
LARGER = [part for part in PARTS if not part.startswith(("protocol.", "traffic."))] + ["nic.core_clock_ghz", "nic.datapath_bits", "pcie.links", "pcie.mrrs_bytes"]
QPS = (1, 4, 16, 64)
MESSAGES = {4096: 16384, 16384: 16384, 65536: 4096, 1048576: 256}  # bytes: number in a run
FIFOS = (16384, 32768, 65536, 262144)


class Bench:
    def __init__(self, mrcsim, folder, jobs):
        self.mrcsim, self.folder, self.failed, self.runs = pathlib.Path(mrcsim).resolve(), pathlib.Path(folder), [], itertools.count()
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.listed = {}
        for parameter in json.loads(self.call("params", "--format", "json").stdout):
            self.listed[parameter["name"]] = parameter

    def call(self, *words):
        return subprocess.run([self.mrcsim, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)

    def run(self, preset, settings, seed=1, options=()):
        """The result; None where the scenario's rules refuse the settings."""
        out = self.folder / f"run{next(self.runs)}"
        settings = {"host.payload": "reference", "traffic.rows": 256, **settings}
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        done = self.call("run", f"tb/scenarios/{preset}.toml", "--quiet", "--yes", "--seed", seed, "--out", out, *options, *words)
        if done.returncode == 2:
            return None
        result = json.loads((out / "result.json").read_text())
        shutil.rmtree(out)
        self.check(done.returncode == 0, f"{preset}, {settings}, {options}: exit code {done.returncode}: {done.stderr}")
        if result["messages"]["completed"] != result["messages"]["count"]:
            self.failed.append(f"{preset}, {settings}: not complete")
        return result

    def runs_of(self, points):
        """Results of [(preset, settings, seed)], in that order."""
        return list(self.pool.map(lambda point: self.run(*point), points))

    def value(self, preset, key):
        """Of nic0, or of the run, in `preset`."""
        value = float(json.loads(self.call("params", f"tb/scenarios/{preset}.toml", "--format", "json").stdout)[key])
        return int(value) if value == int(value) else value

    def check(self, holds, what):
        if not holds:
            self.failed.append(what)


def share(result):
    return 0 if result is None else result["goodput_gbps"] / result["framing_limit_gbps"]


def first_cause(result):
    return next(f"`{row['cause']}`" for row in result["limits"] if row["cause"] not in ("framing", "control", "acknowledgement"))


def of(cause, result):
    return sum(row["gbps"] for row in result["limits"] if row["cause"] == cause)


def percent(part):
    return f"{100 * part:.1f} %"


def number(value):
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def table(header, rows):
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *("| " + " | ".join(row) + " |" for row in rows)]


def presets(bench, seeds):
    """Goodput of each preset, one way and both ways."""
    ring = {"traffic.trace": "../../traces/ring_all_reduce_2.{rank}.et", "traffic.byte_scale": 8, "traffic.rows": 0}
    points = [(preset, settings, seed) for preset in PRESETS for settings in ({}, ring) for seed in seeds]
    results = dict(zip(((preset, bool(settings), seed) for preset, settings, seed in points), bench.runs_of(points)))
    rows = []
    for preset, (ports, _, pcie, core) in PRESETS.items():
        one = [results[preset, False, seed] for seed in seeds]
        both = [results[preset, True, seed] for seed in seeds]
        for result in one:
            bench.check(share(result) >= LINE_RATE, f"{preset}: {percent(share(result))} of what framing leaves")
        for result in both:
            left = result["goodput_gbps"] / (result["framing_limit_gbps"] - of("control", result))
            bench.check(left >= LINE_RATE, f"{preset}, both directions: {percent(left)} of what framing and control packets leave")
        goodput = [result["goodput_gbps"] for result in one]
        least = min(share(result) for result in one)
        other = statistics.mean(result["goodput_gbps"] for result in both)
        control = statistics.mean(of("control", result) for result in both)
        rows.append([f"`{preset}.toml`", ports, pcie, core, f"{one[0]['framing_limit_gbps']:,.1f}",
                     f"{statistics.mean(goodput):,.1f} ({min(goodput):,.1f} … {max(goodput):,.1f})", percent(least),
                     f"{other:,.1f} of {one[0]['framing_limit_gbps'] - control:,.1f}"])
    return table(["preset", "ports", "PCIe", "core", "framing leaves, Gb/s", f"goodput, Gb/s, seeds {seeds[0]} to {seeds[-1]}", "share, worst seed",
                  "both directions, each, of what framing and control packets leave"], rows)


def needed_ghz(gbps, bits):
    """Each packet occupies the core for its words; the closed form of the slowest clock at line rate."""
    return LINE_RATE * gbps / (LINK_BYTES * 8) * math.ceil(FRAME_BYTES * 8 / bits)


def smallest_clock(bench, rate, bits):
    """(lowest clock at line rate in steps of 1 %, its result at 5 % less)"""
    settings = {"nic.datapath_bits": bits, "nic.port.tx_fifo_bytes": 32768}
    need = needed_ghz(rate, bits)
    steps = [round(need * (0.94 + 0.01 * step), 4) for step in range(31)]
    low, high = -1, len(steps) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if share(bench.run(OF_RATE[rate], {**settings, "nic.core_clock_ghz": steps[middle]})) >= LINE_RATE:
            high = middle
        else:
            low = middle
    return steps[high], bench.run(OF_RATE[rate], {**settings, "nic.core_clock_ghz": round(steps[high] * 0.95, 4)})


def cores(bench, rates, widths):
    points = [(rate, bits) for rate in rates for bits in widths]
    found = list(bench.pool.map(lambda point: smallest_clock(bench, *point), points))
    rows = []
    for (rate, bits), (clock, below) in zip(points, found):
        need = needed_ghz(rate, bits)
        bench.check(0.98 * need <= clock <= 1.05 * need, f"{rate} Gb/s, {bits} bit: {clock} GHz, arithmetic {need:.2f}")
        rows.append([f"{rate:,} Gb/s", f"{bits:,}", str(math.ceil(FRAME_BYTES * 8 / bits)), f"{need:.2f}", f"{clock:.2f}",
                     f"{percent(share(below))}, {first_cause(below)}"])
    return table(["NIC", "bits", "cycles per packet", "arithmetic, GHz", "lowest clock, GHz", "5 % below it"], rows)


def by_rtl(bench, widths):
    """1.6 Tb/s with the core at 1 GHz: which width is too small, by SystemC and by RTL that sets the pace."""
    ways = {"SystemC": (), **{name: ("--rtl", blocks, "--rtl-timing", "pins") for name, blocks in BY_PINS.items()}}
    rows = []
    for bits in widths:
        settings = {"nic.datapath_bits": bits, "traffic.rows": 64}
        results = list(bench.pool.map(lambda options: bench.run(OF_RATE[1600], settings, 1, options), ways.values()))
        for name, result in zip(ways, results):
            apart = abs(result["goodput_gbps"] / results[0]["goodput_gbps"] - 1)
            same = first_cause(result) == first_cause(results[0])
            bench.check(apart <= 0.01 and same, f"{bits} bit, {name}: {result['goodput_gbps']:.1f} Gb/s, {first_cause(result)}, unlike SystemC")
        rows.append([f"{bits:,}", *(f"{result['goodput_gbps']:,.1f}, {first_cause(result)}" for result in results)])
    return table(["bits", *(f"{name}, Gb/s, first cause" for name in ways)], rows)


def pcie_gbps(generation, links):
    """What reads of payload in completions of 256 B get of a link of 16 lanes (docs/pcie.md); Gen5: of its DLLPs too."""
    if generation >= 6:
        return links * 16 * 2**generation * 236 / 256 * 256 / (256 + 12)
    return links * 16 * 32 * 128 / 130 * (1 - 2 * 8 / 168 - 4 / 1538) * 256 / (256 + 20)


def pcie(bench, rates, kinds):
    points = [(OF_RATE[rate], {"pcie.generation": generation, "pcie.links": links, "pcie.read_tags": min(4096, 768 * links) if generation == 5 else 2048}, 1)
              for generation, links in kinds for rate in rates]
    results = iter(bench.runs_of(points))
    rows = []
    for generation, links in kinds:
        law = pcie_gbps(generation, links)
        cells = []
        for rate in rates:
            result = next(results)
            limit = min(law, result["framing_limit_gbps"])
            bench.check(0.75 * limit <= result["goodput_gbps"] <= 1.005 * limit, f"Gen{generation}, {links} links, {rate}: {result['goodput_gbps']}, law {limit}")
            cause = "" if share(result) >= LINE_RATE else f", {first_cause(result)}"
            bench.check(share(result) >= LINE_RATE or law < 1.1 * result["framing_limit_gbps"], f"Gen{generation}, {links} links, {rate}: {cause}")
            cells.append(f"{result['goodput_gbps']:,.1f} ({percent(share(result))}{cause})")
        rows.append([f"{links} x Gen{generation} x16", f"{law:,.0f}", *cells])
    return table(["links", "for payload that is read, Gb/s", *(f"{rate:,} Gb/s: goodput (share of what framing leaves)" for rate in rates)], rows)


def smallest_size(bench, preset, part):
    """The smallest size that is at line rate with every seed, to 2 %."""
    def holds(size, seed=1):
        return share(bench.run(preset, {part: size}, seed)) >= LINE_RATE
    least, high = int(bench.listed[part]["minimum"]), bench.value(preset, part)
    low = high
    while low > least and holds(low := max(least, low // 2)):
        high = low
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    while not all(holds(high, seed) for seed in SEEDS[1:]):
        high += max(1, high // 50)
    return int(high)


def sizes(bench):
    """{preset: {part: smallest}}"""
    points = [(preset, part) for preset in OF_RATE.values() for part in PARTS]
    found = list(bench.pool.map(lambda point: smallest_size(bench, *point), points))
    return {preset: {part: size for (of_preset, part), size in zip(points, found) if of_preset == preset} for preset in OF_RATE.values()}


def size_rows(bench, found, names):
    points = [(preset, {part: size // 2}, 1) for preset, of_preset in found.items() for part, size in of_preset.items() if part in names and size > 1]
    halves = {(preset, *settings): result for (preset, settings, _), result in zip(points, bench.runs_of(points))}
    rows = []
    for part in names:
        cells = []
        for preset, of_preset in found.items():
            half = halves.get((preset, part))
            lost = "refused" if half is None else f"{percent(share(half))}, {first_cause(half)}"
            bench.check(of_preset[part] <= 1 or share(half) < LINE_RATE, f"{preset}, {part} = {of_preset[part] // 2}: at line rate")
            cells.append(number(of_preset[part]) if of_preset[part] <= 1 else f"{number(of_preset[part])} ({lost})")
        rows.append([f"`{part}`", *cells])
    return table(["both nodes", *(f"{PRESETS[preset][0]}" for preset in found)], rows)


def messages(bench, rates):
    for length, count in MESSAGES.items():
        bench.call("trace", "generate", "flows", "--count", count, "--bytes", length, "--out", bench.folder / f"{length}.csv")
    points = [(OF_RATE[rate], {"traffic.trace": bench.folder / f"{length}.csv", "traffic.rows": 0, "traffic.qps_per_peer": qps, "traffic.outstanding_messages": 1024}, 1)
              for rate in rates for length in MESSAGES for qps in QPS]
    results = iter(bench.runs_of(points))
    rows = []
    for rate in rates:
        for length in MESSAGES:
            cells = []
            for _ in QPS:
                result = next(results)
                lost = result["packets"]["dropped"]
                bench.check(lost == 0 or length < 4 * PAYLOAD, f"{rate} Gb/s, messages of {length} B: {lost} packets are dropped")
                cells.append(percent(share(result)) + ("" if share(result) >= LINE_RATE else f", {first_cause(result)}"))
            rows.append([f"{rate:,} Gb/s", f"{length // 1024:,} KiB", *cells])
    return table(["NIC", "message", *(f"{qps} QP{'s' if qps > 1 else ''}" for qps in QPS)], rows)


def larger(bench):
    """What twice of each part does, over the seeds."""
    keys = [(preset, None) for preset in PRESETS] + [(preset, part) for preset in PRESETS for part in LARGER]
    points, skipped = [], set()
    for preset, part in keys:
        now = None if part is None else bench.value(preset, part)
        twice = None if part is None else 2 * now
        if part is not None and twice > bench.listed[part]["maximum"]:
            skipped.add((preset, part))
            continue
        points += [(preset, {} if part is None else {part: twice}, seed) for seed in SEEDS]
    results = {}
    for (preset, settings, seed), result in zip(points, bench.runs_of(points)):
        results[preset, next(iter(settings), None), seed] = result["goodput_gbps"]
    rows = []
    for part in LARGER:
        cells = []
        for preset in PRESETS:
            if (preset, part) in skipped:
                cells.append("-")
                continue
            change = [results[preset, part, seed] / results[preset, None, seed] - 1 for seed in SEEDS]
            bench.check(min(change) >= -SLOWER, f"{preset}: twice {part} changes goodput by {100 * min(change):.2f} %")
            cells.append(f"{100 * min(change):+.2f} … {100 * max(change):+.2f}")
        rows.append([f"`{part}`", *cells])
    return table(["twice as much of", *(f"{PRESETS[preset][0]}, %" for preset in PRESETS)], rows)


def fifos(bench):
    """A FIFO that makes it slower: why. The core has barely enough cycles."""
    slow = {"nic.core_clock_ghz": 1, "nic.datapath_bits": 4096, "pcie.completion_buffer_bytes": 1 << 20, "nic.payload_fetch.queue_entries": 256}
    kinds = {"as it is": {}, "`protocol.sack_threshold_bytes=65536`": {"protocol.sack_threshold_bytes": 65536},
             "`nic.core_clock_ghz=1.5`": {"nic.core_clock_ghz": 1.5}}
    points = [("nic_3200g_8x400", {**slow, **kind, "nic.port.tx_fifo_bytes": fifo}, 1) for kind in kinds.values() for fifo in FIFOS]
    results = iter(bench.runs_of(points))
    rows = []
    for name in kinds:
        cells = []
        for _ in FIFOS:
            result = next(results)
            cells.append(f"{result['goodput_gbps']:,.1f} ({of('sram.retransmit_buffer.records', result):.1f})")
        rows.append([name, *cells])
    return table(["", *(f"FIFO of {fifo // 1024} KiB" for fifo in FIFOS)], rows)


def pages(bench, write):
    rates = list(OF_RATE)
    lines = ["### The presets", "", *presets(bench, SEEDS)]
    lines += ["", "### The core", "", *cores(bench, rates, WIDTHS)]
    lines += ["", "1.6 Tb/s, 64 messages, 1 GHz, with RTL by pins:", "", *by_rtl(bench, RTL_WIDTHS)]
    lines += ["", "### PCIe", "", *pcie(bench, rates, PCIE)]
    found = sizes(bench)
    if write:
        SMALLEST.write_text(json.dumps(found, indent=2) + "\n")
    lines += ["", "### Buffers, credits, queues", "", *size_rows(bench, found, PARTS)]
    lines += ["", "### Messages and QPs", "", *messages(bench, rates)]
    lines += ["", "### Twice as large", "", *larger(bench), "", *fifos(bench)]
    return "\n".join(lines)


def quick(bench):
    """A part of each table. The smallest sizes are those of the file."""
    found = json.loads(SMALLEST.read_text())
    one = {preset: found[preset] for preset in OF_RATE.values()}
    names = ["pcie.read_tags", "pcie.completion_buffer_bytes"]
    lines = [*presets(bench, SEEDS[1:2]), "", *cores(bench, [3200], [2048]), "", *pcie(bench, [1600], [(6, 1), (7, 1)])]
    lines += ["", *by_rtl(bench, [1024])]
    return "\n".join([*lines, "", *size_rows(bench, one, names)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="write rates.json")
    parser.add_argument("--quick", action="store_true", help="a part of each table")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        bench = Bench(args.mrcsim, temp, args.jobs)
        page_table.show(quick(bench) if args.quick else pages(bench, args.write), args.out)
    for what in bench.failed:
        print(f"rates: {what}", file=sys.stderr)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
