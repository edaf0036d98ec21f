#!/usr/bin/env python3
"""UET against the times of another simulator on the same matrices: until the last flow is complete, mean over the seeds.

htsim_times.json has its times with the commands that gave them, so that nothing of it is needed here. The scenario is as near to its
fabric as the parameters allow: a leaf and spine without oversubscription, store and forward, no latency of switches and hosts. A packet
has 64 B of headers there and 146 B here; the line is faster by as much, so that a full packet takes as long. A trimmed packet takes 98 B
of link time here; 96 B there (-trimsize) take as long. The timeout is the power of two above the one there, 41.5 us: a shorter one
repeats packets of an all-to-all of 128 that only wait for their ACK.

  uet_against_htsim.py MRCSIM [--nodes 64,256] [--table]     exit code 1 if a mean differs by more than `within`. For a known
difference (`expected`, with the presumed reason `why`), `within` is counted from it.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from matrices import write_matrix

HERE = pathlib.Path(__file__).resolve().parent
TIMES = json.loads((HERE / "htsim_times.json").read_text(encoding="utf-8"))
SEEDS = (1, 2, 3)
LINK_BYTES = 4242  # of a full packet here

SCENARIO = """
transport = "uet"
[traffic]
trace = "{trace}"
outstanding_messages = 65536
[nic]
ports = 1
port_gbps = {gbps:.4f}
[nic.port]
mac_fec_latency_ns = 0
[nic.qp_scheduler]
quantum_bytes = 4096
[host]
post_ns = 0
doorbell_ns = 0
poll_ns = 0
residual_ns = 0
[pcie]
read_latency_mean_ns = 1
read_latency_p99_ns = 1
write_latency_ns = 1
[fabric]
nics = {nodes}
nics_per_t0 = {leaf}
routing = "ecmp"
forwarding = "store_and_forward"
cable_delay_ns = {cable_ns}
t1_cable_delay_ns = {cable_ns}
switch_latency_ns = 0
t1_switch_latency_ns = 0
trim_bytes = 74
[protocol]
encapsulation = "none"
[cc]
base_rtt_ns = {base_rtt_ns}
[uet]
congestion = "{congestion}"
path_policy = "{policy}"
entropies = 64
timeout_exponent = 6
{here}"""
POLICIES = {"oblivious": "rotation"}


def parameters(case):
    """Lines of [uet] for this case."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in case.get("here", {}).items())


def last_us(mrcsim, folder, case, seed):
    trace = folder / f"{case['traffic']}_{case['nodes']}.cm"
    if not trace.exists():
        write_matrix(trace, case["traffic"], case["nodes"], case["bytes"])
    scenario = folder / "scenario.toml"
    fabric = TIMES["fabric"]
    scenario.write_text(SCENARIO.format(trace=trace, nodes=case["nodes"], leaf=case["nics_per_leaf"], gbps=fabric["gbps"] * LINK_BYTES / fabric["link_bytes"],
                                        cable_ns=fabric["cable_ns"], base_rtt_ns=fabric["base_rtt_ns"],
                                        congestion=case["congestion"], policy=POLICIES[case["paths"]], here=parameters(case)),
                        encoding="utf-8")
    out = folder / "out"
    done = subprocess.run([mrcsim, "run", scenario, "--seed", str(seed), "--out", out, "--quiet", "--yes"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"uet_against_htsim: {case}: exit code {done.returncode}: {done.stderr}{done.stdout[-1000:]}")
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return result["all_message_time_us"]["max"], result["packets"]["retransmitted"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mrcsim")
    parser.add_argument("--nodes", default="64,128,256,1024")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    nodes = {int(word) for word in options.nodes.split(",")}
    wrong = 0
    if options.table:
        print("| traffic | nodes | bytes of a flow | congestion | paths | other simulator, us | here, us | difference | |\n|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for case in TIMES["cases"]:
            if case["nodes"] not in nodes:
                continue
            runs = [last_us(pathlib.Path(options.mrcsim).resolve(), pathlib.Path(name), case, seed) for seed in SEEDS]
            here = statistics.mean(time for time, _ in runs)
            there = statistics.mean(case["last_us"])
            difference = here / there - 1
            far = abs(difference - case.get("expected", 0)) > TIMES["within"]
            wrong += far
            note = f" ({case['note']})" if "note" in case else ""
            if options.table:
                print(f"| {case['traffic'].replace('_', '-')} | {case['nodes']:,} | {case['bytes']:,} | {case['congestion']} | {case['paths']} "
                      f"| {there:,.1f} | {here:,.1f} | {100 * difference:+.1f} % | {case.get('note', '')} |")
            else:
                print(f"{'FAR' if far else 'ok '} {case['traffic']} {case['nodes']} {case['congestion']} {case['paths']}{note}: {there:.1f} there, "
                      f"{here:.1f} here, {100 * difference:+.1f} %, retransmitted {runs[0][1]}", flush=True)
    sys.exit(1 if wrong else 0)


main()
