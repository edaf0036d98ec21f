#!/usr/bin/env python3
"""The container file and the workflow without a container engine.

containerfile.py check REPOSITORY          what can be seen without running: syntax, stages, files that are named, commands
containerfile.py build REPOSITORY FOLDER [--suite 12|13] [--target STAGE] [-- ARGUMENT…]
                                           does the steps of the container file in a Debian that debootstrap makes in FOLDER, as root,
                                           and then starts the entry point with the arguments (default: --version)
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("SKIPPED: python3-yaml is missing")
    sys.exit(77)

SUITES = {"12": "bookworm", "13": "trixie"}
INSTRUCTIONS = {"ARG", "FROM", "COPY", "WORKDIR", "RUN", "ENTRYPOINT"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def instructions(text):
    """(instruction, argument) in order."""
    joined = text.replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def stages(text):
    """Instructions of each stage by its name, in order; a stage that begins with another has that one's first."""
    found, last = {}, None
    for name, argument in instructions(text):
        if name == "FROM":
            image, _, stage = argument.partition(" AS ")
            last = stage or f"stage {len(found)}"
            found[last] = list(found[image]) if image in found else [("IMAGE", image)]
        elif last:
            found[last].append((name, argument))
    return found


class Checker:
    def __init__(self, repository):
        self.repository = repository
        self.failures = []

    def expect(self, condition, message):
        if not condition:
            self.failures.append(message)
            print("FAILED:", message)

    def shell(self, command, where):
        done = subprocess.run(["bash", "-n"], input=command, capture_output=True, text=True, check=False)
        self.expect(done.returncode == 0, f"{where}: {done.stderr.strip()}")
        for program in re.findall(r"(?:^|\s|\()\.?/?((?:tb|tests)/[\w/.]+\.sh)", command):
            self.expect(os.access(self.repository / program, os.X_OK), f"{where}: {program}: is not an executable file")

    def container_file(self):
        text = (self.repository / "Containerfile").read_text()
        for name, argument in instructions(text):
            self.expect(name in INSTRUCTIONS, f"Containerfile: unknown instruction {name}")
            if name == "RUN":
                self.shell(argument, f"Containerfile: {argument}")
            if name == "ENTRYPOINT":
                self.expect(isinstance(json.loads(argument), list), f"Containerfile: {argument}")
        names = stages(text)
        self.expect("tests" in names, "Containerfile: has no stage tests")
        first = next(iter(names.values()))
        self.expect(first[0][1] == "docker.io/library/debian:${SUITE}", f"Containerfile: begins with {first[0][1]}")
        self.expect(list(names.values())[-1] == first, "Containerfile: what is built without --target is not the first stage")
        ran = [argument for steps in names.values() for name, argument in steps if name == "RUN"]
        for command in ("./tb/demo.sh", "./tests/run.sh"):
            self.expect(command in ran, f"Containerfile: does not run {command}")

    def workflow(self):
        file = self.repository / ".github/workflows/tests.yml"
        jobs = yaml.safe_load(file.read_text())["jobs"]
        for name, job in jobs.items():
            suites = job["strategy"]["matrix"]["suite"]
            self.expect(set(suites) == set(SUITES), f"{file.name}: {name}: suites are {suites}")
            self.expect(job["container"] == "debian:${{ matrix.suite }}", f"{file.name}: {name}: container is {job['container']}")
            steps = [step for step in job["steps"] if "run" in step]
            self.expect(len(steps) > 2, f"{file.name}: {name} has {len(steps)} commands")
            for step in job["steps"]:
                self.expect(("run" in step) != ("uses" in step), f"{file.name}: {name}: {step}")
            for step in steps:
                self.shell(step["run"], f"{file.name}: {step['run']}")
            ran = [step["run"].split()[0] for step in steps]
            for command in ("./tb/demo.sh", "./tests/run.sh", "./tb/bundle.sh"):
                self.expect(command in ran, f"{file.name}: {name} does not run {command}")


def filled(text, suite):
    return text.replace("${SUITE}", suite)


class Chroot:
    """A folder with a Debian; mounts of this process end with it."""

    def __init__(self, root):
        self.root, self.workdir = root, "/"

    def make(self, image):
        suite = SUITES[image.rpartition(":")[2]]
        mirror = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"], capture_output=True, text=True,
                                check=True).stdout.split()[0]
        subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)
        self.root.mkdir(parents=True)
        subprocess.run(["debootstrap", "--variant=minbase", suite, self.root, mirror], check=True, stdout=subprocess.DEVNULL)
        (self.root / "etc/apt/sources.list").write_text(f"deb {mirror} {suite} main\n")
        # The way to the packages is this system's: proxies, certificates, names.
        for folder in ("etc/apt/apt.conf.d", "etc/ssl/certs", "usr/local/share/ca-certificates"):
            if pathlib.Path("/", folder).is_dir():
                shutil.copytree(pathlib.Path("/", folder), self.root / folder, symlinks=True, dirs_exist_ok=True)
        for file in ("etc/resolv.conf", "etc/hosts"):
            shutil.copyfile(pathlib.Path("/", file), self.root / file)
        subprocess.run(["mount", "-t", "proc", "proc", self.root / "proc"], check=True)
        subprocess.run(["mount", "--rbind", "/dev", self.root / "dev"], check=True)

    def copy(self, repository, target):
        ignored = [f"--exclude=./{line.rstrip('/')}" for line in (repository / ".containerignore").read_text().split()]
        folder = self.root / target.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        tar = subprocess.Popen(["tar", "-C", repository, *ignored, "-cf", "-", "."], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-C", folder, "--no-same-owner", "-xf", "-"], stdin=tar.stdout, check=True)

    def run(self, command):
        own = {name: value for name, value in os.environ.items() if re.fullmatch(r"(?i)(https?_proxy|no_proxy|ssl_cert_file)", name)}
        environment = own | {"HOME": "/root", "PATH": PATH, "WORKDIR": self.workdir}
        inside = ["chroot", self.root, "/bin/sh", "-c", f'cd "$WORKDIR" && {command}']
        return subprocess.run(inside, env=environment, stdin=subprocess.DEVNULL, check=False).returncode


def build(repository, root, suite, target, arguments):
    text = (repository / "Containerfile").read_text()
    chroot, entry = Chroot(root), None
    for name, argument in stages(text)[target or list(stages(text))[-1]]:
        argument = filled(argument, suite)
        print(f"--- {name} {argument}", flush=True)
        code = 0
        if name == "IMAGE":
            chroot.make(argument)
        elif name == "COPY":
            chroot.copy(repository, argument.split()[1])
        elif name == "WORKDIR":
            chroot.workdir = argument
        elif name == "RUN":
            code = chroot.run(argument)
        elif name == "ENTRYPOINT":
            entry = json.loads(argument)
        if code != 0:
            print(f"FAILED: {argument}: exit code {code}")
            return 1
    return chroot.run(" ".join([*entry, *arguments])) if entry else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("check", "build"))
    parser.add_argument("repository", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--suite", choices=SUITES, default="12")
    parser.add_argument("--target")
    options, arguments = parser.parse_known_args()
    if options.what == "check":
        checker = Checker(options.repository)
        checker.container_file()
        checker.workflow()
        return 1 if checker.failures else 0
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("SKIPPED: needs root and debootstrap")
        return 77
    if not os.environ.get("MRCSIM_OWN_MOUNTS"):
        own = ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", *sys.argv]
        return subprocess.run(own, env=os.environ | {"MRCSIM_OWN_MOUNTS": "1"}, check=False).returncode
    arguments = [argument for argument in arguments if argument != "--"] or ["--version"]
    return build(options.repository, options.folder.resolve(), options.suite, options.target, arguments)


sys.exit(main())
