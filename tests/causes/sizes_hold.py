#!/usr/bin/env python3
"""Sizes that `mrcsim size --all` finds hold on seeds that it did not use, and none of them is larger than it has to be.

All buffers are sized together. The sizes are then tried on unused seeds, each judged by itself against the same run with these
buffers unlimited. Each buffer at 90 % of its size is tried on a few of these seeds; the one with which the fewest hold is the
critical one, and is tried on all of them: most have to fail.

  sizes_hold.py MRCSIM [--seed N] [--seeds N] [--set KEY=VALUE]... [--least-held N] [--most-critical N] [--jobs N]
                [--sizes FILE]
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "tb/scenarios/pair.toml"
BASE = ("host.payload=reference", "traffic.rows=16")
HOLD = 0.99
# Far from the seeds of the search, the confirmation and the last trial, which follow the scenario's own.
UNUSED = 1_000_000
# Seeds on which the critical buffer is looked for.
FEW = 4


def flat(table, prefix=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


class Runs:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.pool = concurrent.futures.ThreadPoolExecutor(args.jobs)

    def options(self, sizes, seed):
        settings = [*BASE, *self.args.set, f"seed={seed}", *(f"{key}={size}" for key, size in sizes.items())]
        return [text for setting in settings for text in ("--set", setting)]

    def goodput(self, sizes, seed):
        """None where the rules refuse the sizes; 0 where the run does not complete."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            command = [self.args.mrcsim, "run", SCENARIO, "--quiet", "--out", out, *self.options(sizes, seed)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 2:
                return None
            result = json.loads((pathlib.Path(out) / "result.json").read_text())
            return result["goodput_gbps"] if done.returncode == 0 else 0

    def goodputs(self, sizes, seeds):
        return list(self.pool.map(lambda seed: self.goodput(sizes, seed), seeds))

    def sized(self):
        if self.args.sizes:
            return dict(flat(tomllib.loads(self.args.sizes.read_text())))
        file = self.folder / "sized.toml"
        command = [self.args.mrcsim, "size", SCENARIO, "--all", "--quiet", "-j", str(self.args.jobs), "--hold", f"goodput>={HOLD:.0%}",
                   "--db", self.folder / "size.sqlite", "--write-sizes", file, *self.options({}, self.args.seed)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return dict(flat(tomllib.loads(file.read_text())))

    def unlimited(self, sizes):
        """The largest values that the registry allows, or where the rules refuse these together, half of them, and so on."""
        listed = subprocess.run([self.args.mrcsim, "params", "--format", "json"], check=True, capture_output=True, text=True).stdout
        largest = {row["name"]: int(row["maximum"]) for row in json.loads(listed) if "maximum" in row}
        larger = {key: next(most for name, most in largest.items() if key == name or key.endswith("." + name)) for key in sizes}
        while self.goodput(larger, self.args.seed) is None:
            larger = {key: max(size, larger[key] // 2) for key, size in sizes.items()}
        return larger


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--seed", type=int, default=1, help="of the search")
    parser.add_argument("--seeds", type=int, default=20, help="that the search did not use")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--least-held", type=int, default=19)
    parser.add_argument("--most-critical", type=int, default=9, help="seeds that may hold with the critical buffer at 90 %%")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sizes", type=pathlib.Path, help="instead of `mrcsim size --all`")
    args = parser.parse_args()
    seeds = [UNUSED + 1000 * args.seed + number for number in range(args.seeds)]
    with tempfile.TemporaryDirectory() as temp:
        runs = Runs(args, pathlib.Path(temp))
        sizes = runs.sized()
        reference = runs.goodputs(runs.unlimited(sizes), seeds)

        def held(these, count):
            goodputs = runs.goodputs(these, seeds[:count])
            if None in goodputs:
                return None
            return sum(goodput >= HOLD * most for goodput, most in zip(goodputs, reference))

        print(f"seed {args.seed}: {', '.join(f'{key} = {size}' for key, size in sizes.items())}", flush=True)
        shares = sorted(goodput / most for goodput, most in zip(runs.goodputs(sizes, seeds), reference))
        all_held = sum(share >= HOLD for share in shares)
        print(f"  held on {all_held} of {args.seeds} unused seeds; the least: {', '.join(f'{100 * share:.2f} %' for share in shares[:4])}", flush=True)
        smaller = {key: sizes | {key: size * 9 // 10} for key, size in sizes.items()}
        few = {key: held(these, min(FEW, args.seeds)) for key, these in smaller.items()}
        allowed = {key: count for key, count in few.items() if count is not None}
        critical = min(allowed, key=allowed.get)
        still_held = held(smaller[critical], args.seeds)
        print(f"  {critical} at 90 %: held on {still_held} of {args.seeds}; of {min(FEW, args.seeds)} with each at 90 %: "
              f"{', '.join(f'{key} {count}' for key, count in allowed.items())}", flush=True)
    return 0 if all_held >= args.least_held and still_held <= args.most_critical else 1


if __name__ == "__main__":
    sys.exit(main())
