#!/usr/bin/env python3
"""Plants weaknesses in the sizes of a pair of NICs and lets `mrcsim attack` look for them.

Each weakness is a buffer that suffices for the scenario as it is and for each factor of the envelope alone at most of its range,
but not for a known worst case. An attack has found it if its counterexample, run again, misses the objective, and holds with the
enlarged sizes, and if the planted buffer is among those that grew. The random search gets as many runs; what counts is the number
of runs until the first counterexample.

  attack_weaknesses.py MRCSIM [--runs N] [--seeds N] [--only NAME] [--least-found N] [--least-better N]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "tb/scenarios/pair.toml"
BASE = {"host.payload": "reference", "traffic.rows": "16"}
SENDER, RECEIVER = "node.nic0.", "node.nic1."
HOST = """
[parameters]
pcie.read_latency_mean_ns = {min = 600, max = 1800}
pcie.read_latency_p99_ns = {relative_to = "pcie.read_latency_mean_ns", min = 1.1, max = 4}
pcie.write_latency_ns = {min = 200, max = 1000}
host.doorbell_ns = {min = 100, max = 1000}
"""
SEEDS = """
[seeds]
count = 8
"""


def fault(kind, where, **ranges):
    lines = [f'[[fault]]\nkind = "{kind}"\nwhere = {where}']
    for key, value in ranges.items():
        lines.append(f"{key} = {{min = {value[0]}, max = {value[1]}}}" if isinstance(value, tuple) else f"{key} = {value}")
    return "\n".join(lines) + "\n"


ANY_PORT = '{values = [' + ", ".join(f'"nic1.port{i}"' for i in range(8)) + "]}"
FLAP = fault("link_flap", ANY_PORT, at_us=(0, 100), period_us=(40, 80), for_us=(1, 15), count=(1, 3))
LOSS = fault("loss", ANY_PORT.replace("nic1", "nic0"), at_us=(0, 150), for_us=(1, 30), probability=(0.01, 0.2))
SLOW = fault("link_rate", ANY_PORT, at_us=(0, 150), for_us=(5, 60), share=(0.5, 1))
STALL = fault("pcie_stall", '{values = ["nic0", "nic1"]}', at_us=(0, 200), for_us=(0.5, 8))
TRAFFIC = """
[traffic]
messages = {min = 16, max = 64}
bytes = {min = 16384, max = 1048576}
spread = {min = 1, max = 32}
burst = {min = 2, max = 64}
gap_us = {min = 0, max = 8}
reverse = {min = 0, max = 0.5}
"""

# Sizes that are ample, so that the attack has to tell which one is short.
AMPLE = {RECEIVER + "nic.parser.queue_entries": 256, SENDER + "nic.sack_processor.queue_entries": 1024,
         RECEIVER + "nic.ack_coalescer.queue_entries": 256}
CABLE = "fabric.cable_delay_ns = {min = 50, max = 300}\n"
CREDITS = "pcie.credit_return_ns = {min = 100, max = 420}\n"
MRRS = "pcie.mrrs_bytes = {values = [512, 1024, 4096]}\n"
QPS = ("traffic.qps_per_peer = {min = 1, max = 64}\ntraffic.outstanding_messages = {min = 16, max = 256}\n"
       "nic.qp_scheduler.quantum_bytes = {min = 4096, max = 65536}\n")
# Name: planted buffer, its size, objective, envelope.
WEAKNESSES = {
    "records for long cables": (SENDER + "nic.retransmit_buffer.entries", 140, "goodput>=99%", HOST + CABLE + SEEDS),
    "read tags for slow reads": (SENDER + "pcie.read_tags", 440, "goodput>=99%", HOST + MRRS + SEEDS),
    "completion buffer for the tail": (SENDER + "pcie.completion_buffer_bytes", 235000, "goodput>=99%", HOST + MRRS + SEEDS),
    "staging for a stall": (RECEIVER + "nic.rx_staging.bytes", 327680, "goodput>=99%", HOST + SEEDS + STALL + LOSS),
    "write descriptors for a stall": (RECEIVER + "nic.dma_write.queue_entries", 90, "p99<=102%", HOST + SEEDS + STALL + SLOW),
    "bitmap for a slow plane": (RECEIVER + "nic.psn_tracker.bitmap_banks", 4, "goodput>=99%", HOST + SEEDS + SLOW + LOSS),
    "bitmap for a flapping port": (RECEIVER + "nic.psn_tracker.bitmap_banks", 5, "goodput>=99%", HOST + SEEDS + FLAP),
    "port FIFO for a slow port": (SENDER + "nic.port.tx_fifo_bytes", 9000, "goodput>=99%", HOST + SEEDS + SLOW + STALL),
    "posted credits for slow returns": (RECEIVER + "pcie.posted_data_credits", 2600, "goodput>=99%", HOST + CREDITS + SEEDS + STALL),
    "contexts for many QPs": (SENDER + "nic.qp_scheduler.context_cache_entries", 3, "goodput>=99%", HOST + QPS + SEEDS + TRAFFIC),
}


def run(mrcsim, scenario, folder, settings):
    command = [mrcsim, "run", scenario, "--quiet", "--out", folder]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads((folder / "result.json").read_text())


def attack(mrcsim, name, search, runs, seed, folder):
    key, size, hold, envelope = WEAKNESSES[name]
    sizes = AMPLE | {key: size}
    (folder / "sized.toml").write_text("".join(f"{k} = {v}\n" for k, v in sizes.items()))
    (folder / "envelope.toml").write_text(envelope)
    command = [mrcsim, "attack", SCENARIO, "--sizes", folder / "sized.toml", "--envelope", folder / "envelope.toml", "--hold", hold,
               "--budget", f"{runs}runs", "--most", 1, "--search", search, "--db", folder / f"{search}.sqlite", "--out", folder / search,
               "--format", "json"]
    for setting in (BASE | {"seed": seed}).items():
        command += ["--set", "=".join(map(str, setting))]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def metric(result, hold):
    return result["goodput_gbps"] if hold.startswith("goodput") else -result["message_time_us"]["p99"]


def repeats(mrcsim, name, example, folder):
    """The scenario, run again, is as bad as the attack says, and the grown sizes make it as good as it says."""
    key, _, hold, _ = WEAKNESSES[name]
    grown = {k: change["to"] for k, change in example["grown"].items()}
    scenario = folder / example["file"]
    bad = metric(run(mrcsim, scenario, folder / "bad", {}), hold)
    good = metric(run(mrcsim, scenario, folder / "good", grown), hold)
    expected = example["score"] / example["healed_score"]
    return key in grown and bad < good and abs(bad / good / expected - 1) < 1e-6


def judge(mrcsim, name, runs, seed):
    """(runs until the planted weakness was found, or None, and the same of the random search)."""
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        found = []
        for search in ("guided", "random"):
            answer = attack(mrcsim, name, search, runs, seed, folder)
            good = [e for e in answer["counterexamples"] if repeats(mrcsim, name, e, folder / search)]
            if len(good) != len(answer["counterexamples"]):
                print(f"  {search}: {len(answer['counterexamples']) - len(good)} counterexamples do not repeat or heal another buffer")
            found.append(good[0]["after_runs"] if good else None)
        return found


def mean(counts, otherwise):
    return sum(otherwise if count is None else count for count in counts) / len(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3, help="attacks of each weakness")
    parser.add_argument("--only", default="")
    parser.add_argument("--least-found", type=int, default=9)
    parser.add_argument("--least-better", type=int, default=8)
    args = parser.parse_args()
    found = better = 0
    names = [name for name in WEAKNESSES if args.only in name]
    for name in names:
        tries = [judge(args.mrcsim, name, args.runs, seed) for seed in range(1, args.seeds + 1)]
        guided, by_chance = ([pair[i] for pair in tries] for i in (0, 1))
        found += None not in guided
        better += mean(guided, args.runs) < mean(by_chance, args.runs)
        print(f"{name}: runs until found: guided {guided}, random {by_chance}", flush=True)
    print(f"{found} of {len(names)} found with every seed; guided before random in {better}")
    return 0 if found >= min(args.least_found, len(names)) and better >= min(args.least_better, len(names)) else 1


if __name__ == "__main__":
    sys.exit(main())
