#!/usr/bin/env python3
"""Speed of two mrcsim executables in one session: side_by_side.py OLD_MRCSIM NEW_MRCSIM [--only TEXT] [--floor 0.97] [--instructions]

Each row of docs/performance.md's table is run by both in turn, --rounds times; compared is the least CPU time of each, so that other
work on the machine, which slows both, matters least. Ratios above 1: NEW is faster. Exit code 1 where a row is below --floor
or one of the two does not run it. --instructions compares instructions per data packet instead (valgrind's callgrind), which repeat to
0.1 % on a busy machine too; there NEW may have at most 1/floor of OLD's. Both executables want the same build type (Release).
"""
import argparse
import os
import shutil
import sys
import tempfile

import performance


def by_time(programs, scratch, case, rounds):
    """Least CPU seconds of each program; a text where one does not run."""
    name, scenario, settings, options = case
    least = [None, None]
    for turn in range(rounds):
        for which in ((0, 1), (1, 0))[turn % 2]:
            done, output = performance.run(programs[which], scratch, scenario, settings, options)
            if done is None:
                lines = output.strip().splitlines()
                return f"{programs[which]} does not run it: {lines[-1] if lines else ''}"
            least[which] = min(done["cpu_s"], least[which] or done["cpu_s"])
    return least


def by_instructions(programs, scratch, case):
    """Instructions of a data packet of each program; a text where one does not run."""
    counts = []
    for program in programs:
        counted = performance.instructions(program, scratch, case, caches=False)
        if not counted:
            return f"{program} does not run it"
        counts.append(counted["instructions_per_packet"])
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD_MRCSIM", type=os.path.abspath)
    parser.add_argument("new", metavar="NEW_MRCSIM", type=os.path.abspath)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    parser.add_argument("--no-rtl", action="store_true", help="leave out the rows with Verilated blocks")
    parser.add_argument("--short", action="store_true", help="leave out the permutations of 1024 and 4096")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each executable; default: 5")
    parser.add_argument("--floor", type=float, default=0.97, help="least ratio; default: 0.97")
    parser.add_argument("--instructions", action="store_true", help="instructions per data packet instead of CPU time")
    args = parser.parse_args()
    programs = (args.old, args.new)
    for program in programs:
        if not os.access(program, os.X_OK) or os.path.isdir(program):
            parser.error(f"{program} is not an executable")
    if args.instructions and not shutil.which("valgrind"):
        parser.error("--instructions wants valgrind (Debian: valgrind)")
    what = "instructions per packet" if args.instructions else f"CPU seconds, least of {args.rounds}"
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg()[:2])
    print(f"{what}; load average {load} when it began\n{'row':<44} {'old':>10} {'new':>10}  ratio")
    rows = low = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in performance.cases(scratch, args.short):
            if args.only not in case[0] or (args.no_rtl and case[3]):
                continue
            rows += 1
            pair = by_instructions(programs, scratch, case) if args.instructions else by_time(programs, scratch, case, args.rounds)
            if isinstance(pair, str):
                low += 1
                print(f"{case[0]:<44} {pair}", flush=True)
                continue
            ratio = pair[0] / pair[1]
            low += ratio < args.floor
            numbers = " ".join(f"{x:>10,}" if args.instructions else f"{x:>10.3f}" for x in pair)
            print(f"{case[0]:<44} {numbers}  {ratio:.3f}{'' if ratio >= args.floor else '  below ' + str(args.floor)}", flush=True)
    print(f"{rows} rows, {low} below {args.floor} or not run" if rows else f"no row holds {args.only}")
    return 1 if low or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
