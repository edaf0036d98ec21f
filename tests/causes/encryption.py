#!/usr/bin/env python3
"""What encryption costs between two NICs: bytes of each framing, the width of the engines, the size of the replay window against
the spread of the planes, and keys that are not on the NIC. With --out, writes the tables into a file of docs.

Checks each against its closed form: goodput is the line rate times the share of payload in a packet, or the rate of the engine;
packets below the replay window appear where a plane is longer than the window in packets, and never else; reads of keys are the
messages whose keys were not held. The slowest engine is the first cause of `limits`.

  encryption.py MRCSIM [--out FILE] [--rows N] [--quick]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import page_table

LINE_GBPS = 800
PAYLOAD = 4096
CLEAR_BYTES = 4262  # of a full packet under SRv6, preamble and gap included
PLAINTEXT = PAYLOAD + 48  # UDP to ICRC
SPEED_OF_CORE_GHZ = 1
FRAMINGS = {
    "in the clear": ({}, 0),
    "PSP": ({"protocol.encryption.framing": "psp"}, 40),
    "PSP with cookie": ({"protocol.encryption.framing": "psp_cookie"}, 48),
    "ESP": ({"protocol.encryption.framing": "esp"}, 36),
    "MACsec, short SecTAG": ({"fabric.macsec": "short_tag"}, 24),
    "MACsec, long SecTAG": ({"fabric.macsec": "long_tag"}, 32),
    "PSP and MACsec, long SecTAG": ({"protocol.encryption.framing": "psp", "fabric.macsec": "long_tag"}, 72),
}
PSP = {"protocol.encryption.framing": "psp"}
TRIM = {"fabric.trim_bytes": 192}
WIDTHS = [512, 768, 1024, 2048]
WINDOWS = [64, 128, 256, 1024]
EXTRA_NS = [0, 1000, 2000, 4000]
KEYS = [64, 256, 1024]
QPS = 512


class Bench:
    def __init__(self, mrcsim, folder, rows):
        self.mrcsim, self.folder, self.rows, self.failed = mrcsim, pathlib.Path(folder), rows, []

    def run(self, settings, rows=None):
        root = pathlib.Path(__file__).resolve().parents[2]
        command = [self.mrcsim, "run", root / "tb/scenarios/pair.toml", "--quiet", "--out", self.folder / "out"]
        all_settings = {"host.payload": "reference", "traffic.rows": rows or self.rows, **TRIM, **settings}
        command += [text for key, value in all_settings.items() for text in ("--set", f"{key}={value}")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"encryption: {settings}: exit code {done.returncode}: {done.stderr}")
        result = json.loads((self.folder / "out/result.json").read_text())
        if result["messages"]["completed"] != result["messages"]["count"]:
            self.failed.append(f"{settings}: not complete")
        return result

    def check(self, holds, what):
        if not holds:
            self.failed.append(what)


def first_cause(result):
    return next(row["cause"] for row in result["limits"] if row["cause"] not in ("framing", "unacknowledged", "control"))


def framings(bench):
    """Rows: bytes that a packet takes more, goodput, what the closed form says, time of a 2-byte write."""
    rows = []
    for name, (settings, more) in FRAMINGS.items():
        result = bench.run(settings)
        law = LINE_GBPS * PAYLOAD / (CLEAR_BYTES + more)
        one_way = sum(term["ns"] for term in result["latency_terms"])
        bench.check(abs(result["framing_limit_gbps"] - law) < 0.01, f"{name}: framing limit {result['framing_limit_gbps']}, law {law}")
        bench.check(0.97 * law < result["goodput_gbps"] <= law, f"{name}: goodput {result['goodput_gbps']}, law {law}")
        rows.append((name, more, result["goodput_gbps"], law, one_way))
    for name, more, goodput, _, one_way in rows[1:]:
        bench.check(goodput < rows[0][2] and one_way > rows[0][4], f"{name}: costs nothing")
        bench.check(more > 0, f"{name}: no bytes")
    return rows


def widths(bench, all_widths):
    rows = []
    for bits in all_widths:
        result = bench.run({**PSP, "nic.encrypt.width_bits": bits, "nic.decrypt.width_bits": bits})
        words = -(-PLAINTEXT * 8 // bits)
        engine = PAYLOAD * 8 / words * SPEED_OF_CORE_GHZ
        law = min(engine, LINE_GBPS * PAYLOAD / (CLEAR_BYTES + 40))
        bench.check(0.97 * law < result["goodput_gbps"] <= 1.001 * law, f"{bits} bit: goodput {result['goodput_gbps']}, law {law}")
        cause = first_cause(result)
        slow = engine < LINE_GBPS * PAYLOAD / (CLEAR_BYTES + 40)
        bench.check((cause == "encrypt") == slow, f"{bits} bit: first cause {cause}")
        rows.append((bits, engine, result["goodput_gbps"], cause if slow else "-"))
    return rows


def windows(bench, all_windows, extra):
    """One plane is longer than the others: its packets come behind so many that were sent later."""
    rows = []
    for ns in extra:
        cells = []
        base = 150
        for window in all_windows:
            settings = {**PSP, "protocol.encryption.replay_window": window}
            if ns > 0:
                settings["fabric.cable_delays_ns"] = f"plane3={base + ns / 2}"
            result = bench.run(settings)
            late = ns * LINE_GBPS / 8 / (CLEAR_BYTES + 40)
            too_old = result["encryption"]["too_old"]
            # Ports are alike on average only: some packets are a few places off.
            near = 0.25 * late + 8
            if late > window + near:
                bench.check(too_old > 0, f"{ns} ns, window {window}: none is too old")
            if late < window - near:
                bench.check(too_old == 0, f"{ns} ns, window {window}: {too_old} are too old")
            cells.append((too_old / result["packets"]["sent"], result["goodput_gbps"]))
        rows.append((ns, ns * LINE_GBPS / 8 / (CLEAR_BYTES + 40), cells))
    return rows


def keys(bench, all_keys):
    rows = []
    for held in all_keys:
        settings = {**PSP, "traffic.qps_per_peer": QPS, "traffic.byte_scale": 0.015625, "traffic.outstanding_messages": 64,
                    "protocol.path_table_scope": "destination", "nic.encrypt.key_cache_entries": held, "nic.decrypt.key_cache_entries": held}
        result = bench.run(settings, rows=1024)
        read = result["encryption"]["encrypt_key_misses"]
        bench.check((read > 0) == (held < QPS), f"{held} keys: {read} read")
        rows.append((held, read, result["encryption"]["decrypt_key_misses"], result["goodput_gbps"], result["message_time_us"]["p50"]))
    return rows


def tables(bench, quick):
    lines = ["### What it takes of the wire, and of a small write", "",
             "| | bytes per packet | goodput, Gb/s | closed form | 2-byte write, ns |", "|---|---|---|---|---|"]
    for name, more, goodput, law, one_way in framings(bench):
        lines.append(f"| {name} | {more} | {goodput:.1f} | {law:.1f} | {one_way:.0f} |")
    lines += ["", "### How wide the engines must be", "", "| bits per cycle | engine, Gb/s of payload | goodput, Gb/s | first cause |", "|---|---|---|---|"]
    for bits, engine, goodput, cause in widths(bench, WIDTHS[::2] if quick else WIDTHS):
        lines.append(f"| {bits} | {engine:.1f} | {goodput:.1f} | {cause} |")
    all_windows = WINDOWS[::3] if quick else WINDOWS
    lines += ["", "### How large the replay window must be", "", "| plane 3 is longer by | in packets | "
              + " | ".join(f"window {window}" for window in all_windows) + " |", "|---" * (2 + len(all_windows)) + "|"]
    for ns, packets, cells in windows(bench, all_windows, EXTRA_NS[::3] if quick else EXTRA_NS):
        lines.append(f"| {ns} ns | {packets:.0f} | " + " | ".join(f"{goodput:.1f} ({100 * share:.1f} % dropped)" for share, goodput in cells) + " |")
    lines += ["", f"### How many keys the NIC must hold for {QPS} QPs", "",
              "| keys | read to send | read to receive | goodput, Gb/s | message p50, us |", "|---|---|---|---|---|"]
    for held, sent, received, goodput, p50 in keys(bench, KEYS[::2] if quick else KEYS):
        lines.append(f"| {held} | {sent:,} | {received:,} | {goodput:.1f} | {p50:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=128, help="messages of 1 MiB in a run")
    parser.add_argument("--quick", action="store_true", help="fewer columns")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        bench = Bench(args.mrcsim, temp, args.rows)
        page_table.show(tables(bench, args.quick), args.out)
    for what in bench.failed:
        print(f"encryption: {what}", file=sys.stderr)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
