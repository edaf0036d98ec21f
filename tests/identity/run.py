#!/usr/bin/env python3
"""Do two mrcsim executables give the same results? Runs the settings of settings.toml and compares result.json and series.json.

run.py --reference DIR --record MRCSIM    stores what MRCSIM gives in DIR
run.py --reference DIR MRCSIM             compares MRCSIM with what is stored there
run.py --against OLD_MRCSIM MRCSIM        runs both and compares

Exit code: 0 all are the same, 1 at least one differs, 2 usage. What is not compared: README.md.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILES = ("result.json", "series.json")
TIME_LIMIT_S = 600
# Not compared: by their paths, with * for an array's index. /limits: how idle time is divided among causes is a judgement that may
# become better while every packet stays where it is; halving_test, ledger_test and tests/causes hold it to what runs show.
IGNORED = {"result.json": ("/mrcsim_version", "/cost", "/details", "/events/*/effect", "/latency_terms/*/source", "/limits"), "series.json": ()}


class Setting:
    """One run: a scenario file of the repository or a text, with options, and the traces that it needs."""

    def __init__(self, name, scenario=None, text=None, set=(), options=(), generate=None, flows=None, quick=False):
        self.name, self.scenario, self.text = name, scenario, text
        self.set, self.options, self.generate, self.flows = list(set), list(options), generate, flows
        self.quick = quick
        self.rtl = any(word in ("--rtl", "--shadow") for word in self.options)

    def definition(self):
        return {key: value for key, value in vars(self).items() if key not in ("quick", "rtl")}

    def is_as_recorded(self, file):
        """The setting of this name in the reference is this one; comments of its text do not count."""
        recorded, own = json.loads(file.read_text()), self.definition()
        for definition in (recorded, own):
            definition["text"] = tomllib.loads(definition["text"] or "")
        return recorded == own

    def execute(self, mrcsim, folder):
        """Leaves result.json and series.json in `folder`; returns the exit code and the last line of what was printed."""
        with tempfile.TemporaryDirectory(prefix="mrcsim_identity.") as scratch:
            command = [mrcsim, "run", self._scenario_file(mrcsim, pathlib.Path(scratch)), "--quiet", "--yes", "--out", f"{scratch}/out"]
            command += self.options + [word for value in self.set for word in ("--set", value)]
            done = _run(command)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for file in FILES:
                if os.path.exists(f"{scratch}/out/{file}"):
                    shutil.copy(f"{scratch}/out/{file}", folder / file)
        return done

    def _scenario_file(self, mrcsim, scratch):
        if self.scenario:
            return str(ROOT / self.scenario)
        text = self.text
        if self.generate:
            trace = str(scratch / "trace.{rank}.et")
            code, last = _run([mrcsim, "trace", "generate", *self.generate, "--out", trace])
            if code != 0:
                raise RuntimeError(f"trace generate: exit code {code}: {last}")
            text = f'traffic.trace = "{trace}"\n' + text
        elif self.flows:
            (scratch / "flows.csv").write_text(self.flows)
            text = 'traffic.trace = "flows.csv"\n' + text
        (scratch / "scenario.toml").write_text(text)
        return str(scratch / "scenario.toml")


def _run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return -1, f"not done after {TIME_LIMIT_S} s"
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return done.returncode, lines[-1] if lines else ""


def settings():
    """All of settings.toml, of tb/validation, and of random/."""
    with open(HERE / "settings.toml", "rb") as file:
        lists = tomllib.load(file)
    rows = [Setting(**row) for row in lists["run"]]
    named = {row.scenario for row in rows}
    missing = [path.name for path in sorted((ROOT / "tb/scenarios").glob("*.toml")) if f"tb/scenarios/{path.name}" not in named]
    if missing:
        sys.exit(f"run.py: {HERE / 'settings.toml'} has no run of tb/scenarios/{missing[0]}")
    for path in sorted((ROOT / "tb/validation").glob("E*.toml"), key=lambda path: (int(re.sub(r"\D", "", path.stem)), path.stem)):
        rows += experiment(path, lists["validation"].get(path.stem, {}))
    quick = set(lists["random"]["quick"])
    for path in sorted((HERE / "random").glob("*.toml")):
        rows.append(Setting(f"random/{path.stem}", scenario=str(path.relative_to(ROOT)), quick=path.stem in quick))
    return rows


def experiment(path, shorter):
    """The cases of a published experiment, as `mrcsim validate` plays them with its first seed."""
    with open(path, "rb") as file:
        described = tomllib.load(file)
    base = (path.parent / "base.toml").read_text().splitlines()
    for case in described.get("case", []):
        rest = [line for line in base if line.partition(" = ")[0] not in case.get("set", {})]
        lines = [f"{key} = {json.dumps(value)}" for key, value in case.get("set", {}).items()]
        faults = ["[[fault]]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in fault.items()) for fault in case.get("fault", [])]
        yield Setting(f"validation/{path.stem}.{case['name']}", text="\n".join([*lines, *rest, *faults]) + "\n", set=shorter.get("set", []),
                      generate=case.get("generate"), flows=flow_csv(case.get("flow", [])), quick=shorter.get("quick", False))


def flow_csv(flows):
    """Rows of a flow CSV; src is a rank or [first, last], dst a rank, "+shift" or "others"."""
    rows = []
    for flow in flows:
        first, last = flow["src"] if isinstance(flow["src"], list) else (flow["src"], flow["src"])
        ranks, to = last - first + 1, flow["dst"]
        shifts = range(1, ranks) if to == "others" else [int(to) if isinstance(to, str) else None]
        for i in range(flow.get("count", 1)):
            start = flow.get("start_us", 0) + i * flow.get("interval_us", 0)
            for shift in shifts:
                for s in range(ranks):
                    destination = to if shift is None else first + (s + shift) % ranks
                    rows.append(f"{start},{first + s},{destination},{flow['bytes']},{i}\n")
    return "start_us,src,dst,bytes,tag\n" + "".join(rows) if rows else None


def differences(old, new, ignored, path=""):
    """Places where `new` is not `old`, as (JSON path, old, new); keys that only `new` has are not looked at."""
    if re.sub(r"/\d+(?=/|$)", "/*", path) in ignored:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            if key in new:
                yield from differences(value, new[key], ignored, f"{path}/{key}")
            elif f"{path}/{key}" not in ignored:
                yield f"{path}/{key}", value, "missing"
    elif isinstance(old, list) and isinstance(new, list):
        for i, (a, b) in enumerate(zip(old, new)):
            yield from differences(a, b, ignored, f"{path}/{i}")
        if len(old) != len(new):
            yield f"{path}", f"{len(old)} entries", f"{len(new)} entries"
    elif type(old) is not type(new) or old != new:
        yield path, old, new


def name_of(document, path):
    """What an array's entry calls itself, such as "nic0 parser", for readers of a path."""
    words = []
    for key in path.split("/")[1:]:
        if isinstance(document, dict):
            words += [document[k] for k in ("node", "part", "box", "name", "cause", "term", "structure", "block", "what", "port")
                      if isinstance(document.get(k), str) and key != k]
        document = document[int(key)] if isinstance(document, list) else document.get(key) if isinstance(document, dict) else None
    return " ".join(words)


def short(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def read(path):
    # Numbers stay text: 1 and 1.0 differ, and no digit is lost.
    return json.loads(path.read_text(), parse_float=str, parse_int=str) if path.exists() else None


def compare(old, new):
    """Lines about the differences of two folders."""
    lines = []
    codes = [(folder / "exit_code").read_text() for folder in (old, new)]
    if codes[0] != codes[1]:
        lines.append(f"exit code {codes[0]} -> {codes[1]}")
    for file in FILES:
        before, after = read(old / file), read(new / file)
        if before is None and after is None:
            continue
        if before is None or after is None:
            lines.append(f"{file}: {'not written before' if before is None else 'is not written any more'}")
            continue
        for path, a, b in differences(before, after, IGNORED[file]):
            name = name_of(before, path)
            lines.append(f"{file} {path or '/'}{f' ({name})' if name else ''}: {short(a)} -> {short(b)}")
    return lines


def execute(setting, mrcsim, folder):
    """Runs into `folder`; returns the seconds it took and the last line where nothing came out."""
    begin = time.monotonic()
    code, last = setting.execute(mrcsim, folder)
    (folder / "exit_code").write_text(str(code))
    (folder / "setting.json").write_text(json.dumps(setting.definition(), indent=1))
    return time.monotonic() - begin, "" if (folder / "result.json").exists() else f"exit code {code}: {last}"


def judge(setting, args, scratch):
    """One setting, run and compared: (verdict, lines, seconds); verdict: same, differs, recorded, not recorded, no result."""
    if args.record:
        seconds, error = execute(setting, args.mrcsim, args.reference / setting.name)
        return ("no result" if error else "recorded"), [error] if error else [], seconds
    reference = args.reference / setting.name
    if args.against:
        execute(setting, args.against, reference)
    if not (reference / "setting.json").exists():
        return "not recorded", ["the reference has no such run"], 0
    if not setting.is_as_recorded(reference / "setting.json"):
        return "not recorded", ["the reference was recorded with another setting of this name"], 0
    seconds, error = execute(setting, args.mrcsim, scratch / setting.name)
    lines = compare(reference, scratch / setting.name)
    if error and lines:
        lines.insert(0, error)
    return ("differs" if lines else "same"), lines, seconds


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim", metavar="MRCSIM", type=os.path.abspath)
    parser.add_argument("--reference", type=pathlib.Path, metavar="DIR", help="folder with stored results")
    parser.add_argument("--record", action="store_true", help="store results there instead of comparing")
    parser.add_argument("--against", metavar="OLD_MRCSIM", type=os.path.abspath, help="an executable in the place of stored results")
    parser.add_argument("--quick", action="store_true", help="some settings of each kind, in seconds")
    parser.add_argument("--no-rtl", action="store_true", help="leave out runs with Verilated blocks")
    parser.add_argument("--only", default="", metavar="REGEX", help="settings whose name matches")
    parser.add_argument("--jobs", "-j", type=int, default=1, help="runs at a time; default: 1")
    parser.add_argument("--all", action="store_true", help="print all differences, not the first of each setting")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep the new results here")
    parser.add_argument("--list", action="store_true", help="print the names of the settings and end")
    args = parser.parse_args()
    if not args.list and (args.reference is None) == (args.against is None):
        parser.error("give one of --reference DIR and --against OLD_MRCSIM")
    if args.record and args.against:
        parser.error("--record wants --reference DIR")
    for program in filter(None, (args.mrcsim, args.against)):
        if not os.access(program, os.X_OK) or os.path.isdir(program):
            parser.error(f"{program} is not an executable")
    return args


def main():
    args = arguments()
    chosen = [s for s in settings()
              if (s.quick or not args.quick) and not (args.no_rtl and s.rtl) and re.search(args.only, s.name)]
    if args.list:
        print("\n".join(s.name for s in chosen))
        return 0
    count = {}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mrcsim_identity.") as folder:
        scratch = args.keep or pathlib.Path(folder) / "new"
        if args.against:
            args.reference = pathlib.Path(folder) / "old"
        with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
            results = pool.map(lambda setting: judge(setting, args, scratch), chosen)
            for setting, (verdict, lines, seconds) in zip(chosen, results):
                count[verdict] = count.get(verdict, 0) + 1
                print(f"{verdict:<12} {setting.name:<34} {seconds:6.1f} s", flush=True)
                shown = lines if args.all else lines[:1]
                for line in shown:
                    print(f"    {line}")
                if len(lines) > len(shown):
                    print(f"    and {len(lines) - len(shown)} more (--all)")
    summary = ", ".join(f"{number} {verdict}" for verdict, number in count.items())
    print(f"{len(chosen)} settings in {time.monotonic() - begin:.0f} s: {summary or 'none matches'}")
    return 0 if chosen and set(count) <= {"same", "recorded"} else 1


if __name__ == "__main__":
    sys.exit(main())
