#!/usr/bin/env python3
"""Studies that are killed (SIGKILL) at random moments and started again: the database equals that of one that nobody disturbed, and
nothing is left beside it.

killed_studies.py MRCSIM SCENARIO [--kills N] [--seed N]     N kills of each study; exit code 1 where a database differs
"""
import argparse
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

COMMON = ["--set", "traffic.byte_scale=0.002", "--set", "host.payload=reference", "--quiet", "-j", "2"]
STUDIES = {
    "sweep": ["--vary", "pcie.read_tags=16..256:x2", "--seeds", "3"],
    "size": ["--buffer", "nic.retransmit_buffer.entries", "--seeds", "2"],
    "attack": ["--sizes", "{folder}/sized.toml", "--envelope", "{folder}/envelope.toml", "--budget", "120runs", "--out", "{folder}/out"],
}
FILES = {
    "sized.toml": "nic.rx_staging.bytes = 131072\npcie.read_tags = 512\n",
    "envelope.toml": """
parameters.host.doorbell_ns = {min = 100, max = 500}
seeds.count = 4
[[fault]]
kind = "pcie_stall"
where = {values = ["nic0", "nic1"]}
at_us = {min = 0, max = 10}
for_us = {min = 0.2, max = 10}
""",
}
# Times differ from run to run.
NOT_COMPARED = {"wall_seconds", "command"}


def content(database):
    """Every table as sorted rows, without what differs from time to time and without the order in which runs were planned."""
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    digests = {row["id"]: row["digest"] for row in connection.execute("SELECT id, digest FROM run")}
    tables = {}
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        rows = []
        for row in connection.execute(f"SELECT * FROM {table}"):
            values = {key: row[key] for key in row.keys() if key not in NOT_COMPARED}
            if table == "run":
                values.pop("id")
            if "run_id" in values:
                values["run_id"] = digests[values["run_id"]]
            rows.append(repr(sorted(values.items())))
        tables[table] = sorted(rows)
    connection.close()
    return tables


def run_whole(command):
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr}")
    return time.monotonic() - start


def killed_study(command, kills, whole_s, rng):
    """Starts and kills until `kills` kills have hit, each somewhere in the time that is left; then runs to the end."""
    hit = 0
    for _ in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, whole_s / 3))
        hit += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    run_whole(command)
    return hit


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim", type=os.path.abspath)
    parser.add_argument("scenario", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    bad = 0
    for study, words in STUDIES.items():
        with tempfile.TemporaryDirectory(prefix="mrcsim_killed.") as name:
            folder = pathlib.Path(name)
            for file, text in FILES.items():
                (folder / file).write_text(text)
            filled = [word.format(folder=folder) for word in words]
            command = lambda database: [options.mrcsim, study, options.scenario, *COMMON, *filled, "--db", folder / database]
            whole_s = run_whole(command("whole.sqlite"))
            # Databases of a few kills each: after a dozen there would be nothing left to disturb.
            hit = 0
            for part in range(0, options.kills, 5):
                (folder / "killed").mkdir(exist_ok=True)
                hit += killed_study(command("killed/study.sqlite"), min(5, options.kills - part), whole_s, rng)
                left = [entry.name for entry in (folder / "killed").iterdir() if entry.name != "study.sqlite"]
                same = content(folder / "whole.sqlite") == content(folder / "killed/study.sqlite")
                bad += bool(left) or not same
                if left or not same:
                    print(f"{study}: the database {'is the same' if same else 'differs'}; left: {left}")
                (folder / "killed/study.sqlite").unlink()
            print(f"{study}: {hit} of {options.kills} kills hit a study of {whole_s:.1f} s")
            if options.kills >= 5 and hit == 0:
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
