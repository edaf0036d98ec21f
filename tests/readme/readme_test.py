#!/usr/bin/env python3
"""Does what the README says, as a reader would: in a fresh clone the demo, then every line of "Try next" in one shell. Each line ends
with 0 and has its time beside it, and the printed example is what the program prints.

readme_test.py REPOSITORY [--build DIR] [--write] [--lines REGEX] [--time-limit SECONDS]

REPOSITORY is cloned as it is committed. --build takes a build folder instead of building (lines that build are left out); --write puts
times and example into REPOSITORY/README.md instead of comparing them.

readme_test.py REPOSITORY --texts only looks whether each line says what it does.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

# "# 12 s: what it does": as long as the line took where the README was written, on two cores.
TIMED = re.compile(r"^(?P<command>.*?\S)\s+# (?P<time>\d+ (?:s|min)): (?P<text>.+)$")
BUILDS = ("tb/build.sh", "tests/bench/run.sh")
# Depend on the machine, or, as the RTL's hash, on every comment of its files; they are not in the example.
OMITTED = ("  expects ", "  speed ", "RTL: ")
EXAMPLE = r"`(mrcsim run [^`]*)` \(the demo.*?\n```\n(.*?)```\n"
failures = []


def fail(message):
    failures.append(message)
    print("FAILED:", message, flush=True)


def lines_of(readme):
    block = re.search(r"## Try next\n.*?```\n(.*?)```\n", readme, re.S)
    return block.group(1).splitlines() if block else []


def wants_of(readme):
    """Cells of the rows of "I want to …"."""
    table = re.search(r"## I want to …\n(.*?)\n## ", readme, re.S)
    rows = [line.strip("| \n").split(" | ") for line in table.group(1).splitlines() if line.startswith("| ")] if table else []
    return rows[1:]


def check_wants(readme):
    rows = wants_of(readme)
    if len(rows) < 7:
        fail(f"README.md: \"I want to …\" has {len(rows)} rows")
    for row in rows:
        if len(row) != 3 or not re.fullmatch(r"`[^`]+`", row[1]) or not re.fullmatch(r"\[[^\]]+\]\([^)]+\)", row[2]):
            fail(f"README.md: \"I want to {row[0]}\" needs one command and one link")


def check_texts(readme):
    check_wants(readme)
    lines = lines_of(readme)
    if len(lines) < 10:
        fail(f"README.md: \"Try next\" has {len(lines)} lines")
    for line in lines:
        if not line.startswith("alias ") and not re.search(r"\S   # \S", line):
            fail(f"README.md: nothing says what this does: {line}")


def check_times(readme):
    for line in lines_of(readme):
        if not line.startswith("alias ") and not TIMED.match(line):
            fail(f"README.md: no time beside: {line}")


def in_words(seconds):
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{round(seconds / 60)} min"


def with_time(line, seconds):
    command, _, text = line.partition(" # ")
    text = re.sub(r"^\d+ (?:s|min): ", "", text)
    return f"{command.rstrip()}   # {in_words(seconds)}: {text}"


def environment():
    """mpirun as root wants to be asked twice (docs/scale.md)."""
    own = dict(os.environ)
    if os.geteuid() == 0:
        own |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return own


class Reader:
    """A shell in the clone; what it defines stays."""

    def __init__(self, clone, folder):
        self.folder = folder
        self.shell = subprocess.Popen(["bash", "-O", "expand_aliases"], cwd=clone, env=environment(), stdin=subprocess.PIPE, text=True)

    def type(self, line, limit):
        """Exit code and seconds; the code is None after `limit` seconds."""
        code, log = self.folder / "code", self.folder / "log"
        code.unlink(missing_ok=True)
        begin = time.monotonic()
        self.shell.stdin.write(f"{{ {line.split(' #')[0]}\n}} >'{log}' 2>&1 </dev/null; echo $? >'{code}.new'; mv '{code}.new' '{code}'\n")
        self.shell.stdin.flush()
        while not code.exists() and self.shell.poll() is None and time.monotonic() < begin + limit:
            time.sleep(0.05)
        return int(code.read_text()) if code.exists() else None, time.monotonic() - begin, log.read_text(errors="replace")

    def close(self):
        self.shell.stdin.close()
        if self.shell.wait() is None:
            self.shell.kill()


def clone_of(repository, folder, build):
    clone = folder / "mrcsim"
    subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", "--no-hardlinks", repository, clone], check=True)
    if build:
        # As the demo and the further build command leave it. The executable looks for its modules beside itself.
        for part in ("tb/mrcsim/mrcsim", "tb/mrcsim/mrcsim.rtl"):
            source, target = build / part, clone / "build" / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.exists():
                (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)
    return clone


def without_omitted(text):
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if not line.startswith(OMITTED))


def check_example(reader, readme, limit):
    """The example of "What a run prints"; returns the README with what is printed now."""
    command, printed = re.search(EXAMPLE, readme, re.S).groups()
    code, _, output = reader.type(command, limit)
    if code != 0:
        fail(f"{command}: exit code {code}:\n{output}")
        return readme
    now = without_omitted(output)
    return readme.replace(printed, now)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--lines", default="")
    parser.add_argument("--time-limit", type=float, default=3600)
    options = parser.parse_args()
    file = options.repository / "README.md"
    readme = file.read_text()
    check_texts(readme)
    if not options.write and not options.texts:
        check_times(readme)
    if options.texts:
        return 1 if failures else 0

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        clone = clone_of(options.repository, folder, options.build)
        reader = Reader(clone, folder)
        if not options.build:
            code, seconds, output = reader.type("./tb/demo.sh", options.time_limit)
            print(f"{in_words(seconds):>8}  ./tb/demo.sh", flush=True)
            if code != 0:
                fail(f"./tb/demo.sh: exit code {code}:\n{output}")
                return 1
        written = readme
        for line in lines_of(readme):
            is_alias = line.startswith("alias ")
            if not is_alias and not re.search(options.lines, line) or options.build and line.startswith(BUILDS):
                continue
            code, seconds, output = reader.type(line, options.time_limit)
            print(f"{in_words(seconds):>8}  {line.split(' #')[0].strip()}", flush=True)
            if code != 0:
                fail(f"{line}: exit code {code}:\n{output[-2000:]}")
                continue
            if not is_alias:
                written = written.replace(line, with_time(line, seconds))
        for _, command, _ in [] if options.lines else wants_of(readme):
            if "python3" in command and subprocess.run(["python3", "-c", "import pandas"], capture_output=True, check=False).returncode != 0:
                print(f" skipped  {command}: no pandas", flush=True)
                continue
            code, seconds, output = reader.type(command.strip("`"), options.time_limit)
            print(f"{in_words(seconds):>8}  {command}", flush=True)
            if code != 0:
                fail(f"{command}: exit code {code}:\n{output[-2000:]}")
        example = check_example(reader, written, options.time_limit)
        reader.close()
    if options.write and not failures:
        file.write_text(example)
    elif example != written and not options.write:
        fail("README.md: the example is not what the program prints; readme_test.py … --write puts it in")
    return 1 if failures else 0


sys.exit(main())
