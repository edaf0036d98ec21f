#!/usr/bin/env python3
"""The verification plan of each RTL block names what there is, and all of it.

check_plans.py ROOT [BLOCK…]     ROOT: the project; default: all blocks

rtl/BLOCK/verification_plan.md is a table. Its columns `assertions`, `bins` and `kept bugs and tests` have names in code marks:

  assertions           all of rtl/BLOCK/assertions, of tests/formal/BLOCK_properties.sv, and of rtl/BLOCK/*.sv; what is assumed in
                       rtl/BLOCK/assertions has a name too, contract_*, and need not be in the plan
  bins                 all points of tb/cosim/BLOCK/model.cpp
  kept bugs and tests  all of tests/unit/BLOCK/patches; and tests (Suite.Name) of tests/unit and tests/system

Exits with 1 and one line per name that is missing on either side, and per row that nothing checks.
"""
import pathlib
import re
import sys

COLUMNS = ["feature", "rule", "source", "assertions", "bins", "kept bugs and tests"]
NONE = "—"


def rows(plan):
    """(line number, cells by column) of the plan's table. Raises ValueError where it is not one."""
    table = [(number, line) for number, line in enumerate(plan.read_text(encoding="utf-8").splitlines(), 1) if line.startswith("|")]
    cells = [(number, [cell.strip() for cell in line.strip("|").split("|")]) for number, line in table]
    if len(cells) < 3 or cells[0][1] != COLUMNS:
        raise ValueError(f"{plan.name}: the first row of its table must be: {' | '.join(COLUMNS)}")
    for number, row in cells[2:]:
        if len(row) != len(COLUMNS):
            raise ValueError(f"{plan.name}:{number}: {len(row)} columns instead of {len(COLUMNS)}")
    return [(number, dict(zip(COLUMNS, row))) for number, row in cells[2:]]


def names(cell):
    return set(re.findall(r"`([^`]+)`", cell))


def assertions(root, block):
    """Their names; one without a name is a finding of its own, by its place."""
    found, unnamed = set(), []
    checkers = sorted((root / "rtl" / block / "assertions").glob("*.sv"))
    for file in [root / f"tests/formal/{block}_properties.sv", *checkers, *sorted((root / "rtl" / block).glob("*.sv"))]:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            code = line.split("//")[0]
            found |= set(re.findall(r"(\w+) *: *assert\b", code))
            if re.search(r"(?<!: )\bassert *\(", code):
                unnamed.append(f"{file.relative_to(root)}:{number}: the assertion has no name")
            if file in checkers and re.search(r"\bassume *\(", code) and not re.search(r"\bcontract_\w+ *: *assume\b", code):
                unnamed.append(f"{file.relative_to(root)}:{number}: what is assumed has no name contract_*")
    return found, unnamed


def bins(root, block):
    file = root / f"tb/cosim/{block}/model.cpp"  # joined neighbors have none of their own
    model = file.read_text(encoding="utf-8") if file.exists() else ""
    return set(re.findall(r'coverage\.(?:point|cross)\(\s*"([^"]+)"', model))


def tests(root):
    found = set()
    for folder in ("tests/unit", "tests/system"):
        for file in (root / folder).rglob("*_test.cpp"):
            found |= {f"{suite}.{name}" for suite, name in re.findall(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", file.read_text(encoding="utf-8"))}
    return found


def findings(root, block, all_tests):
    plan = root / "rtl" / block / "verification_plan.md"
    if not plan.exists():
        yield f"{plan.relative_to(root)}: missing"
        return
    place = plan.relative_to(root)
    asserted, unnamed = assertions(root, block)
    yield from unnamed
    there = {"assertions": asserted, "bins": bins(root, block),
             "kept bugs and tests": {file.stem for file in (root / "tests/unit" / block / "patches").glob("*.patch")}}
    planned = {column: set() for column in there}
    for number, row in rows(plan):
        for column, known in there.items():
            cell = names(row[column])
            planned[column] |= cell
            if not cell and row[column] != NONE:
                yield f'{place}:{number}: {column}: names in code marks, or {NONE}'
            may_be = known | all_tests if column == "kept bugs and tests" else known
            for name in sorted(cell - may_be):
                yield f"{place}:{number}: {column}: there is none of the name {name}"
        if not names(row["assertions"]) | names(row["bins"]):
            yield f'{place}:{number}: {row["feature"]}: nothing checks it'
        if not row["source"]:
            yield f'{place}:{number}: {row["feature"]}: no source'
    for column, known in there.items():
        for name in sorted(known - planned[column]):
            yield f"{place}: {column}: {name} is missing"


def main():
    root = pathlib.Path(sys.argv[1])
    blocks = sys.argv[2:] or sorted(file.parent.name for file in (root / "rtl").glob("*/contract.toml"))
    all_tests = tests(root)
    bad = 0
    for block in blocks:
        try:
            found = list(findings(root, block, all_tests))
        except ValueError as error:
            found = [f"rtl/{block}/{error}"]
        for line in found:
            print(line)
        bad += len(found)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
