#!/usr/bin/env python3
"""Slow pairs of NICs, asks `mrcsim why` for a remedy of each, and looks whether a search finds a better one.

The search changes every parameter of NIC, PCIe, transport and congestion control, up and down, and all pairs of the ten
best changes. The first remedy, run again as printed, has to give the goodput that it says within 1 %, and 90 % of the
best gain of the search; limits[0] has to name the place.

  slow_configurations.py MRCSIM [--only NAME]... [--no-search]
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import time

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "tb/scenarios/pair.toml"
BASE = {"host.payload": "reference", "traffic.rows": "64"}
LOSS = '[[fault]]\nkind = "loss"\nwhere = "nic0.port3"\nat_us = 0\nprobability = 0.02\n'
HALF = '[[fault]]\nkind = "link_rate"\nwhere = "plane3.t0.0.down1"\nat_us = 0\nshare = 0.5\n'
GEN4 = {"node.nic0.pcie.generation": "4", "pcie.mrrs_bytes": "4096", "node.nic0.pcie.completion_buffer_bytes": "4194304"}
# Name: settings, faults, what limits[0] has to begin with.
CONFIGURATIONS = {
    "tags_and_records": ({"pcie.read_tags": "96", "nic.retransmit_buffer.entries": "64"}, "", ("pcie.read_tags", "retransmit_buffer")),
    "receiver_gen4": ({"node.nic1.pcie.generation": "4"}, "", ("receiver.pcie.line",)),
    "sender_gen4": (GEN4, "", ("pcie.",)),
    "sender_gen4_256_tags": (GEN4 | {"node.nic0.pcie.read_tags": "256"}, "", ("pcie.",)),
    "ports_200g": ({"nic.port_gbps": "200"}, "", ("pcie.line",)),
    "sack_1MiB": ({"protocol.sack_threshold_bytes": "1048576"}, "", ("",)),
    # A record is held until its SACK comes: more records, or earlier SACKs, and either alone brings all that is lost (760 Gb/s).
    "sack_256KiB_160_records": ({"protocol.sack_threshold_bytes": "262144", "nic.retransmit_buffer.entries": "160"}, "",
                                ("retransmit_buffer", "receiver.sack_threshold")),
    "base_rtt_short": ({"cc.base_rtt_ns": "2000"}, "", ("cwnd",)),
    "mpr_long_rtt": ({"protocol.mpr_units": "3", "fabric.cable_delay_ns": "4500", "cc.base_rtt_ns": "24000"}, "", ("mpr",)),
    "256B_2_qps": ({"protocol.mtu_bytes": "256", "traffic.qps_per_peer": "2"}, "", ("",)),
    "mtu_1024": ({"protocol.mtu_bytes": "1024"}, "", ("",)),
    "core_300MHz_gen5": ({"nic.core_clock_ghz": "0.3", "pcie.generation": "5"}, "", ("",)),
    "loss_port3": ({}, LOSS, ("fabric.nic0.port3", "retransmission", "cwnd")),
    "plane3_half_4_banks": ({"nic.psn_tracker.bitmap_banks": "4"}, HALF, ("fabric.plane3",)),
}
SEARCHED = ("nic.", "pcie.", "protocol.", "cc.")
# Of these another value is another machine, another task or another host.
NOT_SEARCHED = ("nic.ports", "nic.port_gbps", "pcie.read_latency", "pcie.write_latency", "pcie.credit_return_ns", "protocol.udp_port",
                "protocol.dscp", "pcie.duplicate", "pcie.poisoned", "pcie.lost", "nic.port.mac_fec_latency_ns")
FACTORS = (1 / 16, 1 / 4, 1 / 2, 2, 4, 16)
PAIRED = 10


def options(settings):
    return [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]


class Pair:
    def __init__(self, mrcsim, settings, faults, folder):
        self.mrcsim, self.folder = mrcsim, folder
        self.settings = BASE | settings
        trace = SCENARIO.parent / "../../traces/pair_1GiB.csv"
        self.scenario = folder / "pair.toml"
        self.scenario.write_text(SCENARIO.read_text().replace("../../traces/pair_1GiB.csv", str(trace.resolve())) + faults)
        self.runs = 0

    def result(self, changes=None):
        """Of a run with `changes`; None where the scenario's rules refuse them or the run does not complete."""
        self.runs += 1
        out = self.folder / f"run{self.runs}"
        command = [self.mrcsim, "run", self.scenario, "--quiet", "--yes", "--out", out, *options(self.settings | (changes or {}))]
        try:
            done = subprocess.run(command, capture_output=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return None
        return json.loads((out / "result.json").read_text()) if done.returncode == 0 else None

    def goodput(self, changes):
        result = self.result(changes)
        return result["goodput_gbps"] if result else 0

    def why(self):
        command = [self.mrcsim, "why", self.scenario, "--seeds", "1", "--format", "json", "--db", self.folder / "why.sqlite",
                   *options(self.settings)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def changes(self):
        """{setting: value} of every searched parameter, up and down inside its range."""
        listed = json.loads(subprocess.run([self.mrcsim, "params", "--format", "json"], check=True, capture_output=True, text=True).stdout)
        for parameter in listed:
            name = parameter["name"]
            if not name.startswith(SEARCHED) or name.startswith(NOT_SEARCHED):
                continue
            ours = [key for key in self.settings if key == name or key.endswith("." + name)] or [name]
            now = self.settings.get(ours[0], parameter["default"])
            if parameter["words"]:
                values = [word for word in parameter["words"] if word != now]
            elif parameter["type"] in ("integer", "real") and float(now) != 0:
                inside = {min(max(float(now) * factor, parameter["minimum"]), parameter["maximum"]) for factor in FACTORS}
                values = sorted(inside - {float(now)})
                values = [str(round(value)) if parameter["type"] == "integer" else str(value) for value in values]
            else:
                continue
            for value in values:
                yield {key: value for key in ours}

    def search(self, pool):
        """The best goodput and its changes: of each change, and of pairs of the best of different parameters."""
        changes = list(self.changes())
        singles = sorted(zip(pool.map(self.goodput, changes), changes), key=lambda one: -one[0])
        best = {}
        for goodput, change in singles:
            best.setdefault(next(iter(change)), (goodput, change))
        first = [change for _, change in list(best.values())[:PAIRED]]
        pairs = [one | other for i, one in enumerate(first) for other in first[i + 1:]]
        return max(singles[:1] + list(zip(pool.map(self.goodput, pairs), pairs)), key=lambda one: one[0])


def judge(mrcsim, name, search, pool):
    """(what is wrong, note)"""
    settings, faults, places = CONFIGURATIONS[name]
    with tempfile.TemporaryDirectory() as temp:
        pair = Pair(mrcsim, settings, faults, pathlib.Path(temp))
        before = pair.result()
        limit = next(row for row in before["limits"] if row["cause"] != "framing")
        begin = time.monotonic()
        answer = pair.why()
        took = time.monotonic() - begin
        note = f"{before['goodput_gbps']:.0f} Gb/s, {limit['cause']} {limit['gbps']:.0f}; why took {took:.0f} s"
        wrong = [] if limit["cause"].startswith(places) else ["another place is named"]
        gain = 0
        if answer["remedies"]:
            first = answer["remedies"][0]
            gain = pair.goodput(first["settings"]) - before["goodput_gbps"]
            note += f": {first['settings']} +{gain:.0f}, then {first['next_cause']}"
            if abs(gain - first["gain_gbps"]) > 0.01 * (before["goodput_gbps"] + gain):
                wrong.append(f"said +{first['gain_gbps']:.0f}")
        else:
            note += ": nothing worth changing"
        if search:
            best, change = pair.search(pool)
            best -= before["goodput_gbps"]
            note += f"; search: {change} +{best:.0f}"
            if best > 0.02 * before["goodput_gbps"] and gain < 0.9 * best:
                wrong.append(f"{100 * gain / best:.0f} % of what is possible")
        return ", ".join(wrong), note


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--only", action="append", choices=CONFIGURATIONS)
    parser.add_argument("--no-search", action="store_true")
    arguments = parser.parse_args()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in arguments.only or CONFIGURATIONS:
            wrong, note = judge(arguments.mrcsim, name, not arguments.no_search, pool)
            failed += bool(wrong)
            print(f"{'WRONG ' + wrong if wrong else 'right'}: {name}: {note}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
