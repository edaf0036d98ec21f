#!/usr/bin/env python3
"""Measured hosts: fits a preset to each machine of the pcie-bench study and compares what mrcsim pcie predicts with the
measurements.

    hosts.py MRCSIM FOLDER --fit                  writes tb/hosts/*.toml from the files in FOLDER
    hosts.py MRCSIM FOLDER --out docs/hosts.md    predicts with them and writes the page
    hosts.py MRCSIM FOLDER --check                predicts, and fails where a machine misses its score unexpectedly
    hosts.py MRCSIM --summary                     predicts the figures in tests/hosts/published.json, without FOLDER

FOLDER is a copy of the repository pcie-bench/data (environment: MRCSIM_PCIE_BENCH). Without it: exit code 77.
"""
import argparse
import csv
import io
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESETS = ROOT / "tb/hosts"
TRANSFERS = 4000
LINE = 64

# Folder names of the study without their common beginning; the first is the one that the preset is fitted to.
MACHINES = {
    "bdw_xeon_e5_2630v4": ["bdw-Xeon-E5-2630v4-dell-t430-s0-s0-s0", "bdw-Xeon-E5-2630v4-dell-t430-s0-s0-s0-iommu-nosp",
                           "bdw-Xeon-E5-2630v4-dell-t430-s0-s0-s1", "bdw-Xeon-E5-2630v4-dell-t430-s0-s1-s0",
                           "bdw-Xeon-E5-2630v4-dell-t430-s0-s1-s1", "bdw-Xeon-E5-2630v4-dell-t430-s0-s1-s1-iommu-nosp"],
    "hsw_xeon_e5_2620v3": ["hsw-Xeon-E5-2620v3_dell-t630", "hsw-Xeon-E5-2620v3_dell-t630-iommu",
                           "hsw-Xeon-E5-2620v3_dell-t630-iommu-nosp"],
    "hsw_xeon_e5_2637v3": ["hsw-Xeon-E5-2637v3_supermicro", "hsw-Xeon-E5-2637v3_supermicro-iommu-nosp"],
    "ib_xeon_e5_2620v2": ["ib-Xeon-E5-2620v2_dell-t620-s0-s0-s0", "ib-Xeon-E5-2620v2_dell-t620-s0-s0-s0-iommu",
                          "ib-Xeon-E5-2620v2_dell-t620-s0-s0-s0-iommu-nosp", "ib-Xeon-E5-2620v2_dell-t620-s0-s1-s1",
                          "ib-Xeon-E5-2620v2_dell-t620-s0-s1-s1-iommu",
                          "ib-Xeon-E5-2620v2_dell-t620-s0-s1-s1-iommu-nosp"],
    "snb_xeon_e5_2630": ["snb-Xeon-E5-2630_dell-t620", "snb-Xeon-E5-2630_dell-t620-iommu"],
}
# Its latencies have a tail of milliseconds that no part of the machine explains (the study, section 6.2).
NOT_FITTED = {"hsw_xeon_e3_1226v3": ["hsw-Xeon-E3-1226v3_fujitsu-tx1310", "hsw-Xeon-E3-1226v3_fujitsu-tx1310-iommu-nosp"]}
# Last-level cache and its ways, from the processors' data sheets.
CACHES = {"bdw_xeon_e5_2630v4": (25 << 20, 20), "hsw_xeon_e5_2620v3": (15 << 20, 20),
          "hsw_xeon_e5_2637v3": (15 << 20, 20), "ib_xeon_e5_2620v2": (15 << 20, 20), "snb_xeon_e5_2630": (15 << 20, 20)}
IOMMU_FROM = "bdw-Xeon-E5-2630v4-dell-t430-s0-s0-s0-iommu-nosp"
BANDWIDTH = {"BW_DMA_RD": "read_bandwidth", "BW_DMA_WR": "write_bandwidth", "BW_DMA_RW": "mixed_bandwidth"}
LATENCY = {"LAT_DMA_RD": "read_latency", "LAT_DMA_WRRD": "write_read_latency"}
PATTERNS = {"Rand": "random", "Seq": "sequential"}


def third(values):
    """Every third of the sorted values: what a preset is fitted to."""
    return sorted(set(values))[::3]


# --- The files of the study ------------------------------------------------------------------------------------------

class Point:
    """One measured value."""

    def __init__(self, kind, test, pattern, cache, window, size, value):
        self.kind, self.test, self.pattern, self.cache = kind, test, pattern, cache
        self.window, self.size, self.value = window, size, value
        self.predicted = self.bound = None

    def error(self):
        return self.predicted / self.value - 1


def csv_rows(folder, name):
    path = folder / name
    if not path.exists():
        return []
    with path.open() as file:
        return [row for row in csv.reader(file) if row and row[0] != "Test"]


def bandwidth_points(folder):
    names = ["bw_dma_sz_sweep.csv"] + [f"bw_dma_win_sweep_{way}_rnd_{size}.csv" for way in ("rd", "wr")
                                       for size in (64, 128, 256, 512)]
    points = []
    for name in names:
        for row in csv_rows(folder, name):
            if row[2] not in ("Cold", "HWarm") or row[0] not in BANDWIDTH:
                continue
            points.append(Point("gbps", BANDWIDTH[row[0]], PATTERNS[row[1]], "warm" if row[2] == "HWarm" else "cold",
                                int(float(row[5])), int(row[6]), float(row[11])))
    return points


def latency_points(folder):
    points = []
    for name in ("lat_dma_sizes.csv", "lat_dma_sweep_rd_rnd_64.csv", "lat_dma_sweep_wrrd_rnd_64.csv"):
        for row in csv_rows(folder, name):
            if row[2] not in ("Cold", "HWarm"):
                continue
            points.append(Point("median", LATENCY[row[0]], PATTERNS[row[1]], "warm" if row[2] == "HWarm" else "cold",
                                int(float(row[5])), int(row[6]), float(row[16])))
    return points + tail_points(folder)


def distributions(folder):
    """(test, size, window, cache) -> [(ns, share)]"""
    found, rows = {}, None
    path = folder / "lat_dma_details_cdf.dat"
    if not path.exists():
        return {}
    for line in path.read_text().splitlines():
        if line.startswith("#test"):
            words = dict(word.split("=") for word in line[1:].split())
            key = (words["test"], int(words["trans_sz"]), int(words["win_sz"]),
                   "warm" if words["cache"] == "hwarm" else "cold")
            rows = found[key] = []
        elif line.strip() and not line.startswith("#") and rows is not None:
            rows.append((float(line.split()[1]), float(line.split()[2])))
    return {key: rows for key, rows in found.items() if rows}


def quantile(rows, share):
    return next(ns for ns, below in rows if below >= share)


def tail_points(folder):
    return [Point("p99", LATENCY[test], "random", cache, window, size, quantile(rows, 0.99))
            for (test, size, window, cache), rows in distributions(folder).items()]


# --- The model -------------------------------------------------------------------------------------------------------

def model(mrcsim, preset, settings, test, pattern, cache, windows, sizes):
    """Rows of `mrcsim pcie` by (window, size)."""
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    text = subprocess.run(
        [mrcsim, "pcie", *([str(preset)] if preset else []), *words, "--test", test, "--pattern", pattern, "--cache",
         cache, "--window", ",".join(map(str, windows)), "--bytes", ",".join(map(str, sizes)), "--transfers",
         str(TRANSFERS), "--format", "csv"], check=True, capture_output=True, text=True).stdout
    return {(int(row["window_bytes"]), int(row["bytes"])): row for row in csv.DictReader(io.StringIO(text))}


def configuration_settings(name):
    """What a configuration's name says of the host."""
    settings = {}
    if name.endswith("-iommu-nosp"):
        settings["host.iommu.iotlb_entries"] = IOTLB_ENTRIES
    elif name.endswith("-iommu") and name.startswith("snb"):
        settings["host.iommu.iotlb_entries"] = IOTLB_ENTRIES  # its IOMMU has no larger pages
    elif name.endswith("-iommu"):
        settings.update({"host.iommu.iotlb_entries": IOTLB_ENTRIES, "host.iommu.page_bytes": 2 << 20})
    if "-s0-s1-" in name:
        settings["host.numa.remote_share"] = 1
    return settings


def found_warm(name):
    """Software at the other socket warms its own cache, not the one that the card's accesses find."""
    return not name.replace("-iommu", "").replace("-nosp", "").endswith("-s1")


IOTLB_ENTRIES = 64


def predict(mrcsim, machine, name, points, card):
    """Fills in what the model and the card's own limits say for each point."""
    groups = {}
    for point in points:
        cache = point.cache if found_warm(name) else "cold"
        groups.setdefault((point.test, point.pattern, cache), []).append(point)
    settings = configuration_settings(name)
    for (test, pattern, cache), members in groups.items():
        by_windows = {}
        for point in members:
            by_windows.setdefault(tuple(sorted({p.window for p in members if p.size == point.size})), set()).add(point.size)
        rows = {}
        for windows, sizes in by_windows.items():
            fitting = [w for w in windows if w >= max((s + LINE - 1) // LINE * LINE for s in sizes)]
            rows.update(model(mrcsim, PRESETS / f"{machine}.toml", settings, test, pattern, cache, fitting,
                              sorted(sizes)))
        for point in members:
            if (point.window, point.size) in rows:
                fill(point, rows[point.window, point.size], card)


def fill(point, row, card):
    if point.kind == "gbps":
        point.bound = float(row["link_gbps"])
        point.predicted = float(row["gbps"])
        if point.test != "read_bandwidth":
            point.predicted = min(point.predicted, 8 * point.size / card_write_ns(point.size, card))
        return
    ways = 2 if point.test == "write_read_latency" else 1
    point.predicted = float(row["median_ns" if point.kind == "median" else "p99_ns"]) + \
        ways * card["copy_ns_per_byte"] * point.size


def card_write_ns(size, card):
    return card["write_ns_per_128_bytes"] * math.ceil(size / 128)


# --- Fit -------------------------------------------------------------------------------------------------------------

BASE = {"pcie.generation": 3, "pcie.lanes": 8, "pcie.read_tags": 32, "pcie.mps_bytes": 256, "pcie.mrrs_bytes": 512, "pcie.rcb_bytes": 64,
        "pcie.completion_split": "first_rcb", "pcie.completion_buffer_bytes": 1 << 20,
        "pcie.non_posted_header_credits": 256, "pcie.posted_header_credits": 256, "pcie.posted_data_credits": 4096}


def least_squares(xs, ys):
    """Slope and value at 0."""
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)
    return slope, my - slope * mx


def fit_latency(mrcsim, points, tails):
    """Read latency of host and card, its spread, and the card's copy."""
    reads = [p for p in points if p.kind == "median" and p.test == "read_latency" and p.pattern == "sequential"]
    sizes = third(p.size for p in reads)
    settings = BASE | {"pcie.read_latency_mean_ns": 500, "pcie.read_latency_p99_ns": 500, "host.cache.bytes": 20 * 64 * 4096}
    rows = model(mrcsim, None, settings, "read_latency", "sequential", "warm", [8192], sizes)
    measured = {p.size: p.value for p in reads}
    slope, at_0 = least_squares(sizes, [measured[s] - float(rows[8192, s]["median_ns"]) for s in sizes])
    median = 500 + at_0
    rows_of_64 = tails["LAT_DMA_RD", 64, 8192, "warm"]
    scale = max(1.0, quantile(rows_of_64, 0.99) - quantile(rows_of_64, 0.5)) / (math.log(100) - math.log(2))
    mean = median + scale * (1 - math.log(2))
    cold = tails["LAT_DMA_RD", 64, 8192, "cold"]
    spread = scale * (math.log(100) - 1)
    tail = quantile(cold, 0.99) - quantile(cold, 0.5)
    return {"copy_ns_per_byte": slope, "mean": mean, "p99": mean + spread, "sizes": sizes,
            "miss": quantile(cold, 0.5) - quantile(rows_of_64, 0.5), "refresh": tail + 0.01 * 7800}


def fit_write_latency(mrcsim, points, settings, copy):
    measured = {p.size: p.value for p in points if p.kind == "median" and p.test == "write_read_latency" and p.pattern == "sequential"}
    sizes = third(measured)
    guess = 700.0
    for _ in range(2):
        rows = model(mrcsim, None, settings | {"pcie.write_latency_ns": f"{guess:.1f}"}, "write_read_latency", "sequential", "warm",
                     [8192], sizes)
        guess += statistics.median(measured[s] - 2 * copy * s - float(rows[8192, s]["median_ns"]) for s in sizes)
    return guess


def fit_tags(mrcsim, points, settings):
    """The number of reads that the card has under way."""
    measured = {p.size: p.value for p in points if p.test == "read_bandwidth" and p.cache == "warm" and p.window == 8192}
    sizes = [s for s in third(measured) if s <= 8192]
    best = None
    for tags in range(24, 49):
        rows = model(mrcsim, None, settings | {"pcie.read_tags": tags}, "read_bandwidth", "random", "warm", [8192], sizes)
        scored = [s for s in sizes if measured[s] < 0.95 * float(rows[8192, s]["link_gbps"])]
        error = statistics.median(abs(float(rows[8192, s]["gbps"]) / measured[s] - 1) for s in scored)
        best = min(best or (error, tags), (error, tags))
    return best[1]


def fit_card_writes(mrcsim, points):
    measured = {p.size: p.value for p in points if p.test == "write_bandwidth" and p.window == 8192 and p.cache == "warm"}
    sizes = third(measured)
    rows = model(mrcsim, None, BASE | {"host.cache.bytes": 20 * 64 * 4096}, "write_bandwidth", "random", "warm", [8192], sizes)
    below = [s for s in sizes if measured[s] < 0.95 * float(rows[8192, s]["link_gbps"])]
    return statistics.median(8 * s / measured[s] / math.ceil(s / 128) for s in below)


def fit_walk(mrcsim, folder, settings, copy):
    """Walkers and the time of a walk, for all machines: from a third of the windows of one configuration, their rates and
    latencies."""
    own = folder / f"nfp6000-1.2GHz_{IOMMU_FROM}"
    rates = {p.window: p.value for p in bandwidth_points(own)
             if p.test == "read_bandwidth" and p.size == 64 and p.cache == "cold" and p.window > 8192}
    medians = {p.window: p.value for p in latency_points(own)
               if p.kind == "median" and p.test == "read_latency" and p.pattern == "random" and p.cache == "cold"}
    best = None
    for walkers in range(4, 8):
        busy = 64 * 8 / min(rates.values()) * walkers
        for walk in (round(busy * share) for share in (0.97, 1.0, 1.03)):
            given = settings | {"host.iommu.iotlb_entries": IOTLB_ENTRIES, "host.iommu.walkers": walkers,
                                "host.iommu.walk_ns": walk}
            errors_of_rates = relative(mrcsim, given, "read_bandwidth", {w: rates[w] for w in third(rates)}, "gbps", 0)
            errors_of_medians = relative(mrcsim, given, "read_latency", {w: medians[w] for w in third(medians)}, "median_ns",
                                         64 * copy)
            error = statistics.median(errors_of_rates) + statistics.median(errors_of_medians)
            best = min(best or (error, walkers, walk), (error, walkers, walk))
    return best[1], float(best[2])


def relative(mrcsim, settings, test, measured, column, added):
    rows = model(mrcsim, None, settings, test, "random", "cold", sorted(measured), [64])
    return [abs((float(rows[w, 64][column]) + added) / measured[w] - 1) for w in measured]


def write_preset(machine, settings, card, fitted_to):
    lines = [f"# Host of the pcie-bench study: nfp6000-1.2GHz_{fitted_to}.",
             "# Written by tests/hosts/hosts.py --fit, from a third of the sizes of this configuration; what is on another socket",
             "# or behind an IOMMU is a setting (docs/hosts.md). The read latency includes that of the study's card."]
    lines += [f"# card.{key} = {value:.4g}" for key, value in card.items()]
    sections = {}
    for key, value in settings.items():
        section, name = key.rsplit(".", 1)
        text = f'"{value}"' if isinstance(value, str) else f"{value:.1f}" if isinstance(value, float) else str(value)
        sections.setdefault(section, []).append(f"{name} = {text}")
    for section, rows in sections.items():
        lines += ["", f"[{section}]", *rows]
    (PRESETS / f"{machine}.toml").write_text("\n".join(lines) + "\n")


def card_of(machine):
    """The card's own limits, kept as comments of its preset."""
    card = {}
    for line in (PRESETS / f"{machine}.toml").read_text().splitlines():
        if line.startswith("# card."):
            key, value = line[7:].split(" = ")
            card[key] = float(value)
    return card


def fit(mrcsim, folder):
    walk = None
    for machine, names in MACHINES.items():
        own = folder / f"nfp6000-1.2GHz_{names[0]}"
        points = bandwidth_points(own) + latency_points(own)
        latency = fit_latency(mrcsim, points, distributions(own))
        cache, ways = CACHES[machine]
        settings = BASE | {"pcie.read_latency_mean_ns": latency["mean"],
                           "pcie.read_latency_p99_ns": latency["p99"], "pcie.write_latency_ns": 700.0,
                           "host.cache.bytes": cache, "host.cache.ways": ways, "host.cache.ddio_ways": 2,
                           "host.cache.miss_ns": float(latency["miss"]), "host.memory.refresh_ns": float(latency["refresh"]),
                           "host.numa.remote_ns": 100.0}
        settings["pcie.write_latency_ns"] = fit_write_latency(mrcsim, points, settings, latency["copy_ns_per_byte"])
        settings["pcie.read_tags"] = fit_tags(mrcsim, points, settings)
        if walk is None:
            walk = fit_walk(mrcsim, folder, settings, latency["copy_ns_per_byte"])
        settings |= {"host.iommu.walkers": walk[0], "host.iommu.walk_ns": walk[1]}
        card = {"copy_ns_per_byte": latency["copy_ns_per_byte"], "write_ns_per_128_bytes": fit_card_writes(mrcsim, points)}
        write_preset(machine, settings, card, names[0])
        print(machine, {k: v for k, v in settings.items() if k not in BASE}, card, flush=True)


# --- Scores ----------------------------------------------------------------------------------------------------------

class Score:
    """The points of a configuration that its preset has not seen."""

    def __init__(self, name, points, own):
        self.name = name
        filled = [p for p in points if p.predicted is not None]
        seen = self.seen(points, own)
        self.gbps = [p for p in filled if p.kind == "gbps" and p.value < 0.95 * p.bound and p not in seen]
        self.rest = [p for p in filled if p.kind == "gbps" and p not in self.gbps]
        self.median = [p for p in filled if p.kind == "median" and p not in seen]
        self.p99 = [p for p in filled if p.kind == "p99" and p not in seen]

    def seen(self, points, own):
        """What fit() looks at, or more."""
        windows_of_rates = third(p.window for p in points if p.kind == "gbps" and p.window > 8192)
        windows_of_latencies = third(p.window for p in points if p.kind == "median" and p.pattern == "random")
        sizes_of_rates = third(p.size for p in points if p.kind == "gbps" and p.window == 8192)
        sizes_of_latencies = third(p.size for p in points if p.kind == "median" and p.pattern == "sequential")

        def by_window(p):
            of_rates = p.kind == "gbps" and p.test == "read_bandwidth" and p.window in windows_of_rates
            of_latencies = p.kind == "median" and p.test == "read_latency" and p.window in windows_of_latencies
            return p.size == 64 and p.cache == "cold" and p.pattern == "random" and (of_rates or of_latencies)

        def by_size(p):
            of_rates = p.kind == "gbps" and p.window == 8192 and p.cache == "warm" and p.size in sizes_of_rates
            of_latencies = p.kind == "median" and p.pattern == "sequential" and p.size in sizes_of_latencies
            of_tails = p.kind == "p99" and p.size == 64 and p.window == 8192
            return of_rates or of_latencies or of_tails

        chosen = by_window if self.name == IOMMU_FROM else by_size if own else lambda p: False
        return {p for p in points if chosen(p)}


def errors(points):
    return sorted(abs(p.error()) for p in points)


def middle(points):
    return statistics.median(errors(points)) if points else float("nan")


def within(points, limit):
    return sum(e <= limit for e in errors(points)), len(points)


def all_scores(mrcsim, folder):
    scores = {}
    for machine, names in MACHINES.items():
        card = card_of(machine)
        for name in names:
            own = folder / f"nfp6000-1.2GHz_{name}"
            points = bandwidth_points(own) + latency_points(own)
            predict(mrcsim, machine, name, points, card)
            scores.setdefault(machine, []).append(Score(name, points, name == names[0]))
            s = scores[machine][-1]
            print(name, len(s.gbps), f"{middle(s.gbps):.3f}", within(s.median, 0.10), within(s.p99, 0.25), flush=True,
                  file=sys.stderr)
    return scores


# --- The page --------------------------------------------------------------------------------------------------------

WINDOWS = (256 << 10, 512 << 10, 1 << 20, 64 << 20)
MOST_MEDIAN_ERROR, MOST_LATENCY_ERROR, MOST_TAIL_ERROR = 0.10, 0.10, 0.25
# Configurations that miss a score, and why as far as anybody knows.
KNOWN_MISSES = {
    "snb-Xeon-E5-2630_dell-t620-iommu":
        "from 1 MiB on the measured rate falls to a quarter of the walkers' and rises again with the window, which no cache "
        "of translations does; no public cause",
}


def percent(value):
    return f"{100 * value:.1f} %"


def setting_rows():
    keys = [("pcie.read_tags", "reads under way"), ("pcie.read_latency_mean_ns", "read latency, mean"),
            ("pcie.read_latency_p99_ns", "its 99th percentile"), ("pcie.write_latency_ns", "write latency"),
            ("host.cache.miss_ns", "a miss of the cache"), ("host.memory.refresh_ns", "refresh"),
            ("host.iommu.walkers", "walkers"), ("host.iommu.walk_ns", "page walk")]
    yield "| machine | " + " | ".join(name for _, name in keys) + " | card: copy, ns/B | card: write, ns per 128 B |"
    yield "|---" * (len(keys) + 3) + "|"
    for machine in MACHINES:
        preset = tomllib.loads((PRESETS / f"{machine}.toml").read_text())
        card = card_of(machine)
        cells = []
        for key, _ in keys:
            value = preset
            for part in key.split("."):
                value = value[part]
            cells.append(f"{value:g}")
        yield f"| `{machine}` | " + " | ".join(cells) + \
            f" | {card['copy_ns_per_byte']:.3f} | {card['write_ns_per_128_bytes']:.1f} |"


def score_rows(scores):
    yield "| configuration | points | median error | latency medians within 10 % | 99th percentiles within 25 % |"
    yield "|---|---|---|---|---|"
    for rows in scores.values():
        for s in rows:
            cells = ["{} of {}".format(*within(s.median, MOST_LATENCY_ERROR)), "{} of {}".format(*within(s.p99, MOST_TAIL_ERROR))]
            yield f"| `{s.name}` | {len(s.gbps)} | {percent(middle(s.gbps))} | {cells[0]} | {cells[1]} |"


def window_rows(scores):
    yield "| configuration | " + " | ".join(f"{w >> 10} KiB" for w in WINDOWS) + " |"
    yield "|---" * (len(WINDOWS) + 1) + "|"
    for rows in scores.values():
        for s in rows:
            if "iommu" not in s.name:
                continue
            found = {p.window: p for p in s.gbps + s.rest if p.test == "read_bandwidth" and p.size == 64 and p.cache == "cold"}
            cells = [f"{found[w].predicted:.2f}, {found[w].value:.2f}" if w in found else "" for w in WINDOWS]
            yield f"| `{s.name}` | " + " | ".join(cells) + " |"


def size_rows(scores):
    by = {}
    for rows in scores.values():
        for s in rows:
            if s.name in KNOWN_MISSES:
                continue
            for p in s.gbps:
                by.setdefault((p.test, p.size), []).append(p.error())
    yield "| test | bytes | points | median deviation | from, to |"
    yield "|---|---|---|---|---|"
    for (test, size), deviations in sorted(by.items()):
        if len(deviations) >= 10:
            ranks = sorted(deviations)
            low, high = ranks[len(ranks) // 20], ranks[-1 - len(ranks) // 20]
            yield f"| {test} | {size} | {len(ranks)} | {100 * statistics.median(ranks):+.1f} % | {100 * low:+.0f} to {100 * high:+.0f} % |"


def direction_rows(mrcsim, folder):
    """Reads of a remote node, and of local memory outside the cache, relative to local memory in the cache; and the model with lower limits."""
    local, remote = (folder / f"nfp6000-1.2GHz_{MACHINES['bdw_xeon_e5_2630v4'][i]}" for i in (0, 4))
    sizes = (64, 128, 256, 512)

    def measured(own, window, cache):
        return {p.size: p.value for p in bandwidth_points(own)
                if p.test == "read_bandwidth" and p.window == window and p.cache == cache}

    def modelled(settings, cache):
        rows = model(mrcsim, PRESETS / "bdw_xeon_e5_2630v4.toml", settings, "read_bandwidth", "random", cache, [8192], sizes)
        return {s: float(rows[8192, s]["gbps"]) for s in sizes}

    def row(name, far, near):
        return f"| {name} | " + " | ".join(percent(far[s] / near[s] - 1) for s in sizes) + " |"

    yield "| bytes | " + " | ".join(map(str, sizes)) + " |"
    yield "|---" * (len(sizes) + 1) + "|"
    yield row("measured: remote", measured(remote, 8192, "warm"), measured(local, 8192, "warm"))
    yield row("measured: local, not in the cache, 16 KiB", measured(local, 16384, "cold"), measured(local, 16384, "warm"))
    rates = measured(remote, 8192, "warm")
    preset_reads = 35
    yield "| measured: remote, outstanding reads | " + " | ".join(f"{preset_reads * rates[s] / s / (rates[64] / 64):.1f}" for s in sizes) + " |"
    for name, limit in (("", {}), (", 27 reads", {"pcie.read_tags": 27}), (", 17 reads", {"pcie.read_tags": 17}),
                        (", 4,608 B", {"pcie.completion_buffer_bytes": 4608})):
        yield row(f"model{name}: remote", modelled({**limit, "host.numa.remote_share": 1}, "cold"), modelled(limit, "warm"))


HOST_STATES = (("warm, local", "warm", {}), ("cold, local", "cold", {}), ("cold, remote", "cold", {"host.numa.remote_share": 1}),
               ("cold, IOMMU with 2 MiB pages", "cold", {"host.iommu.iotlb_entries": IOTLB_ENTRIES, "host.iommu.page_bytes": 2 << 20}),
               ("cold, IOMMU with 4 KiB pages", "cold", {"host.iommu.iotlb_entries": IOTLB_ENTRIES}))
# Presets, the line rate of a NIC that fits their link, and whose memory they read.
NIC_HOSTS = tuple((machine, 40, "host") for machine in MACHINES) + (
    ("gen5_xeon_8480", 400, "host"), ("gen6_gb300", 400, "host"), ("gen6_gb300", 800, "accelerator"))
READ_BYTES = 4096
# Of line rate: what is left of it beside the headers of packets of 4 KiB, and a little less.
PAYLOAD_SHARE = 0.95


def enough(generation):
    """More than any of them needs."""
    return {"pcie.read_tags": 256 if generation == 3 else 768, "pcie.completion_buffer_bytes": 2 << 20, "pcie.non_posted_header_credits": 1024}


def reads(mrcsim, preset, settings, cache, memory):
    """The row of `mrcsim pcie` for reads of 4 KiB."""
    text = subprocess.run(
        [mrcsim, "pcie", str(preset), *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")), "--test",
         "read_bandwidth", "--cache", cache, "--memory", memory, "--window", str(64 << 20), "--bytes", str(READ_BYTES), "--transfers",
         str(TRANSFERS), "--format", "csv"], check=True, capture_output=True, text=True).stdout
    return next(csv.DictReader(io.StringIO(text)))


def smallest(holds, low, high, step):
    """The smallest multiple of `step` in low … high for which `holds`; it holds for `high`."""
    low, high = low // step, high // step
    while low < high:
        middle_of = (low + high) // 2
        if holds(middle_of * step):
            high = middle_of
        else:
            low = middle_of + 1
    return low * step


def staging(mrcsim, preset, settings, cache, line, memory):
    """Most bytes in the staging buffer of a NIC that receives at line rate, what it receives, and what holds its writes up."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "messages.csv").write_text("start_us,src,dst,bytes,tag\n" + "".join(f"0,0,1,262144,{i}\n" for i in range(64)))
        (folder / "host.toml").write_text(preset.read_text().replace("[pcie]", '[traffic]\ntrace = "messages.csv"\n\n[fabric]\nnics = 2\n\n[pcie]', 1))
        # The peer that sends has a host that limits nothing.
        all_settings = settings | {"host.payload": "reference", "host.cache.state": cache, "nic.ports": 1, "nic.port_gbps": line,
                                   "traffic.outstanding_messages": 8, "nic.rx_staging.bytes": 4 << 20, "traffic.buffer_bytes": "16MiB",
                                   "accelerator.payload_memory": "gpu_direct" if memory == "accelerator" else "host"}
        words = [word for key, value in all_settings.items() for word in ("--set", f"{key}={value}")]
        done = subprocess.run([mrcsim, "run", folder / "host.toml", *words, "--quiet", "--out", folder / "out"], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        result = json.loads((folder / "out/result.json").read_text())
    level = next(row for row in result["buffers"] if row["node"] == "nic1" and row["name"] == "rx_staging")
    return level["high_water"], 64 * 262144 * 8 / result["simulated_time_us"] / 1000


def nic_size_rows(mrcsim):
    yield "| preset, line rate in Gb/s | host | PCIe reads, Gb/s | limited by | tags | completion buffer, KiB | staging, KiB | received, Gb/s |"
    yield "|---|---|---|---|---|---|---|---|"
    for machine, line, memory in NIC_HOSTS:
        preset = PRESETS / f"{machine}.toml"
        generation = tomllib.loads(preset.read_text())["pcie"]["generation"]
        for state, cache, state_settings in HOST_STATES if memory == "host" else (("accelerator's memory", "cold", {}),):
            settings = enough(generation) | state_settings
            row = reads(mrcsim, preset, settings, cache, memory)
            most = float(row["gbps"])
            uplink = tomllib.loads(preset.read_text())["host"].get("pcie_switch", {}).get("uplink_gbps", math.inf)
            limit = "pcie.line" if most > 0.97 * float(row["link_gbps"]) else "host.pcie_switch" if most > 0.97 * uplink else "host"
            wanted = min(PAYLOAD_SHARE * line, 0.99 * most)

            def reaches(key, value):
                return float(reads(mrcsim, preset, settings | {key: value}, cache, memory)["gbps"]) >= wanted

            tags = smallest(lambda n: reaches("pcie.read_tags", n), 1, settings["pcie.read_tags"], 1)
            room = smallest(lambda n: reaches("pcie.completion_buffer_bytes", n), 5120, 2 << 20, 512)
            waiting, received = staging(mrcsim, preset, settings, cache, line, memory)
            short = "" if most >= PAYLOAD_SHARE * line else ", below line rate"
            yield f"| `{machine}`, {line} | {state} | {most:.1f}{short} | {limit} | {tags} | {room / 1024:.1f} | {waiting / 1024:.1f} | {received:.1f} |"


def misses(scores):
    """Configurations and what they miss."""
    found = []
    for rows in scores.values():
        for s in rows:
            if middle(s.gbps) > MOST_MEDIAN_ERROR:
                found.append((s.name, f"bandwidth: median error {percent(middle(s.gbps))}"))
            good, all_points = within(s.median, MOST_LATENCY_ERROR)
            if good < all_points:
                worst = max(s.median, key=lambda p: abs(p.error()))
                found.append((s.name, f"latency: {all_points - good} of {all_points} medians, at most {100 * worst.error():+.0f} %"))
            good, all_points = within(s.p99, MOST_TAIL_ERROR)
            if good < all_points:
                found.append((s.name, f"99th percentile: {all_points - good} of {all_points}"))
    return found


def page(mrcsim, folder, scores):
    text = (ROOT / "tests/hosts/hosts_page.md.in").read_text()
    missed = ["| configuration | what |", "|---|---|", *(f"| `{name}` | {what} |" for name, what in misses(scores))]
    parts = {"settings": setting_rows(), "scores": score_rows(scores), "windows": window_rows(scores),
             "sizes": size_rows(scores), "remote": direction_rows(mrcsim, folder), "misses": missed, "nic_sizes": nic_size_rows(mrcsim)}
    for name, rows in parts.items():
        text = text.replace(f"<!-- {name} -->", "\n".join(rows))
    return text


# --- Without the files -----------------------------------------------------------------------------------------------

def summary(mrcsim):
    """30 published figures, which stand in the repository."""
    figures = json.loads((ROOT / "tests/hosts/published.json").read_text())["figures"]
    bad = 0
    for f in figures:
        machine = next(m for m, names in MACHINES.items() if f["configuration"] in names)
        point = Point(f["kind"], f["test"], f["pattern"], f["cache"], f["window_bytes"], f["bytes"], f["value"])
        predict(mrcsim, machine, f["configuration"], [point], card_of(machine))
        limit = {"gbps": 0.20, "median": MOST_LATENCY_ERROR, "p99": MOST_TAIL_ERROR}[f["kind"]]
        good = abs(point.error()) <= limit
        bad += not good
        print(f"{'' if good else 'OUTSIDE '}{f['configuration']} {f['test']} {f['kind']} {f['bytes']} B of {f['window_bytes']} B, {f['cache']}: "
              f"{point.predicted:.2f}, published {point.value:.2f}, {100 * point.error():+.1f} %")
    return 1 if bad else 0


def check(scores):
    unexpected = [name for rows in scores.values() for name in (s.name for s in rows if middle(s.gbps) > MOST_MEDIAN_ERROR)
                  if name not in KNOWN_MISSES]
    for name in unexpected:
        print(f"{name}: the median error of the bandwidth is above 10 %")
    tails = [s.name for rows in scores.values() for s in rows if within(s.p99, MOST_TAIL_ERROR)[0] < 0.9 * len(s.p99)]
    for name in tails:
        print(f"{name}: fewer than 9 of 10 99th percentiles are within 25 %")
    return 1 if unexpected or tails else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mrcsim")
    parser.add_argument("folder", nargs="?", default=os.environ.get("MRCSIM_PCIE_BENCH"))
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--sizes", action="store_true", help="prints the sizes of a NIC for each preset")
    options = parser.parse_args()
    if options.sizes:
        for row in nic_size_rows(options.mrcsim):
            print(row, flush=True)
        return
    if not options.summary and not (options.folder and pathlib.Path(options.folder).is_dir()):
        print("skipped: no folder of the study's files (MRCSIM_PCIE_BENCH, a copy of pcie-bench/data)")
        sys.exit(77)
    folder = pathlib.Path(options.folder) if options.folder else None
    if options.fit:
        fit(options.mrcsim, folder)
    if options.summary:
        sys.exit(summary(options.mrcsim))
    if options.out or options.check:
        scores = all_scores(options.mrcsim, folder)
    if options.out:
        pathlib.Path(options.out).write_text(page(options.mrcsim, folder, scores))
    if options.check:
        sys.exit(check(scores))


if __name__ == "__main__":
    main()
