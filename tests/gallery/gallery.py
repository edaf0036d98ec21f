#!/usr/bin/env python3
"""The gallery: questions that are asked about MRC, each with a scenario, a command, a figure and an answer (docs/gallery.md).

Runs the questions of tb/gallery with `mrcsim validate`, which compares their numbers with what each file demands and draws the
figures. Numbers are means over the seeds with their 95 % interval (Student's t). With --write, writes docs/gallery.md, its figures
and gallery.json; otherwise compares the numbers with those of gallery.json, so that the page never says what runs no longer show.

  gallery.py MRCSIM [--write] [--quick | --only E1,E4] [--jobs N]
"""

import argparse
import json
import math
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
PAGE = ROOT / "docs/gallery.md"
LIST = HERE / "gallery.json"
QUESTIONS = json.loads((HERE / "questions.json").read_text())
SPEEDUP = 1.5  # that is claimed for a step of training
PAYLOAD, MRC_LINK_BYTES, ROCE_LINK_BYTES = 4096, 4262, 4198  # of a full packet
QUICK = ("E3", "E6", "E7", "E8", "E9", "E11")  # within a minute
SAME = 0.01  # of a number: other compilers round differently
T95 = (math.nan, math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)  # by the number of seeds


class Number:
    def __init__(self, what, unit, values):
        self.what, self.unit, self.values = what, unit, values
        self.mean = statistics.mean(values)
        self.half = T95[len(values)] * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0

    def text(self, scale=1, digits=3):
        def shown(value):
            return f"{value * scale:,.{0 if all(one == int(one) for one in self.values) else digits}f}"
        mean = shown(self.mean)
        low, high = shown(self.mean - self.half), shown(self.mean + self.half)
        return mean if low == high else f"{mean} ({low} … {high})"


def call(mrcsim, *words, codes=(0,)):
    done = subprocess.run([mrcsim, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"gallery: mrcsim {' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr}{done.stdout[-2000:]}")
    return done.stdout


def run_questions(mrcsim, names, work, jobs):
    """({id: [Number]}, what does not hold)"""
    call(mrcsim, "validate", "--experiments", "tb/gallery", "--only", ",".join(names), "--work", work, "--out", work / "gallery.md", "--quiet",
         "--jobs", jobs)
    numbers, wrong = {}, []
    for question in json.loads((work / "values.json").read_text()):
        numbers[question["id"]] = [Number(check["what"], check["unit"], check["values"]) for check in question["checks"]]
        wrong += [f"{question['id']}: {check['what']}: {statistics.mean(check['values']):g} does not hold" for check in question["checks"] if not check["agrees"]]
    missing = set(names) - set(numbers)
    return numbers, wrong + [f"{name}: did not run" for name in sorted(missing)]


def fabric(mrcsim, *settings):
    words = [word for setting in settings for word in ("--set", setting)]
    return json.loads(call(mrcsim, "fabric", "tb/scenarios/clos_131072.toml", "--format", "json", *words))


def three_tiers(nics, ports):
    """(switches, links) of a plane without oversubscription."""
    return 2 * nics // (ports // 2) + nics // ports, 3 * nics


def switched_bytes(work, case):
    """Bytes on all switch ports for each byte of payload that arrived, of the first seed."""
    result = json.loads((work / case / "result.json").read_text())
    return sum(port["bytes"] for port in result["switch_ports"]) / result["bytes"]["delivered"]


def above_t0s(work, case):
    """Bytes that T0s send up, of the first seed."""
    result = json.loads((work / case / "result.json").read_text())
    return sum(port["bytes"] for port in result["switch_ports"] if ".t0." in port["port"] and ".up" in port["port"])


def share_of_step(ratio):
    """Of a step with RoCE: what must be communication for SPEEDUP, where communication alone is `ratio` times faster."""
    return Number("share of a step with RoCE that communication must be", "", [(1 - 1 / SPEEDUP) / (1 - 1 / value) for value in ratio.values])


def extra_numbers(mrcsim, name, ours, work, wrong):
    """Numbers of a question that follow from those of its checks, or are not of runs."""
    if name == "E4":
        return [share_of_step(ours[0])]
    if name == "E5":
        return [Number(number.what.replace("payload, share of the line", "line, headers included"), "",
                       [value * (ROCE_LINK_BYTES if "RoCE" in number.what else MRC_LINK_BYTES) / PAYLOAD for value in number.values])
                for number in ours if number.what.endswith("payload, share of the line")]
    if name == "E8":
        switches = above_t0s(work, "E8.switches_above_t0s")
        return [Number(f"64 NICs below 4 T0s: bytes from T0s up, in the switches, of those {what}", "", [switches / above_t0s(work, f"E8.{case}")])
                for what, case in (("with halving and doubling", "halving_above_t0s"), ("of a ring in the order of the T0s", "ring_above_t0s"))]
    if name != "E7":
        return []
    small = fabric(mrcsim, "nic.ports=1", "nic.port_gbps=800", "fabric.nics=8192", "fabric.nics_per_t0=16", "fabric.pods=32", "fabric.t1s_per_plane=0",
                   "fabric.routing=ecmp")
    built = (small["t0s_per_plane"] + small["t1s_per_plane"] + small["t2s_per_plane"], small["cables"])
    if built != three_tiers(8192, 32):
        wrong.append(f"E7: mrcsim fabric has {built} switches and links in three tiers, arithmetic {three_tiers(8192, 32)}")
    planes = fabric(mrcsim)
    switches = planes["planes"] * (planes["t0s_per_plane"] + planes["t1s_per_plane"])
    links = planes["cables"] * planes["port_gbps"] / 800
    tiers, tier_links = three_tiers(planes["nics"], 64)
    return [Number("switches of 51.2 Tb/s, 8 planes in two tiers", "", [switches]), Number("switches of 51.2 Tb/s, one plane in three tiers", "", [tiers]),
            Number("switches, two tiers relative to three", "", [switches / tiers]),
            Number("links in units of 800 Gb/s, two tiers relative to three", "", [links / tier_links]),
            Number("bytes on switch ports for each byte delivered, two tiers", "", [switched_bytes(work, "E7.planes")]),
            Number("bytes on switch ports for each byte delivered, three tiers", "", [switched_bytes(work, "E7.three")])]


def filled(text, numbers):
    """{what|scale|digits} becomes the number of that name: mean, and its interval where there is one."""
    by_name = {number.what: number for number in numbers}

    def number(match):
        what, scale, digits = match[1].split("|")
        return by_name[what].text(float(scale), int(digits))
    return re.sub(r"\{([^}]*)\}", number, text)


def entry(question, numbers, seeds):
    name = question["id"]
    lines = [f"## {question['question']}", "", f"![{question['question']}](gallery/{name}.svg)", "",
             f"**Answer.** {filled(question['answer'], numbers)}", "",
             f"*Holds:* {question['holds']}. *Does not hold:* {question['does_not']}.", "",
             f"Scenario [`tb/gallery/{name}.toml`](../tb/gallery/{name}.toml), {seeds} seed{'s' if seeds > 1 else ''}:", "",
             "```sh", f"mrcsim validate --experiments tb/gallery --only {name} --work out/gallery --out out/gallery/gallery.md",
             *question.get("commands", []), "```", "", "| | mean (95 % interval) | |", "|---|---|---|"]
    lines += [f"| {number.what} | {number.text()} | {number.unit} |" for number in numbers]
    if "see" in question:
        lines += ["", f"More: {question['see']}."]
    return lines


def write_page(numbers, work):
    page = ["# Gallery", "", (HERE / "introduction.txt").read_text().strip(), ""]
    page += [f"- [{question['question']}](#{anchor(question['question'])})" for question in QUESTIONS]
    listed = []
    (ROOT / "docs/gallery").mkdir(exist_ok=True)
    for question in QUESTIONS:
        name = question["id"]
        ours = numbers[name]
        seeds = max(len(number.values) for number in ours)
        page += ["", *entry(question, ours, seeds)]
        shutil.copy(work / f"gallery/{name}.svg", ROOT / f"docs/gallery/{name}.svg")
        listed.append({"id": name, "question": question["question"], "scenario": f"tb/gallery/{name}.toml", "figure": f"docs/gallery/{name}.svg",
                       "command": f"mrcsim validate --experiments tb/gallery --only {name} --work out/gallery --out out/gallery/gallery.md", "seeds": seeds,
                       "answer": filled(question["answer"], ours),
                       "numbers": [{"what": number.what, "unit": number.unit, "mean": number.mean, "low": number.mean - number.half,
                                    "high": number.mean + number.half} for number in ours]})
    PAGE.write_text("\n".join(page) + "\n")
    LIST.write_text(json.dumps(listed, indent=2, ensure_ascii=False) + "\n")


def anchor(text):
    return "".join(letter for letter in text.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def differences(numbers):
    """Numbers that are not those of gallery.json."""
    listed = {question["id"]: question["numbers"] for question in json.loads(LIST.read_text())}
    wrong = []
    for name, ours in numbers.items():
        theirs = {number["what"]: number["mean"] for number in listed.get(name, [])}
        if set(theirs) != {number.what for number in ours}:
            wrong.append(f"{name}: gallery.json has other numbers; gallery.py --write writes it")
            continue
        wrong += [f"{name}: {number.what}: {number.mean:g}, the page has {theirs[number.what]:g}" for number in ours
                  if abs(number.mean - theirs[number.what]) > SAME * max(abs(number.mean), abs(theirs[number.what]))]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="write docs/gallery.md, its figures and gallery.json")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[question["id"] for question in QUESTIONS])
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    names = QUICK if args.quick else args.only
    mrcsim = args.mrcsim.resolve()
    with tempfile.TemporaryDirectory() as temp:
        work = pathlib.Path(temp)
        numbers, wrong = run_questions(mrcsim, names, work, args.jobs)
        for name in numbers:
            numbers[name] += extra_numbers(mrcsim, name, numbers[name], work, wrong)
        if args.write:
            write_page(numbers, work)
        else:
            wrong += differences(numbers)
            for name, ours in numbers.items():
                print(name, *(f"  {number.what}: {number.text()} {number.unit}" for number in ours), sep="\n")
    for what in wrong:
        print(f"gallery: {what}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
