#!/usr/bin/env python3
"""What the slowest percent of the messages waits for, which is not always what goodput is lost to.

Of each configuration the first cause of p99 is known, and so is a setting that removes it: p99 has to fall by at least the
share that is given. Times by cause make up the time of the slowest messages. `mrcsim why --of p99` and `mrcsim size --hold
p99<=…` name the same causes.

  slowest_messages.py MRCSIM
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "tb/scenarios/pair.toml"
SMALL = {"traffic.rows": "512", "traffic.byte_scale": "0.0625", "traffic.outstanding_messages": "4"}
LARGE = {"traffic.rows": "32"}
LOSS = SMALL | {"fabric.loss_rate": "0.001"}
MODERATION = {"node.nic0.nic.completion.moderation_count": "8", "node.nic0.nic.completion.moderation_us": "20"}
# Settings, first cause of goodput, first cause of p99, what removes that, share of p99 that goes with it.
CASES = [
    (LOSS, "host.outstanding_messages", "retransmission_timeout", {"fabric.loss_rate": "0"}, 0.7),
    (SMALL | {"traffic.qps_per_peer": "4"} | MODERATION, None, "completion.moderation",
     {"node.nic0.nic.completion.moderation_count": "1"}, 0.6),
    (LARGE | {"node.nic0.nic.payload_fetch.queue_entries": "15"}, "payload_fetch.queue", "payload_fetch.queue",
     {"node.nic0.nic.payload_fetch.queue_entries": "64"}, 0.5),
    (LARGE | {"node.nic1.pcie.generation": "4"}, "receiver.pcie.line", "receiver.pcie.line",
     {"node.nic1.pcie.generation": "6"}, 0.6),
    (LARGE | {"node.nic1.nic.psn_tracker.initiation_interval_cycles": "100"}, "receiver.psn_tracker", "receiver.psn_tracker",
     {"node.nic1.nic.psn_tracker.initiation_interval_cycles": "1"}, 0.5),
    (LARGE, "framing", "port.line", {"nic.port_gbps": "200"}, 0.1),
]


def options(settings):
    return [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]


def mrcsim(executable, command, settings, *more):
    settings = {"host.payload": "reference"} | settings
    line = [executable, command, SCENARIO, *more, *options(settings)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, line))}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def run(executable, settings, folder):
    mrcsim(executable, "run", settings | {"run.message_causes": "true"}, "--quiet", "--out", folder)
    return json.loads((folder / "result.json").read_text())


def wrong(executable, case, folder):
    settings, of_goodput, of_p99, removed, share = case
    before = run(executable, settings, folder)
    p99 = before["message_time_us"]["p99"]
    causes = before["message_causes"]
    after = run(executable, settings | removed, folder)["message_time_us"]["p99"]
    print(f"{settings}: {before['limits'][0]['cause']}; p99 {p99:.1f} us: {causes[0]['cause']} {causes[0]['us']:.1f} us; "
          f"without it {after:.1f} us")
    found = []
    if of_goodput not in (None, before["limits"][0]["cause"]):
        found.append(f"goodput: {before['limits'][0]['cause']}, not {of_goodput}")
    if causes[0]["cause"] != of_p99:
        found.append(f"p99: {causes[0]['cause']}, not {of_p99}")
    if not p99 * 0.99 <= sum(row["us"] for row in causes) <= before["message_time_us"]["max"] * 1.01:
        found.append("times by cause do not make up the time of the slowest percent")
    if after > (1 - share) * p99:
        found.append(f"p99 falls to {after:.1f} us only")
    return found


def studies(executable, folder):
    """`why` and `size` name the causes of the message time, in us."""
    why = json.loads(mrcsim(executable, "why", LOSS, "--of", "p99", "--seeds", "1", "--format", "json", "--db", folder / "why.sqlite"))
    found = []
    if why["causes"][0]["cause"] != "retransmission_timeout" or "us" not in why["causes"][0]:
        found.append(f"why: {why['causes'][0]}")
    if not why["remedies"] or why["remedies"][0]["gain_us"] <= 0:
        found.append("why: no remedy")
    text = mrcsim(executable, "size", LARGE, "--buffer", "nic.payload_fetch.queue_entries", "--hold", "p99<=110%", "--seeds", "1",
                  "--db", folder / "size.sqlite")
    below = [line for line in text.splitlines() if "below it the loss is" in line]
    if len(below) != 1 or "payload_fetch.queue (+" not in below[0] or " us at " not in below[0]:
        found.append(f"size: {below}")
    return found


def main():
    failed = False
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        problems = [what for case in CASES for what in wrong(sys.argv[1], case, folder)] + studies(sys.argv[1], folder)
    for what in problems:
        print(f"WRONG: {what}")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
