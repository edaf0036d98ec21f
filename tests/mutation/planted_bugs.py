#!/usr/bin/env python3
"""Bugs planted in the RTL one by one, and how many of them co-simulation and a run in shadow find.

planted_bugs.py BUILD [--only TEXT] [--cosim] [--shadow] [--markdown FILE]
planted_bugs.py --check

planted/bugs.toml lists the bugs, planted/BLOCK/NAME.patch is each. It is planted in a copy of tests/unit/BLOCK/pristine, as a user's RTL
(mrcsim_use_rtl) of the executable in BUILD; the modules are built in BUILD/planted_bugs, JOBS (from the environment) at a time.

--cosim: `mrcsim cosim BLOCK` at the small sizes for at most 45 s, then, where nothing was found, at the default sizes for the rest of 60 s.
--shadow: `mrcsim run tb/scenarios/rtl_corners.toml --shadow BLOCK`, of those bugs that a run can show (shadow = true). Without either,
both. Seconds are those of the processor, on a machine with nothing else to do those of the clock. --only: bugs whose BLOCK/NAME
contains TEXT. --markdown: the table goes into the page, with what an earlier call found of the same bug for what was not asked.
--check: only that all patches fit.

Exits 1 if fewer than 39 of 40 are found by co-simulation, or fewer than 20 of 30 in shadow; 2 if something fails to build or run.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

PLANTED = ROOT / "tests/mutation/planted"
SCENARIO = ROOT / "tb/scenarios/rtl_corners.toml"
COSIM_SECONDS = {"small": 45, "default": 60}  # at which the bench of this size ends, from the start of the first
SHADOW_SECONDS = 1800
WANTED = {"cosim": (39, 40), "shadow": (20, 30)}
FOUND_NOTHING, MISMATCH, OUT_OF_TIME = 0, 4, "out of time"


def refuse(message):
    print(f"planted_bugs.py: {message}", file=sys.stderr)
    sys.exit(2)


@dataclasses.dataclass
class Bug:
    block: str
    name: str
    what: str
    promise: str
    shadow: bool

    @property
    def path(self):
        return f"{self.block}/{self.name}"

    @property
    def patch(self):
        return PLANTED / f"{self.path}.patch"


@dataclasses.dataclass
class Verdict:
    """field and where are empty if the bug was not found."""
    seconds: float
    field: str = ""
    where: str = ""

    def cell(self):
        return f"{self.seconds:.2f} s, {self.where}: `{self.field}`" if self.field else "**not found**"


def read_bugs():
    bugs = [Bug(**entry) for entry in tomllib.loads((PLANTED / "bugs.toml").read_text())["bug"]]
    listed = [bug.patch for bug in bugs]
    for patch in PLANTED.glob("*/*.patch"):
        if patch not in listed:
            refuse(f"{patch} is not in bugs.toml")
    if len({bug.name for bug in bugs}) != len(bugs):
        refuse("bugs.toml: two bugs have the same name")
    return bugs


def plant(bug, folder):
    """The block's RTL with the bug in `folder`; files that are as they were keep their time, so that nothing is built again."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = pathlib.Path(scratch) / bug.name
        shutil.copytree(ROOT / "tests/unit" / bug.block / "pristine", fresh)
        if not bug.patch.exists():
            refuse(f"{bug.patch} does not exist")
        done = subprocess.run(["patch", "-p0", "--quiet", "--fuzz=0", "-i", bug.patch], cwd=fresh, capture_output=True, text=True)
        if done.returncode != 0:
            refuse(f"{bug.path} does not fit any more: {done.stdout.strip()}")
        folder.mkdir(parents=True, exist_ok=True)
        for source in sorted(fresh.glob("*.sv")):
            write_if_changed(folder / source.name, source.read_text())
        return sorted(source.name for source in fresh.glob("*.sv"))


def write_if_changed(file, text):
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


class Workshop:
    """The folder in which bugs become modules of the executable, and where it runs with them."""

    def __init__(self, build, bugs):
        self.mrcsim = build / "tb/mrcsim/mrcsim"
        if not self.mrcsim.exists():
            refuse(f"{self.mrcsim} is not built")
        self.folder = build / "planted_bugs"
        self.verdicts = self.folder / "verdicts"
        self.verdicts.mkdir(parents=True, exist_ok=True)
        # All are known at once, so that CMake configures once.
        lists = ["# Written by planted_bugs.py.", "set(MRCSIM_RTL_RUNS_SHORTLY ON)", "set(MRCSIM_RTL_COUNTS_NOTHING ON)"]
        for bug in bugs:
            sources = [f"{bug.name}/{source}" for source in plant(bug, self.folder / "rtl" / bug.name)]
            lists.append(f"mrcsim_use_rtl({bug.name} BLOCK {bug.block} SOURCES {' '.join(sources)})")
        write_if_changed(self.folder / "rtl/CMakeLists.txt", "\n".join(lists) + "\n")

    def build(self, bug, module):
        flags = f"-DMRCSIM_TESTS=OFF -DMRCSIM_USER_RTL={self.folder / 'rtl'}"
        log = self.folder / "build.log"
        with log.open("w") as output:
            done = subprocess.run([ROOT / "tb/build.sh", self.folder / "build", "-j", os.environ.get("JOBS", str(os.cpu_count())),
                                   "--target", f"{bug.name}_{module}"],
                                  env={**os.environ, "MRCSIM_CMAKE_FLAGS": flags}, stdout=output, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            refuse(f"{bug.path}: {module} is not built, see {log}")

    def run(self, bug, arguments, limit):
        """Exit code, or OUT_OF_TIME after `limit` seconds; seconds; what was said; the folder of the results."""
        # Modules are found by the name of the executable.
        executable = self.folder / "build/user_rtl/bin" / bug.name
        executable.unlink(missing_ok=True)
        shutil.copy(self.mrcsim, executable)
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        said = self.folder / "run.log"
        with said.open("w") as output:
            child = subprocess.Popen([executable, *arguments, "--out", out], stdout=output, stderr=subprocess.STDOUT,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
            _, status, usage = os.wait4(child.pid, 0)
        executable.unlink()
        seconds = usage.ru_utime + usage.ru_stime
        code = OUT_OF_TIME if os.WIFSIGNALED(status) and seconds > limit - 1 else os.waitstatus_to_exitcode(status)
        text = said.read_text()
        if code not in (FOUND_NOTHING, MISMATCH, OUT_OF_TIME):
            refuse(f"{bug.path}: mrcsim {' '.join(map(str, arguments))}: exit code {code}: {text[-500:]}")
        return code, seconds, text, out

    def cosim(self, bug):
        spent = 0.0
        for size, end in COSIM_SECONDS.items():
            self.build(bug, f"cosim_{bug.block}_{size}")
            code, seconds, _, out = self.run(bug, ["cosim", bug.block, "--size", size], round(end - spent))
            spent += seconds
            if code == MISMATCH:
                found = json.loads((out / "cosim.json").read_text())["mismatch"]
                return Verdict(spent, f"{found['port']}.{found['field']}", f"{size} sizes, transfer {found['transfer']:,}")
        return Verdict(spent)

    def shadow(self, bug):
        self.build(bug, f"rtl_{bug.block}")
        code, seconds, text, _ = self.run(bug, ["run", SCENARIO, "--shadow", bug.block, "--yes"], SHADOW_SECONDS)
        if code == OUT_OF_TIME:
            refuse(f"{bug.path}: the run in shadow takes more than {SHADOW_SECONDS} s")
        if code == FOUND_NOTHING:
            return Verdict(seconds)
        line = re.findall(r"mrcsim: mismatch: (.*)", text)[-1]
        # A difference has its place in the run; a block that does nothing any more has none.
        place = re.search(r"^(nic\d+).*, cycle (\d+): (.+?)(?:: expected|$)", line)
        return Verdict(seconds, place[3], f"{place[1]}, cycle {int(place[2]):,}") if place else Verdict(seconds, line, "the block does nothing")

    def remembered(self, bug):
        """What earlier calls found of this very patch."""
        file = self.verdicts / f"{bug.name}.json"
        kept = json.loads(file.read_text()) if file.exists() else {}
        if kept.pop("patch", None) != bug.patch.read_text():
            return {}
        return {kind: Verdict(**verdict) for kind, verdict in kept.items()}

    def remember(self, bug, verdicts):
        kept = {"patch": bug.patch.read_text(), **{kind: dataclasses.asdict(verdict) for kind, verdict in verdicts.items()}}
        (self.verdicts / f"{bug.name}.json").write_text(json.dumps(kept, indent=2) + "\n")


def counts(bugs, verdicts, kind):
    """How many were found, and of how many."""
    tried = [verdicts[bug.name][kind] for bug in bugs if kind in verdicts[bug.name]]
    return sum(bool(verdict.field) for verdict in tried), len(tried)


def enough(found, tried, kind):
    wanted, of = WANTED[kind]
    return found * of >= wanted * tried


def markdown(bugs, verdicts):
    lines = ["| bug | what is wrong | `mrcsim cosim` | in shadow |", "|---|---|---|---|"]
    for bug in bugs:
        cells = [verdicts[bug.name][kind].cell() if kind in verdicts[bug.name] else "" for kind in WANTED]
        lines.append(f"| [{bug.name}](../tests/mutation/planted/{bug.path}.patch) | {bug.block}: {bug.what} | {cells[0]} | {cells[1]} |")
    totals = ["{} of {}".format(*counts(bugs, verdicts, kind)) for kind in WANTED]
    lines.append(f"| {len(bugs)} bugs | found | **{totals[0]}** | **{totals[1]}** |")
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve(), nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--cosim", action="store_true")
    parser.add_argument("--shadow", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path)
    args = parser.parse_args()
    if not args.check and not args.build:
        parser.error("BUILD is missing")
    if not (args.cosim or args.shadow):
        args.cosim = args.shadow = True
    return args


def main():
    args = arguments()
    bugs = read_bugs()
    if args.check:
        with tempfile.TemporaryDirectory() as folder:
            for bug in bugs:
                plant(bug, pathlib.Path(folder) / bug.name)
        print(f"all {len(bugs)} bugs fit")
        return
    workshop = Workshop(args.build, bugs)
    verdicts = {bug.name: workshop.remembered(bug) for bug in bugs}
    asked = {"cosim": args.cosim, "shadow": args.shadow}
    chosen = [bug for bug in bugs if args.only in bug.path]
    for bug in chosen:
        for kind in [kind for kind in WANTED if asked[kind] and (kind == "cosim" or bug.shadow)]:
            verdict = getattr(workshop, kind)(bug)
            verdicts[bug.name][kind] = verdict
            workshop.remember(bug, verdicts[bug.name])
            print(f"{kind} {bug.path}: {verdict.cell()}", flush=True)
    good = True
    for kind in [kind for kind in WANTED if asked[kind]]:
        found, tried = counts(chosen, verdicts, kind)
        good = good and enough(found, tried, kind)
        print(f"{kind}: {found} of {tried} found")
    if args.markdown:
        page_table.write(args.markdown, "planted_bugs.py", markdown(bugs, verdicts))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
