#!/usr/bin/env python3
"""What must hold for a pair of NICs with any settings, drawn at random.

  slower   all times doubled and all rates halved: half the goodput within 0.5 %, and the same first cause
  swapped  nic0 and nic1 exchanged: the same goodput within 0.5 %, and the same first cause
  planes   a slow or lossy plane in the place of another: the same goodput within 1 %, and its cause names the other plane
  larger   a larger buffer, a faster clock or link: not more than 1 % of the goodput is lost; a clock 10 % (docs/limits.md)

Each is a mean over three seeds, whose range is added to the limit. Where a law is broken, ten seeds are looked at in their place: a pair at
the edge of what its receiver can take has now one goodput and now another.

  symmetries.py MRCSIM [--seed N] [--count N] [--jobs N] [--only LAW]...
"""

import argparse
import concurrent.futures
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MESSAGES = 64
MESSAGE_BYTES = 1 << 20
PLANES = 8
AT_ONCE = 10
SEEDS = range(1, 4)
MORE_SEEDS = range(1, 11)
# Values that a setting may have, of one node or of all.
OF_NODES = {
    "pcie.read_tags": (64, 96, 128, 256, 512),
    "pcie.completion_buffer_bytes": (65536, 131072, 262144),
    "pcie.mrrs_bytes": (256, 512, 1024, 4096),
    "pcie.generation": (4, 5, 6),
    "pcie.posted_header_credits": (32, 64, 128),
    "pcie.read_latency_mean_ns": (600, 1000, 1500),
    "nic.retransmit_buffer.entries": (48, 96, 192, 512, 4096),
    "nic.core_clock_ghz": (0.4, 0.6, 0.8, 1),
    "nic.segmenter.queue_entries": (8, 16, 32),
    "nic.payload_fetch.queue_entries": (8, 16, 64),
    "nic.port.tx_fifo_bytes": (16384, 32768, 65536),
    "nic.rx_staging.bytes": (65536, 262144),
    "nic.parser.initiation_interval_cycles": (1, 20, 60),
    "nic.srv6_encap.initiation_interval_cycles": (1, 30, 80),
}
OF_ALL = {
    "protocol.mtu_bytes": (1024, 2048, 4096),
    "protocol.sack_threshold_bytes": (16384, 65536),
    "protocol.mpr_units": (2, 8),
    "traffic.qps_per_peer": (1, 2, 4),
    "traffic.outstanding_messages": (4, 16),
    "fabric.cable_delay_ns": (50, 150, 500),
    "nic.ports": (8,),
}
# A faster core sends what waits behind a slow read at once, and the line of PCIe rests: docs/limits.md.
MAY_COST = {"nic.core_clock_ghz": 0.1}
# Doubling one of these must not cost goodput. A cache of contexts, a FIFO or a window without end has no other cost here.
LARGER = [key for key in OF_NODES if "latency" not in key and "interval" not in key and key not in ("pcie.mrrs_bytes", "pcie.generation")]


class Setting(dict):
    def __or__(self, other):
        return Setting({**self, **other})

    def options(self):
        return [text for key, value in sorted(self.items()) for text in ("--set", f"{key}={value}")]


def draw(rng):
    settings = Setting({key: rng.choice(values) for key, values in OF_ALL.items() if rng.random() < 0.4})
    for key, values in OF_NODES.items():
        if rng.random() < 0.3:
            node = rng.choice(("", "node.nic0.", "node.nic1."))
            settings[node + key] = rng.choice(values)
    # The base RTT follows what the cables take, as one would set it.
    settings.setdefault("cc.base_rtt_ns", 12000)
    return settings


class Runs:
    def __init__(self, mrcsim, folder):
        self.mrcsim, self.folder, self.number, self.seeds = mrcsim, folder, 0, SEEDS
        listed = subprocess.run([mrcsim, "params", "--format", "json"], check=True, capture_output=True, text=True).stdout
        self.parameters = {row["name"]: row for row in json.loads(listed)}

    def with_more_seeds(self):
        more = copy.copy(self)
        more.seeds = MORE_SEEDS
        return more

    def run(self, settings, seed=1, swapped=False, fault=""):
        """The result, or None where the rules refuse the settings."""
        self.number += 1
        out = self.folder / f"run{self.number}-{random.getrandbits(40)}"
        out.mkdir()
        source, destination = (1, 0) if swapped else (0, 1)
        lines = ["start_us,src,dst,bytes,tag"] + [f"0,{source},{destination},{MESSAGE_BYTES},{i}" for i in range(MESSAGES)]
        (out / "flows.csv").write_text("\n".join(lines) + "\n")
        (out / "pair.toml").write_text(
            f'seed = {seed}\nrun.node_under_test = "nic{source}"\nhost.payload = "reference"\ntraffic.trace = "flows.csv"\nfabric.nics = 2\n{fault}')
        command = [self.mrcsim, "run", out / "pair.toml", "--quiet", "--yes", "--out", out / "out", *settings.options()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode == 2:
            return None
        if done.returncode != 0:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-300:]}")
        return json.loads((out / "out/result.json").read_text())

    def slower(self, settings):
        """All times doubled, all rates halved, defaults too."""
        changed = Setting(settings)
        for name, row in self.parameters.items():
            factor = {"ns": 2, "us": 2, "Gb/s": 0.5, "GHz": 0.5}.get(row["unit"])
            if name in ("pcie.lanes",):
                factor = 0.5
            if factor is None or name.startswith(("run.", "accelerator.", "rocev2.")):
                continue
            for key in [key for key in settings if key == name or key.endswith("." + name)] + [name]:
                value = settings.get(key, row["default"])
                if float(value) != 0:
                    changed[key] = float(value) * factor if row["type"] == "real" else round(float(value) * factor)
        exponent = "protocol.timeout_exponent"
        changed[exponent] = int(settings.get(exponent, self.parameters[exponent]["default"])) + 1
        return changed


class Seen:
    """What a setting gives over a few seeds: which latencies are drawn and which packets are lost is chance."""

    def __init__(self, results):
        self.goodputs = [result["goodput_gbps"] for result in results]
        self.goodput = sum(self.goodputs) / len(self.goodputs)
        self.noise = (max(self.goodputs) - min(self.goodputs)) / self.goodput
        first = [next(row for row in result["limits"] if row["cause"] not in ("framing", "unattributed")) for result in results]
        self.causes = {row["cause"] for row in first}
        # Which of several small causes is first says little, nor does it where two are as large.
        self.tie = any(row["gbps"] < 0.03 * result["line_rate_gbps"] or self.second(result) > 0.7 * row["gbps"]
                       for row, result in zip(first, results))

    @staticmethod
    def second(result):
        rows = [row["gbps"] for row in result["limits"] if row["cause"] not in ("framing", "unattributed")]
        return rows[1] if len(rows) > 1 else 0

    def text(self):
        return f"{self.goodput:.1f} Gb/s ({', '.join(sorted(self.causes))})"


def see(runs, settings, **how):
    results = [runs.run(settings, seed=seed, **how) for seed in runs.seeds]
    return None if None in results else Seen(results)


def differ(one, other, share, least, causes):
    """`other` is not `share` of `one`, but for `least` and what chance explains, or none of `causes` is its first."""
    far = abs(other.goodput / one.goodput / share - 1) > least + max(one.noise, other.noise)
    return far or not (causes & other.causes or one.tie or other.tie)


# What does not scale: NSCC has a round trip of 12 us and a delay of 1 us in its rules, and the number of ACKs and credit
# updates on the PCIe line follows from the number of lanes.
SCALES = {"cc.algorithm": "none", "pcie.ack_interval_bytes": 168, "pcie.fc_update_interval_bytes": 168}


def judge_slower(runs, rng):
    settings = draw(rng) | SCALES
    one, other = see(runs, settings), see(runs, runs.slower(settings))
    if one is None or other is None:
        return None
    return differ(one, other, 0.5, 0.005, one.causes), settings, f"{one.text()} and {other.text()}"


def judge_swapped(runs, rng):
    settings = draw(rng)
    names = {"node.nic0.": "node.nic1.", "node.nic1.": "node.nic0."}
    mirrored = Setting({names.get(key[:10], key[:10]) + key[10:]: value for key, value in settings.items()})
    one, other = see(runs, settings), see(runs, mirrored, swapped=True)
    if one is None:
        return None
    return differ(one, other, 1, 0.005, one.causes), settings, f"{one.text()} and {other.text()}"


def judge_planes(runs, rng):
    settings = draw(rng)
    first, second = rng.sample(range(PLANES), 2)
    kind = rng.choice(('kind = "link_rate"\nshare = 0.4', 'kind = "loss"\nprobability = 0.05'))
    one, other = (see(runs, settings, fault=f'[[fault]]\nat_us = 0\nwhere = "plane{plane}.t0.0.down1"\n{kind}\n') for plane in (first, second))
    if one is None:
        return None
    expected = {cause.replace(f"plane{first}.", f"plane{second}.").replace(f"port{first}", f"port{second}") for cause in one.causes}
    return differ(one, other, 1, 0.01, expected), settings, f"{kind.split()[2]}, planes {first}, {second}: {one.text()} and {other.text()}"


def judge_larger(runs, rng):
    settings = draw(rng)
    key = rng.choice(LARGER)
    row = runs.parameters[key]
    ours = [name for name in settings if name.endswith(key)] or [key]
    larger = Setting(settings)
    for name in ours:
        larger[name] = 2 * (settings.get(name) or (float if row["type"] == "real" else int)(row["default"]))
    one, other = see(runs, settings), see(runs, larger)
    if one is None or other is None:
        return None
    least = 1 - MAY_COST.get(key, 0.01) - max(one.noise, other.noise)
    return other.goodput < least * one.goodput, settings, f"{', '.join(f'{name}={larger[name]}' for name in ours)}: {one.text()} to {other.text()}"


LAWS = {"slower": judge_slower, "swapped": judge_swapped, "planes": judge_planes, "larger": judge_larger}


def judge(law, runs, draws):
    """(whether the law is broken, settings, text), or None where the rules refuse the settings."""
    judged = LAWS[law](runs, random.Random(draws))
    return LAWS[law](runs.with_more_seeds(), random.Random(draws)) if judged and judged[0] else judged


class Tally:
    def __init__(self):
        self.hold = self.wrong = self.refused = 0

    def add(self, judged):
        for one in judged:
            self.refused += one is None
            self.hold += one is not None and not one[0]
            if one is not None and one[0]:
                self.wrong += 1
                print(f"  {one[2]}\n    {' '.join(one[1].options())}", flush=True)

    def text(self):
        return f"{self.hold} of {self.hold + self.wrong} hold, {self.refused} settings refused"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200, help="settings for each law")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", choices=LAWS)
    arguments = parser.parse_args()
    laws = {law: Tally() for law in arguments.only or LAWS}
    with tempfile.TemporaryDirectory() as temp, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = Runs(arguments.mrcsim, pathlib.Path(temp))
        # All laws in turn, so that a long run that is cut off has a share of each.
        for first in range(0, arguments.count, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, arguments.count))
            for law, tally in laws.items():
                tally.add(pool.map(lambda number: judge(law, runs, f"{law} {arguments.seed} {number}"), numbers))
                print(f"{law}: {tally.text()}", flush=True)
    return 1 if any(tally.wrong for tally in laws.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
