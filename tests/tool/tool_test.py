#!/usr/bin/env python3
"""What is around a run: help, man page, completion, version, JSON on standard output, terminals, units on the command line.

tool_test.py MRCSIM REPOSITORY VERSION"""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MRCSIM, REPOSITORY, VERSION = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
PAIR = str(REPOSITORY / "tb/scenarios/pair.toml")
SHORT = ["--set", "traffic.byte_scale=0.1%"]


def mrcsim(*arguments, **more):
    return subprocess.run([MRCSIM, *arguments], capture_output=True, text=True, check=False, **more)


def in_terminal(arguments, environment):
    """What mrcsim writes to a terminal."""
    reader, writer = pty.openpty()
    process = subprocess.Popen([MRCSIM, *arguments], stdin=writer, stdout=writer, stderr=writer, env={**os.environ, **environment})
    os.close(writer)
    screen = b""
    while True:
        try:
            part = os.read(reader, 4096)
        except OSError:
            break
        if not part:
            break
        screen += part
    os.close(reader)
    process.wait()
    return screen.decode()


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = f"{self.folder.name}/out"

    def test_help_is_that_of_the_option(self):
        for command in ([], ["run"], ["trace", "generate", "flows"], ["help"]):
            self.assertEqual(mrcsim("help", *command).stdout, mrcsim(*command, "--help").stdout)
        self.assertIn("Usage: mrcsim run", mrcsim("help", "run").stdout)
        wrong = mrcsim("help", "rum")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn("nearest: run", wrong.stderr)

    def commands(self):
        """All commands, found by reading the help."""
        def below(path):
            text = mrcsim(*path, "--help").stdout
            listed = re.split(r"(?im)^subcommands:?\s*$", text)
            for name in re.findall(r"(?m)^  ([a-z]\w*) ", listed[1]) if len(listed) > 1 else []:
                yield [*path, name]
                yield from below([*path, name])
        return list(below([]))

    def test_man_page_has_every_command_and_option(self):
        page = mrcsim("help", "--format", "man").stdout
        self.assertIn("\n.B mrcsim\nrun SCENARIO [OPTIONS]\n", page)
        plain = page.replace("\\-", "-")
        commands = self.commands()
        self.assertGreater(len(commands), 20)
        for command in commands:
            self.assertIn(f'.SH "mrcsim {" ".join(command)}"\n', plain)
            for option in re.findall(r"--[a-z][a-z-]*", mrcsim(*command, "--help").stdout):
                self.assertIn(option, plain)
        if not shutil.which("groff"):
            return
        read = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, check=True)
        self.assertEqual(read.stderr, "")

    def complete(self, *words):
        """What bash offers for the last word."""
        script = self.folder.name + "/completion"
        pathlib.Path(script).write_text(mrcsim("help", "--format", "bash").stdout)
        quoted = " ".join(f"'{word}'" for word in words)
        command = (f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _mrcsim; "
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-uc", command], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_completion_offers_commands_options_and_values(self):
        self.assertEqual(self.complete("mrcsim", "ru"), ["run"])
        self.assertEqual(sorted(self.complete("mrcsim", "trace", "")), ["check", "convert", "generate", "info"])
        for pattern in ("ring_all_reduce", "all_to_all", "permutation", "incast"):
            self.assertIn(pattern, self.complete("mrcsim", "trace", "generate", ""))
        self.assertEqual(self.complete("mrcsim", "run", "pair.toml", "--perfetto-"), ["--perfetto-packets"])
        self.assertEqual(self.complete("mrcsim", "run", "pair.toml", "--format", ""), ["text", "json"])
        self.assertEqual(self.complete("mrcsim", "run", "pair.toml", "--set", "nic.por"), ["nic.ports=", "nic.port_gbps="]
                         + [word for word in self.complete("mrcsim", "run", "x", "--set", "nic.port.")])
        self.assertEqual(self.complete("mrcsim", "run", "pair.toml", "--set", "fabric.routing", "="), ["usid", "ecmp", "adaptive"])
        self.assertEqual(self.complete("mrcsim", "run", "pair.toml", "--set", "fabric.routing", "=", "e"), ["ecmp"])
        self.assertEqual(self.complete("mrcsim", "run", "x", "--set", "node.nic1.nic.memory.x", "=", "e"), [])
        self.assertEqual(self.complete("mrcsim", "params", "--explain", "pcie.read_ta"), ["pcie.read_tags"])
        self.assertEqual(self.complete("mrcsim", "run", "pair.toml", "--out", "x"), [])

    def test_version_names_commit_and_features(self):
        lines = mrcsim("--version").stdout.splitlines()
        self.assertRegex(lines[0], rf"^mrcsim {re.escape(VERSION)} \((commit [0-9a-f]{{10,}}(, modified)?|not built in a clone)\)$")
        self.assertEqual([line.split()[0] for line in lines[1:]], ["built", "with", "without", "RTL", "benches"])
        head = subprocess.run(["git", "-C", REPOSITORY, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False)
        if head.returncode == 0:
            self.assertIn("commit ", lines[0])

    def test_documents_have_the_version(self):
        self.assertIn(f"\n## {VERSION}\n", (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8"))
        self.assertIn(f"\nversion: {VERSION}\n", (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
        self.assertIn(f'\nversion = "{VERSION}"\n', (REPOSITORY / "tb/python/pyproject.toml").read_text(encoding="utf-8"))

    def test_summary_names_the_switch_queues_that_were_too_long(self):
        flows = "".join(f"0,{source},3,1MiB,{source}\n" for source in range(3))
        pathlib.Path(self.folder.name, "flows.csv").write_text("start_us,src,dst,bytes,tag\n" + flows)
        scenario = pathlib.Path(self.folder.name, "incast.toml")
        scenario.write_text('traffic.trace = "flows.csv"\nfabric.nics = 4\n')
        done = mrcsim("run", str(scenario), "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        ports = [row for row in json.loads(pathlib.Path(self.out, "result.json").read_text())["switch_ports"]
                 if row["dropped"] + row["trimmed"] + row["ce_marked"] > 0]
        self.assertGreater(len(ports), 6)
        lines = done.stdout.splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("  switch queues that were too long"))
        rows = [line.replace(",", "").split() for line in lines[first + 1:first + 7]]
        worst = max(ports, key=lambda row: (row["dropped"] + row["trimmed"], row["ce_marked"]))
        self.assertEqual(rows[0][0], worst["port"])
        by_name = {row["port"]: row for row in ports}
        for name, dropped, trimmed, marked, longest, unit in rows:
            row = by_name[name]
            self.assertEqual([int(dropped), int(trimmed), int(marked), int(longest), unit],
                             [row["dropped"], row["trimmed"], row["ce_marked"], row["most_queued_bytes"], "bytes"])
        self.assertEqual(lines[first + 7], f"    and {len(ports) - 6} others in switch_ports[] of result.json")
        self.assertNotIn("switch queues", mrcsim("run", PAIR, *SHORT, "--out", self.out).stdout)

    def test_a_run_says_where_it_comes_from(self):
        command = ["run", PAIR, *SHORT, "--quiet", "--out", self.out]
        self.assertEqual(mrcsim(*command, env={**os.environ, "SOURCE_DATE_EPOCH": "86400"}).returncode, 0)
        known = json.loads(pathlib.Path(self.out, "run.json").read_text())
        self.assertEqual(known["command"], " ".join(["mrcsim", *command]))
        self.assertEqual(known["time"], "1970-01-02 00:00 UTC")
        self.assertTrue(known["version"].startswith(VERSION))
        self.assertIn(known["version"].removeprefix(VERSION).strip(" ()"), mrcsim("--version").stdout)

    def test_json_on_standard_output_is_the_result(self):
        done = mrcsim("run", PAIR, *SHORT, "--out", self.out, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, pathlib.Path(self.out, "result.json").read_text())
        self.assertEqual(json.loads(done.stdout)["status"], "complete")
        stalled = mrcsim("run", PAIR, *SHORT, "--out", self.out, "--format", "json", "--set", "run.max_time_us=1")
        self.assertEqual(json.loads(stalled.stdout)["status"], "partial")

    def test_terminals(self):
        run = ["run", PAIR, *SHORT, "--out", self.out]
        self.assertIn("\033[32mcomplete\033[0m", in_terminal(run, {"TERM": "xterm", "NO_COLOR": ""}))
        self.assertNotIn("\033[32m", in_terminal(run, {"TERM": "xterm", "NO_COLOR": "1"}))
        self.assertNotIn("\033", in_terminal(run, {"TERM": "dumb", "NO_COLOR": ""}))

    def test_units_on_the_command_line_and_in_flow_files(self):
        same = [mrcsim("params", PAIR, "--format", "json", "--set", *settings).stdout for settings in (
            ["fabric.loss_rate=0.01", "nic.port_gbps=100", "nic.rx_staging.bytes=64000000", "fabric.cable_delay_ns=1500"],
            ["fabric.loss_rate=1%", "nic.port_gbps=0.1Tb/s", "nic.rx_staging.bytes=64MB", "fabric.cable_delay_ns=1.5us"])]
        self.assertTrue(same[0])
        self.assertEqual(same[0], same[1])
        wrong = mrcsim("params", PAIR, "--set", "nic.port_gbps=100GB/s")
        self.assertEqual((wrong.returncode, wrong.stderr.count("\n")), (2, 1))
        self.assertIn('"GB/s" is not a unit of it; allowed: ', wrong.stderr)
        self.assertIn("units: kb/s, Mb/s, Gb/s, Gbps, Tb/s", wrong.stderr)

        flows = pathlib.Path(self.folder.name, "flows.csv")
        flows.write_text("start_us,src,dst,bytes,tag\n0,0,1,64KiB,0\n0,0,1,1.5MB,0\n0,0,1,7,0\n")
        self.assertIn("1565543", mrcsim("trace", "info", str(flows)).stdout.replace(",", ""))
        flows.write_text("start_us,src,dst,bytes,tag\n0,0,1,64Kib,0\n")
        wrong = mrcsim("trace", "info", str(flows))
        self.assertEqual((wrong.returncode, wrong.stderr.count("\n")), (2, 1))
        self.assertIn(':2: column bytes is "64Kib"; allowed: an integer 1 … 1099511627776; units: B, kB, ', wrong.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
