#!/usr/bin/env python3
"""mrcsim as a network back-end of ASTRA-sim: its refusals, and ASTRA-sim's examples against its analytical back-end.

    astra_sim_test.py SOURCE MRCSIM PROGRAM refusals
    astra_sim_test.py SOURCE MRCSIM PROGRAM example_times            fails where a time misses its bound
    astra_sim_test.py SOURCE MRCSIM PROGRAM example_times --write    also writes the tables of docs/astra_sim.md
    astra_sim_test.py SOURCE MRCSIM PROGRAM ns3_times [--write]      the same with ASTRA-sim's ns-3 back-end

PROGRAM is mrcsim_astra_sim, or none where it is not built. The environment variable MRCSIM_ASTRA_SIM is the checkout of
ASTRA-sim, in which build/astra_analytical/build.sh has built the analytical back-end. MRCSIM_ASTRA_NS3, for ns3_times, is the
program of its ns-3 back-end. Without these: exit code 77.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import ns3

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
SIZES = (4, 8, 16)
MOST = max(SIZES)
MIB = 1 << 20
LARGE = 16
RING = "native_collectives/Ring_4chunks.json"
# Systems and networks of the examples' other scripts, for all_reduce of 8 NPUs.
OTHERS = {"all_reduce, `HGX-H100-validated.json`": ("native_collectives/HGX-H100-validated.json", "HGX-H100-validated"),
          "all_reduce, `custom_collective.json`": ("custom_collectives/custom_collective.json", "Ring_8npus")}
NODES = {"light": "endpoint", "detailed": "detailed"}
# Largest differences to the analytical time with mrcsim's latency and rate of payload.
BOUNDS = {"light": 0.02, "detailed": 0.25}
# What makes a detailed NIC slower, taken away part by part; then its largest difference to light endpoints.
PARTS = {"as above": [],
         "all PCIe reads take as long": ["pcie.read_latency_p99_ns=1000"],
         "also one plane of 400 Gb/s": ["pcie.read_latency_p99_ns=1000", "nic.ports=1", "nic.port_gbps=400"]}
REST = 0.05


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, body):
    """A field of a message, of bytes or of an integer."""
    if isinstance(body, int):
        return varint(number << 3) + varint(body)
    return varint(number << 3 | 2) + varint(len(body)) + body


def send_trace(peer):
    """A trace of one message to another NPU."""
    node = field(1, 1) + field(2, b"send") + field(3, 5)
    for name, value in ((b"comm_dst", peer), (b"comm_size", MIB), (b"comm_tag", 1)):
        node += field(10, field(1, name) + field(9, value))
    node += field(10, field(1, b"is_cpu_op") + field(27, 0))
    metadata = field(1, b"0.0.4")
    return varint(len(metadata)) + metadata + varint(len(node)) + node


def larger(trace, mib):
    """A trace of the examples, one message of metadata and one node, whose collective has another size."""
    def attribute(size):
        return field(10, field(1, b"comm_size") + field(9, size))
    begin = 1 + trace[0]
    node = trace[begin + 1:]
    changed = node.replace(attribute(MIB), attribute(mib * MIB))
    if changed == node or len(node) != trace[begin]:
        raise SystemExit("the example's trace is not as expected: no comm_size of 1 MiB")
    return trace[:begin] + varint(len(changed)) + changed


class Suite:
    def __init__(self, source, mrcsim, program, checkout, work):
        self.source = source
        self.mrcsim = mrcsim
        self.program = program
        self.checkout = checkout
        self.examples = checkout / "examples"
        self.analytical = checkout / "build/astra_analytical/build/bin/AstraSim_Analytical_Congestion_Unaware"
        self.work = work
        self.scenario = source / "tb/astra_sim/nics_4x100g.toml"

    def inputs(self, collective, npus, mib=1):
        folder = self.examples / "workload/microbenchmarks" / collective / f"{npus}npus_1MB"
        if mib == 1 and npus <= MOST:
            return folder / collective
        copy = self.work / f"{collective}_{npus}_{mib}"
        copy.mkdir(exist_ok=True)
        for rank in range(npus):
            # The examples have traces for at most MOST; those of one collective differ in the number of their node only.
            like = self.examples / "workload/microbenchmarks" / collective / f"{min(npus, MOST)}npus_1MB"
            trace = (like / f"{collective}.{rank % MOST}.et").read_bytes()
            (copy / f"{collective}.{rank}.et").write_bytes(trace if mib == 1 else larger(trace, mib))
        return copy / collective

    def common(self, workload, system=RING):
        return [f"--workload-configuration={workload}", f"--logging-folder={self.work}/log",
                f"--system-configuration={self.examples / 'system' / system}",
                f"--remote-memory-configuration={self.examples}/remote_memory/analytical/no_memory_expansion.json"]

    def topology(self, npus):
        path = self.work / f"{npus}.json"
        path.write_text(f'{{"logical-dims": ["{npus}"]}}\n')
        return path

    def start(self, command):
        """The examples name files from the checkout on."""
        return subprocess.run([str(word) for word in command], cwd=self.checkout, capture_output=True, text=True)

    def ours(self, workload, npus, *more, system=RING):
        command = [self.program, "--scenario", self.scenario, *self.common(workload, system),
                   f"--logical-topology-configuration={self.topology(npus)}", "--out", self.work / "out", *more]
        return self.start(command)

    def run_ours(self, workload, npus, *more, system=RING):
        done = self.ours(workload, npus, *more, system=system)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, done.args))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return ns3.last_finish(done.stdout, npus)

    def run_analytical(self, workload, npus, network, system=RING):
        return ns3.last_finish(self.start([self.analytical, *self.common(workload, system), f"--network-configuration={network}"]).stdout, npus)

    def network_like_ours(self, npus, latency_ns, share):
        """A switch between two hops: half the latency each. The analytical back-end's GB/s are 2^30 bytes a second."""
        nic = tomllib.loads(self.scenario.read_text())["nic"]
        gigabytes = nic["ports"] * nic["port_gbps"] / 8 * share * 1e9 / (1 << 30)
        path = self.work / f"switch_{npus}.yml"
        path.write_text(f"topology: [ Switch ]\nnpus_count: [ {npus} ]\nbandwidth: [ {gigabytes:.3f} ]\n"
                        f"latency: [ {latency_ns / 2:.1f} ]\n")
        return path

    def latency_ns(self, settings=()):
        """Of a small write to another NIC below the same switch."""
        done = subprocess.run([self.mrcsim, "latency", self.scenario, *ns3.sets(["traffic.trace=none", *settings])], check=True,
                              capture_output=True, text=True)
        return float(re.search(r"^sum\s+([\d.]+)", done.stdout, re.M)[1])

    def payload_share(self, settings=("nic.ports=4",)):
        """Of a full packet's time on a link, the part in which payload is sent."""
        result = self.work / "pair"
        subprocess.run([self.mrcsim, "run", self.source / "tb/scenarios/ring.toml", *ns3.sets([*settings, "fidelity=endpoint"]),
                        "--quiet", "--out", result], check=True)
        pair = json.loads((result / "result.json").read_text())
        return pair["framing_limit_gbps"] / pair["line_rate_gbps"]


# --- Refusals --------------------------------------------------------------------------------------------------------
def refusals(suite):
    workload = suite.inputs("all_reduce", 4)
    other = suite.work / "other.json"
    cases = []

    def case(wanted, arguments, npus=4, load=workload, system=RING):
        done = suite.ours(load, npus, *arguments, system=system)
        lines = [line for line in done.stderr.splitlines() if line]
        good = done.returncode == 2 and len(lines) == 1 and wanted in lines[0]
        cases.append(good)
        if not good:
            print(f"wanted exit code 2 and: {wanted}\n  got {done.returncode}: {done.stderr}")

    case("all_reduce.4.et: does not exist", [], npus=8)
    case("fabric.nics = 4, but 16 NPUs", ["--set", "fabric.nics=4"], npus=16)
    case("traffic.nics_per_rank = 1", ["--set", "traffic.nics_per_rank=2"])
    case("is not simulated", ["--set", "transport=ideal"])
    case("does not exist", ["--set", "seed=2", f"--comm-group-configuration={other}"])
    other.write_text("no JSON")
    case("is not a JSON object", [f"--comm-group-configuration={other}"])
    case("nic.ports", ["--set", "nic.ports=0"])
    case("unknown option --network-configuration; nearest: --", ["--network-configuration=x"])
    for rank in range(4):
        (suite.work / f"send.{rank}.et").write_bytes(send_trace(9))
    case("ASTRA-sim names sys[9]; allowed: 0 to 3", [], load=suite.work / "send")
    (suite.work / "system.json").write_text('{"endpoint-delay": "ten"}\n')
    case("ASTRA-sim does not take its files", [], system=suite.work / "system.json")
    print(f"{sum(cases)} of {len(cases)} refusals are one clear line with exit code 2")
    return all(cases)


# --- Times -----------------------------------------------------------------------------------------------------------
def row(suite, collective, npus, mib, like_ours):
    system, network = OTHERS.get(collective, (RING, f"Ring_{npus}npus"))
    workload = suite.inputs(collective.split(",")[0], npus, mib)
    times = {"example": suite.run_analytical(workload, npus, suite.examples / f"network/analytical/{network}.yml", system),
             "analytical": suite.run_analytical(workload, npus, like_ours, system)}
    for name, fidelity in NODES.items():
        times[name] = suite.run_ours(workload, npus, "--set", f"fidelity={fidelity}", system=system)
    return times


def example_times(suite, page):
    scenario_latency = suite.latency_ns()
    share = suite.payload_share()
    lines = ["| collective | NPUs | size | analytical, as in the examples | analytical, latency and rate of mrcsim | light | detailed | light / analytical | detailed / analytical |",
             "|---|---|---|---|---|---|---|---|---|"]
    good = True
    cases = [(c, n, 1) for c in COLLECTIVES for n in SIZES] + [(c, 8, LARGE) for c in COLLECTIVES]
    cases += [(c, 8, 1) for c in OTHERS]
    for collective, npus, mib in cases:
        times = row(suite, collective, npus, mib, suite.network_like_ours(npus, scenario_latency, share))
        ratios = [times[name] / times["analytical"] for name in NODES]
        good &= all(abs(times[name] / times["analytical"] - 1) <= bound for name, bound in BOUNDS.items())
        lines.append(f"| {collective} | {npus} | {mib} MiB | " +
                     " | ".join(f"{times[name] / 1000:.1f}" for name in ("example", "analytical", *NODES)) + " | " +
                     " | ".join(f"{ratio:.3f}" for ratio in ratios) + " |")
        print(lines[-1], flush=True)
    good &= is_exact(suite)
    text = "\n".join(lines)
    facts = (f"Times in us. Latency of a small write: {scenario_latency:.1f} ns (`mrcsim latency`). Payload is "
             f"{share * 100:.1f} % of what a link carries.")
    parts, rest_is_small = parts_of_difference(suite)
    if page:
        replace(page, "times", f"{facts}\n\n{text}")
        replace(page, "parts", parts)
    return good and rest_is_small


def is_exact(suite):
    """All finish times, twice and without lookahead."""
    times = []
    for kernel in ("wheel", "wheel", "methods"):
        suite.run_ours(suite.inputs("all_reduce", 8), 8, "--set", f"run.kernel={kernel}")
        times.append(json.loads((suite.work / "out/astra_sim.json").read_text()))
    if times[0] != times[1]:
        print(f"two runs of one input differ: {times[0]} and {times[1]}")
    if times[0] != times[2]:
        print(f"run.kernel = \"methods\" differs: {times[0]} and {times[2]}")
    return times[0] == times[1] == times[2]


def parts_of_difference(suite):
    lines = ["| all_reduce, 8 NPUs, 1 MiB | light | detailed | detailed / light |", "|---|---|---|---|"]
    workload = suite.inputs("all_reduce", 8)
    for what, settings in PARTS.items():
        light, detailed = (suite.run_ours(workload, 8, *ns3.sets([*settings, f"fidelity={fidelity}"]))
                           for fidelity in NODES.values())
        named = "".join(f", `{setting}`" for setting in settings)
        lines.append(f"| {what}{named} | {light / 1000:.1f} | {detailed / 1000:.1f} | {detailed / light:.3f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines), detailed / light - 1 <= REST


def ns3_times(suite, page, program):
    packets = ns3.Ns3(suite, program)
    good = True
    for name, rows in (("ns3", ns3.rows_as_mrcsim), ("as-ns3", ns3.rows_as_ns3)):
        text, agree = rows(suite, packets)
        good &= agree
        if page:
            replace(page, name, text)
    return good


def replace(page, name, text):
    old = page.read_text(encoding="utf-8")
    begin, end = f"<!-- begin: {name} -->\n", f"<!-- end: {name} -->"
    head, rest = old.split(begin)
    page.write_text(f"{head}{begin}{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("mrcsim")
    parser.add_argument("program")
    parser.add_argument("part", choices=("refusals", "example_times", "ns3_times"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    checkout = os.environ.get("MRCSIM_ASTRA_SIM")
    if not checkout or options.program == "none":
        print("skipped: MRCSIM_ASTRA_SIM is not a checkout of ASTRA-sim, or mrcsim was built without ASTRA_SIM_DIR")
        return 77
    with tempfile.TemporaryDirectory() as work:
        suite = Suite(options.source.resolve(), pathlib.Path(options.mrcsim).resolve(), pathlib.Path(options.program).resolve(),
                      pathlib.Path(checkout).resolve(), pathlib.Path(work))
        if options.part == "refusals":
            return 0 if refusals(suite) else 1
        if not suite.analytical.exists():
            print(f"skipped: {suite.analytical} is missing; build/astra_analytical/build.sh of the checkout builds it")
            return 77
        page = options.source / "docs/astra_sim.md" if options.write else None
        if options.part == "ns3_times":
            program = os.environ.get("MRCSIM_ASTRA_NS3")
            if not program or not os.access(program, os.X_OK):
                print("skipped: MRCSIM_ASTRA_NS3 is not the program of ASTRA-sim's ns-3 back-end (docs/astra_sim.md)")
                return 77
            return 0 if ns3_times(suite, page, pathlib.Path(program).resolve()) else 1
        return 0 if example_times(suite, page) else 1


if __name__ == "__main__":
    sys.exit(main())
