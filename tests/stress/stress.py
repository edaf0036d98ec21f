#!/usr/bin/env python3
"""Random scenarios from the registry's own ranges, and the laws that every run keeps.

stress.py MRCSIM [--seed N] [--count N] [--first N] [--jobs N] [--out DIR] [--except LAW,…]

A scenario is drawn by (seed, number): parameters, traffic, faults, transport, fidelities, RTL in shadow. Every finding is reduced to
the least that still shows it, and left as a scenario in --out with its trace and the command. Exit code: 0 none, 1 findings, 2 usage.
Laws: laws.py.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import draw
import laws

CPU_LIMIT_S = 120
TIME_LIMIT_S = 1800  # of a run that waits; a busy machine makes runs slow
MOST_REDUCING_RUNS = 120
MOST_REDUCING_S = 600


def limit_cpu():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S + 5))


def execute(mrcsim, scenario, folder, run, more=()):
    """Runs a scenario; returns (exit code, what was printed as an error, result, series as text). Code -1: it did not end.

    Runs of one scenario share its files in `folder`, whose names are in what is printed; `run` names the one of the results."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scenario.toml").write_text(scenario.toml())
    (folder / "flows.csv").write_text(scenario.flows_csv())
    out = folder / run
    shutil.rmtree(out, ignore_errors=True)
    command = [mrcsim, "run", folder / "scenario.toml", "--quiet", "--yes", "--out", out, *scenario.options, *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S, check=False,
                              preexec_fn=limit_cpu)
    except subprocess.TimeoutExpired:
        return laws.Outcome(-1, "", None, "")
    if done.returncode == -signal.SIGXCPU:
        return laws.Outcome(-1, "", None, "")
    texts = [(out / name).read_text() if (out / name).exists() else "" for name in ("result.json", "series.json")]
    try:
        result = json.loads(texts[0]) if texts[0] else None
    except ValueError:
        result = "damaged"
    return laws.Outcome(done.returncode, done.stderr, result, texts[1])


def findings_of(mrcsim, scenario, folder, exceptions):
    """(law, what) of all laws that the scenario breaks."""
    outcome = execute(mrcsim, scenario, folder, "one")
    found = laws.broken(scenario, outcome)
    if not found and scenario.compared and outcome.code in laws.ENDED:
        again = execute(mrcsim, scenario, folder, "again")
        found += laws.differences("repeatable", outcome, again, cost=True)
        if scenario.has_detailed():
            methods = execute(mrcsim, scenario, folder, "methods", ["--set", 'run.kernel=methods'])
            found += laws.differences("kernels", outcome, methods, cost=False)
    return [(law, what) for law, what in found if law not in exceptions], outcome.code


def reduce(mrcsim, scenario, law, folder, exceptions):
    """The smallest scenario on the way that still breaks `law`."""
    runs = 0
    deadline = time.monotonic() + MOST_REDUCING_S
    changed = True
    while changed:
        changed = False
        for smaller in scenario.smaller():
            runs += 1
            if runs > MOST_REDUCING_RUNS or time.monotonic() > deadline:
                return scenario
            if any(broken == law for broken, _ in findings_of(mrcsim, smaller, folder, exceptions)[0]):
                scenario = smaller
                changed = True
                break
    return scenario


def valid(mrcsim, scenario, folder):
    """The scenario without settings that contradict each other: halves of them are left out until it is accepted."""
    while scenario.settings:
        outcome = execute(mrcsim, scenario.without_time(), folder, "out")
        if outcome.code != 2:
            break
        named = [key for key, _ in scenario.settings if key in outcome.err]
        scenario = scenario.without(named or [key for key, _ in scenario.settings[::2]])
    return scenario


def try_one(options, table, number):
    scenario = draw.scenario(table, options.seed, number)
    with tempfile.TemporaryDirectory(prefix="mrcsim_stress.") as scratch:
        folder = pathlib.Path(scratch)
        scenario = valid(options.mrcsim, scenario, folder / "valid")
        found, code = findings_of(options.mrcsim, scenario, folder, options.exceptions)
        if not found:
            return number, code, []
        law = found[0][0]
        scenario = reduce(options.mrcsim, scenario, law, folder, options.exceptions)
        found = findings_of(options.mrcsim, scenario, folder, options.exceptions)[0] or found
    name = f"{law}_{options.seed}_{number}"
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{name}.csv").write_text(scenario.flows_csv())
    (options.out / f"{name}.toml").write_text(scenario.toml(f"{name}.csv"))
    words = " ".join(scenario.options)
    return number, code, [f"{what}\n    mrcsim run {options.out / name}.toml {words}" for _, what in found]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim", type=os.path.abspath)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first scenario")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("stress_findings"))
    parser.add_argument("--except", dest="exceptions", type=lambda text: set(text.split(",")), default=set())
    options = parser.parse_args()
    if options.exceptions - set(laws.NAMES):
        parser.error(f"no law {sorted(options.exceptions - set(laws.NAMES))[0]}; there are: {', '.join(laws.NAMES)}")
    return options


def main():
    options = parse()
    table = draw.Table(options.mrcsim)
    start = time.monotonic()
    codes = {}
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        numbers = range(options.first, options.first + options.count)
        for number, code, found in pool.map(lambda n: try_one(options, table, n), numbers):
            codes[code] = codes.get(code, 0) + 1
            bad += bool(found)
            for what in found:
                print(f"scenario {number}: {what}", flush=True)
    ends = ", ".join(f"{count} with exit code {code}" for code, count in sorted(codes.items()))
    print(f"seed {options.seed}: {options.count} scenarios ({ends}), {bad} with findings, {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
