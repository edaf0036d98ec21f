#!/usr/bin/env python3
"""Plants shortages in a pair of NICs and asks `mrcsim why` for a remedy.

A plant makes one or two sizes, rates or latencies short; three decoys are buffers cut to twice what the reference run
needs. The first remedy, run again as printed, has to bring 90 % of what removing the plants brings, and no decoy may be
in it. Without a plant the answer has to be that nothing is worth changing.

  plants.py MRCSIM [--seed N] [--single N] [--double N] [--none N] [--most-wrong SHARE] [--jobs N] [--log FILE]
            [--draws SEED.PLANTS.NUMBER ...]

--draws runs single draws instead, each of which has to be right. With --log each answer is appended to FILE as it comes, and the
answers that are already there are not looked for a second time: a long run can be interrupted, read, and continued.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "tb/scenarios/pair.toml"
BASE = {"host.payload": "reference", "traffic.rows": "32"}
SENDER, RECEIVER = "node.nic0.", "node.nic1."

# Key, range of the short value, value that is not short.
PLANTS = [
    (SENDER + "pcie.read_tags", (40, 140), "512"),
    (SENDER + "pcie.completion_buffer_bytes", (49152, 131072), "262144"),
    (SENDER + "pcie.non_posted_header_credits", (12, 40), "256"),
    (SENDER + "pcie.generation", (4, 5), "6"),
    (SENDER + "nic.retransmit_buffer.entries", (30, 90), "4096"),
    (SENDER + "nic.payload_fetch.queue_entries", (8, 30), "64"),
    (SENDER + "nic.core_clock_ghz", (0.3, 0.7), "1"),
    (SENDER + "nic.srv6_encap.initiation_interval_cycles", (70, 150), "1"),
    (SENDER + "nic.segmenter.initiation_interval_cycles", (60, 150), "1"),
    (SENDER + "nic.payload_fetch.initiation_interval_cycles", (60, 150), "1"),
    (SENDER + "nic.spray_scheduler.initiation_interval_cycles", (60, 150), "1"),
    (RECEIVER + "pcie.generation", (4, 4), "6"),
    (RECEIVER + "nic.parser.initiation_interval_cycles", (70, 150), "1"),
    (RECEIVER + "nic.psn_tracker.initiation_interval_cycles", (60, 150), "1"),
    (RECEIVER + "pcie.posted_header_credits", (30, 80), "256"),
    ("protocol.mpr_units", (1, 1), "8"),
    ("protocol.mtu_bytes", (1024, 1024), "4096"),
]
# Buffers, with twice what the reference run needs at most.
DECOYS = {
    SENDER + "nic.segmenter.queue_entries": "12",
    SENDER + "nic.doorbell.queue_entries": "32",
    SENDER + "nic.wqe_fetch.batch": "4",
    SENDER + "nic.sack_processor.queue_entries": "64",
    SENDER + "nic.completion.queue_entries": "16",
    SENDER + "nic.completion.cq_entries": "64",
    RECEIVER + "nic.rx_staging.bytes": "65536",
    RECEIVER + "nic.ack_coalescer.queue_entries": "16",
    RECEIVER + "nic.control_queue.entries": "16",
    RECEIVER + "nic.psn_tracker.bitmap_banks": "64",
    RECEIVER + "nic.dma_write.queue_entries": "64",
}


def short_value(draw, low, high):
    if isinstance(low, float):
        return f"{draw.uniform(low, high):.2f}"
    return str(draw.randint(low, high))


def options(settings):
    return [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]


def goodput(mrcsim, settings, folder):
    command = [mrcsim, "run", SCENARIO, "--quiet", "--out", folder / "run", *options(settings)]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads((folder / "run/result.json").read_text())


def diagnosis(mrcsim, settings, folder, jobs):
    command = [mrcsim, "why", SCENARIO, "--seeds", "1", "--format", "json", "--db", folder / "why.sqlite",
               *(("-j", str(jobs)) if jobs else ()), *options(settings)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


class Case:
    def __init__(self, draw, plants, decoys=3):
        self.plants = draw.sample(PLANTS, plants)
        self.decoys = draw.sample(sorted(DECOYS), decoys)
        self.settings = dict(BASE)
        self.settings.update({key: DECOYS[key] for key in self.decoys})
        self.settings.update({key: short_value(draw, *values) for key, values, _ in self.plants})
        self.without = self.settings | {key: value for key, _, value in self.plants}

    def text(self):
        return ", ".join(f"{key}={self.settings[key]}" for key, _, _ in self.plants) or "no plant"


def judge(mrcsim, case, jobs):
    """(None, note) where the answer is right, (what is wrong, note) otherwise."""
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        before = goodput(mrcsim, case.settings, folder)
        best = goodput(mrcsim, case.without, folder)["goodput_gbps"] - before["goodput_gbps"]
        note = f"{before['goodput_gbps']:.0f} Gb/s, {before['limits'][0]['cause']}, plants cost {best:.0f}"
        answer = diagnosis(mrcsim, case.settings, folder, jobs)
        if best < 0.02 * before["goodput_gbps"]:
            gain = answer["remedies"][0]["gain_gbps"] if answer["remedies"] else 0
            wrong = gain > 0.05 * before["goodput_gbps"] and not case.plants
            return ("something is found without a plant" if wrong else None), note
        if not answer["remedies"]:
            return "nothing found", note
        first = answer["remedies"][0]
        note += f"; {first['settings']} +{first['gain_gbps']:.0f}"
        if any(key in first["settings"] for key in case.decoys):
            return "a decoy is in the remedy", note
        again = goodput(mrcsim, case.settings | first["settings"], folder)["goodput_gbps"]
        if abs(again - first["goodput_gbps"]) > 0.01 * again:
            return f"run again: {again:.0f}", note
        return (None if first["gain_gbps"] >= 0.9 * best else "less than 90 % of what the plants cost"), note


def answer_of(mrcsim, draw, jobs):
    """Of a draw, SEED.PLANTS.NUMBER: a line that begins with right or WRONG."""
    case = Case(random.Random(draw), int(draw.split(".")[1]))
    what, note = judge(mrcsim, case, jobs)
    return f"{'right' if what is None else 'WRONG: ' + what}: {draw}: {case.text()}: {note}"


class Answers:
    """Lines by draw; those of an earlier run are read from the log."""

    def __init__(self, mrcsim, jobs, log):
        self.mrcsim, self.jobs, self.log, self.lines = mrcsim, jobs, log, {}
        for line in log.read_text().splitlines() if log and log.exists() else ():
            draw = re.search(r": (\d+\.\d+\.\d+): ", line)
            if draw:
                self.lines[draw[1]] = line

    def right(self, draw):
        if draw not in self.lines:
            self.lines[draw] = answer_of(self.mrcsim, draw, self.jobs)
            if self.log:
                with self.log.open("a") as log:
                    log.write(self.lines[draw] + "\n")
            print(self.lines[draw], flush=True)
        return self.lines[draw].startswith("right")


def in_turn(counts):
    """(plants, number) of all draws, each kind spread evenly, so that a run that is cut off has a share of each."""
    draws = [((number + 0.5) / count, plants, number) for plants, count in counts.items() for number in range(count)]
    return [(plants, number) for _, plants, number in sorted(draws)]


def totals(seen):
    return [f"{plants} plants: {sum(rights)} of {len(rights)} right" for plants, rights in sorted(seen.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--single", type=int, default=4)
    parser.add_argument("--double", type=int, default=2)
    parser.add_argument("--none", type=int, default=1)
    parser.add_argument("--most-wrong", type=float, default=0.05, help="share of singles and none; doubles: three times")
    parser.add_argument("--jobs", type=int, default=0, help="processes of `mrcsim why`; its default where 0")
    parser.add_argument("--log", type=pathlib.Path)
    parser.add_argument("--draws", nargs="+", default=[], metavar="SEED.PLANTS.NUMBER")
    args = parser.parse_args()
    answers = Answers(args.mrcsim, args.jobs, args.log)
    if args.draws:
        return 0 if all([answers.right(draw) for draw in args.draws]) else 1
    seen = {}
    for plants, number in in_turn({0: args.none, 1: args.single, 2: args.double}):
        seen.setdefault(plants, []).append(answers.right(f"{args.seed}.{plants}.{number}"))
        if args.log:
            print("  so far:", "; ".join(totals(seen)), flush=True)
    print("\n".join(totals(seen)))
    most = {plants: args.most_wrong * (3 if plants == 2 else 1) * len(rights) for plants, rights in seen.items()}
    return 1 if any(rights.count(False) > most[plants] for plants, rights in seen.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
