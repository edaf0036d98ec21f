"""Line and branch coverage of headers below a folder, from gcov's counts of a build: coverage.py BUILD_DIR FOLDER LINES BRANCHES.

Prints both for each header and exits 1 below LINES or BRANCHES percent of all. gcov counts two branches behind each call that may
throw, of which the tests would have to take one by failing an allocation: such pairs are left out. What our own throw statements
are conditional on counts as any branch does.
"""
import collections
import json
import pathlib
import subprocess
import sys


def reports(build_dir):
    """gcov's JSON of each object that has counts."""
    for counts in sorted(build_dir.rglob("*.gcda")):
        text = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", counts.name], cwd=counts.parent,
                              check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            yield json.loads(line)


def without_exceptions(branches):
    """Drops each branch that an exception takes and the normal return beside it."""
    kept = []
    after_throw = False
    for branch in branches:
        if branch["throw"]:
            if kept and kept[-1]["fallthrough"]:
                kept.pop()
            else:
                after_throw = True
        elif after_throw and branch["fallthrough"]:
            after_throw = False
        else:
            kept.append(branch)
    return kept


def percent(counts):
    return 100.0 * sum(count > 0 for count in counts) / len(counts) if counts else 100.0


def main(build_dir, folder, least_lines, least_branches):
    lines = collections.defaultdict(collections.Counter)
    branches = collections.defaultdict(collections.Counter)
    for report in reports(build_dir):
        for file in report["files"]:
            path = (pathlib.Path(report["current_working_directory"]) / file["file"]).resolve()
            if not path.is_relative_to(folder):
                continue
            name = str(path.relative_to(folder))
            for line in file["lines"]:
                lines[name][line["line_number"]] += line["count"]
                # Instances of a template add up; those that compile to other branches are counted beside them.
                kept = without_exceptions(line["branches"])
                for i, branch in enumerate(kept):
                    branches[name][line["line_number"], len(kept), i] += branch["count"]
    if not lines:
        sys.exit(f"no line below {folder} was compiled into a test")

    def row(name, line_counts, branch_counts):
        print(f"{name:36} {percent(line_counts):6.1f} % of {len(line_counts):4} lines "
              f"{percent(branch_counts):6.1f} % of {len(branch_counts):4} branches")

    for name in sorted(lines):
        row(name, lines[name].values(), branches[name].values())
    all_lines = [count for counts in lines.values() for count in counts.values()]
    all_branches = [count for counts in branches.values() for count in counts.values()]
    row("all", all_lines, all_branches)
    for name in sorted(lines):
        missed = sorted({n for n, count in lines[name].items() if count == 0} |
                        {key[0] for key, count in branches[name].items() if count == 0})
        if missed:
            print(f"not all of {name}: {', '.join(map(str, missed))}")
    if percent(all_lines) < least_lines or percent(all_branches) < least_branches:
        sys.exit(f"below {least_lines:g} % of the lines or {least_branches:g} % of the branches")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), float(sys.argv[3]), float(sys.argv[4]))
