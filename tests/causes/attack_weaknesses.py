#!/usr/bin/env python3
"""Plants weaknesses in the sizes of a pair of NICs and lets `mrcsim attack` look for them.

Each weakness is a buffer that suffices for the scenario as it is and for most of the envelope, but not for a known worst case, which
--check runs directly. An attack has found it if its counterexample, run a second time, misses the objective, and holds with the
enlarged sizes, and if the planted buffer is among those that grew. The random search gets as many runs; what counts is the number
of runs until the first broken case. The search was not adjusted to the weaknesses of the group `unseen`.

  attack_weaknesses.py MRCSIM [--runs N] [--seeds N] [--first-seed N] [--only NAME] [--group tuned|unseen] [--check]
                       [--least-found N] [--least-better N]
"""

import argparse
import json
import pathlib
import statistics
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
# A tail of the read latency alone breaks what is planted for a fault.
STEADY_HOST = """
[parameters]
pcie.read_latency_mean_ns = {min = 600, max = 1200}
pcie.read_latency_p99_ns = {relative_to = "pcie.read_latency_mean_ns", min = 1.1, max = 1.5}
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
FLAP = fault("link_flap", ANY_PORT, at_us=(0, 100), period_us=(40, 80), for_us=(0.1, 1.2), count=(1, 3))
LOSS = fault("loss", ANY_PORT.replace("nic1", "nic0"), at_us=(0, 150), for_us=(1, 30), probability=(0.01, 0.2))
SLOW = fault("link_rate", ANY_PORT, at_us=(0, 150), for_us=(5, 60), share=(0.5, 1))
STALL = fault("pcie_stall", '{values = ["nic0", "nic1"]}', at_us=(0, 200), for_us=(0.5, 8))

# Sizes that are ample, so that the attack has to tell which one is short.
AMPLE = {RECEIVER + "nic.parser.queue_entries": 256, SENDER + "nic.sack_processor.queue_entries": 1024,
         RECEIVER + "nic.ack_coalescer.queue_entries": 256}
# Ample as well, for a weakness that another buffer would hide.
ALSO_AMPLE = {"completion buffer for the tail": {SENDER + "nic.payload_fetch.queue_entries": 1024}}
CABLE = "fabric.cable_delay_ns = {min = 50, max = 300}\n"
CREDITS = "pcie.credit_return_ns = {min = 100, max = 420}\n"
MRRS = "pcie.mrrs_bytes = {values = [512, 1024, 4096]}\n"
MESSAGES = ("traffic.qps_per_peer = {min = 1, max = 8}\ntraffic.outstanding_messages = {min = 1, max = 64}\n"
            "traffic.byte_scale = {min = 0.015, max = 1}\n")
MTU = "protocol.mtu_bytes = {values = [2048, 4096]}\n"


def latency(mean, ratio):
    return {"pcie.read_latency_mean_ns": mean, "pcie.read_latency_p99_ns": round(mean * ratio)}


def happens(kind, where, **keys):
    rest = "".join(f", {key} = {value}" for key, value in keys.items())
    return {"fault.1": f'{{kind = "{kind}", where = "{where}"{rest}}}'}


# Name: planted buffer, its size, objective, envelope, known worst case.
WEAKNESSES = {
    "records for long cables": (SENDER + "nic.retransmit_buffer.entries", 147, "goodput>=99%", HOST + CABLE + SEEDS,
                                {"fabric.cable_delay_ns": 300} | latency(1300, 1.7)),
    "read tags for slow reads": (SENDER + "pcie.read_tags", 325, "goodput>=99%", HOST + MRRS + SEEDS, latency(1800, 1.1)),
    "completion buffer for the tail": (SENDER + "pcie.completion_buffer_bytes", 740000, "goodput>=99%", HOST + MRRS + SEEDS,
                                       latency(1800, 4)),
    "staging for a stall": (RECEIVER + "nic.rx_staging.bytes", 400000, "goodput>=99%", HOST + SEEDS + STALL + LOSS,
                            happens("pcie_stall", "nic1", at_us=60, for_us=8)),
    "write descriptors for a stall": (RECEIVER + "nic.dma_write.queue_entries", 100, "goodput>=99%", HOST + SEEDS + STALL + SLOW,
                                      happens("pcie_stall", "nic1", at_us=60, for_us=8)),
    "bitmap for a slow plane": (RECEIVER + "nic.psn_tracker.bitmap_banks", 4, "goodput>=99%", HOST + SEEDS + SLOW + STALL,
                                happens("link_rate", "nic1.port3", at_us=20, for_us=60, share=0.5)),
    "bitmap for a flapping port": (RECEIVER + "nic.psn_tracker.bitmap_banks", 5, "goodput>=99%", HOST + SEEDS + FLAP,
                                   happens("link_flap", "nic1.port3", at_us=20, period_us=40, for_us=1.2, count=3)),
    "port FIFO for a stall": (SENDER + "nic.port.tx_fifo_bytes", 9000, "goodput>=99%", STEADY_HOST + SEEDS + SLOW + STALL,
                              happens("pcie_stall", "nic0", at_us=60, for_us=8)),
    "posted credits for slow returns": (RECEIVER + "pcie.posted_data_credits", 2540, "goodput>=99%", HOST + CREDITS + SEEDS + STALL,
                                        {"pcie.credit_return_ns": 420} | happens("pcie_stall", "nic1", at_us=60, for_us=4)),
    "contexts for small messages": (SENDER + "nic.qp_scheduler.context_cache_entries", 7, "goodput>=99%", HOST + MESSAGES + SEEDS,
                                    {"traffic.qps_per_peer": 8, "traffic.outstanding_messages": 2, "traffic.byte_scale": 0.0625}),
}
UNSEEN = {
    "payload queue for small packets": (SENDER + "nic.payload_fetch.queue_entries", 115, "goodput>=99%", HOST + MTU + SEEDS + STALL,
                                        {"protocol.mtu_bytes": 2048} | latency(1800, 2)),
    "records for a slow plane": (SENDER + "nic.retransmit_buffer.entries", 135, "goodput>=99%", HOST + SLOW + SEEDS,
                                 happens("link_rate", "nic1.port3", at_us=20, for_us=60, share=0.5) | latency(1800, 1.1)),
    "read header credits for slow returns": (SENDER + "pcie.non_posted_header_credits", 75, "goodput>=99%", HOST + CREDITS + MRRS + SEEDS,
                                             {"pcie.credit_return_ns": 420}),
}
UNLIMITED = {"nic.retransmit_buffer.entries": 1 << 20, "pcie.read_tags": 4096, "pcie.completion_buffer_bytes": 1 << 30,
             "nic.rx_staging.bytes": 1 << 30, "nic.dma_write.queue_entries": 1 << 20, "nic.psn_tracker.bitmap_banks": 1 << 20,
             "nic.port.tx_fifo_bytes": 1 << 24, "pcie.posted_data_credits": 1 << 20, "nic.qp_scheduler.context_cache_entries": 1 << 16,
             "nic.payload_fetch.queue_entries": 4096, "pcie.non_posted_header_credits": 4096}


def run(mrcsim, scenario, folder, settings):
    command = [mrcsim, "run", scenario, "--quiet", "--out", folder]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads((folder / "result.json").read_text())


def attack(mrcsim, name, search, runs, seed, folder):
    key, size, hold, envelope, _ = (WEAKNESSES | UNSEEN)[name]
    sizes = AMPLE | ALSO_AMPLE.get(name, {}) | {key: size}
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
    key, _, hold, _, _ = (WEAKNESSES | UNSEEN)[name]
    grown = {k: change["to"] for k, change in example["grown"].items()}
    scenario = folder / example["file"]
    bad = metric(run(mrcsim, scenario, folder / "bad", {}), hold)
    good = metric(run(mrcsim, scenario, folder / "good", grown), hold)
    expected = example["score"] / example["healed_score"]
    return key in grown and bad < good and abs(bad / good / expected - 1) < 1e-6


def judge(mrcsim, name, runs, seed):
    """Of the guided and of the random search: runs until the planted weakness was found, or None."""
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        found = []
        for search in ("guided", "random"):
            answer = attack(mrcsim, name, search, runs, seed, folder)
            good = [e for e in answer["counterexamples"] if repeats(mrcsim, name, e, folder / search)]
            for example in answer["counterexamples"]:
                print(f"  {name}, seed {seed}, {search}: {example['after_runs']} runs, {100 * example['score']:.2f} %: "
                      f"{example['differences']}{'' if example in good else ': does not repeat, or heals another buffer'}", flush=True)
            found.append(good[0]["after_runs"] if good else None)
        return found


def check(mrcsim, name):
    """The known worst case misses the objective, the scenario as it is holds it."""
    key, size, hold, _, worst = (WEAKNESSES | UNSEEN)[name]
    with tempfile.TemporaryDirectory() as temp:
        shares = []
        for case in (worst, {}):
            base = BASE | AMPLE | ALSO_AMPLE.get(name, {}) | case
            sized, unlimited = (metric(run(mrcsim, SCENARIO, pathlib.Path(temp), base | {key: value}), hold)
                                for value in (size, UNLIMITED[key[len(SENDER):]]))
            shares.append(sized / unlimited)
    right = shares[0] < 0.99 <= shares[1]
    print(f"{'right' if right else 'WRONG'}: {name}: worst case {100 * shares[0]:.2f} %, as it is {100 * shares[1]:.2f} %", flush=True)
    return right


def median(counts, otherwise):
    return statistics.median(otherwise if count is None else count for count in counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3, help="attacks of each weakness")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--group", choices=("tuned", "unseen"), default="tuned")
    parser.add_argument("--check", action="store_true", help="only run the known worst cases")
    parser.add_argument("--least-found", type=int, default=9)
    parser.add_argument("--least-better", type=int, default=8)
    args = parser.parse_args()
    if args.check:
        return 0 if all([check(args.mrcsim, name) for name in WEAKNESSES | UNSEEN if args.only in name]) else 1
    found = better = 0
    names = [name for name in (WEAKNESSES if args.group == "tuned" else UNSEEN) if args.only in name]
    for name in names:
        tries = [judge(args.mrcsim, name, args.runs, seed) for seed in range(args.first_seed, args.first_seed + args.seeds)]
        guided, by_chance = ([pair[i] for pair in tries] for i in (0, 1))
        # Not found counts as the whole budget.
        medians = [median(counts, args.runs) for counts in (guided, by_chance)]
        found += 2 * sum(count is not None for count in guided) > len(guided)
        better += medians[0] < medians[1]
        print(f"{name}: runs until found: guided {guided}, random {by_chance}; medians {medians[0]:g} and {medians[1]:g}", flush=True)
    print(f"{found} of {len(names)} found with most seeds; guided before random in {better}")
    return 0 if found >= min(args.least_found, len(names)) and better >= min(args.least_better, len(names)) else 1


if __name__ == "__main__":
    sys.exit(main())
