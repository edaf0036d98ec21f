"""ASTRA-sim's examples on mrcsim and on ASTRA-sim's ns-3 back-end, below one switch: rows and tables of docs/astra_sim.md.

In ns-3's back-end a receiver learns of its message when the sender has the last ACK, so a step takes the way there and
back: its cables are as long as needed for mrcsim's latency, or mrcsim's as long as needed for that.
"""
import re
import subprocess

FRAME = 36  # of ns-3: PPP, IPv4, UDP, sequence number
ACK = 48  # one for each packet, on the links that data takes as well
MTU = 4096
CABLES = 4  # there and back
ONE_PLANE = ["nic.ports=1", "nic.port_gbps=400"]
EQUAL_READS = "pcie.read_latency_p99_ns=1000"
# Hosts and switches of ns-3 take no time.
NO_HOSTS = ["host.post_ns=0", "host.doorbell_ns=0", "host.poll_ns=0", "host.residual_ns=0", "pcie.read_latency_mean_ns=1",
            "pcie.read_latency_p99_ns=1", "pcie.write_latency_ns=0", "nic.port.mac_fec_latency_ns=0", "fabric.switch_latency_ns=0"]
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
AS_MRCSIM = [(collective, npus, 1) for collective in COLLECTIVES for npus in (8, 16)] + [("all_reduce", 32, 1), ("all_reduce", 8, 16)]
AS_NS3 = [(collective, 8, 1) for collective in COLLECTIVES]
EXPLAINED = 0.06
READS = 0.25  # of detailed NICs whose PCIe reads differ


def last_finish(output, npus):
    """Of the last system, in ns."""
    times = [int(t) for t in re.findall(r"sys\[\d+\] finished, (\d+) cycles", output)]
    if len(times) != npus:
        raise SystemExit(f"{len(times)} of {npus} systems finished\n{output}")
    return max(times)


class Ns3:
    """Networks of one switch for the program `ns3`, after the files of the checkout."""

    def __init__(self, suite, program):
        self.suite = suite
        self.program = program
        scratch = suite.checkout / "extern/network_backend/ns-3/scratch"
        self.configuration = (scratch / "config/config.txt").read_text()
        link = (scratch / "topology/8_nodes_1_switch_topology.txt").read_text().splitlines()[2].split()
        self.bps = float(link[2].removesuffix("Gbps")) * 1e9
        self.delay_ns = float(link[3].removesuffix("ms")) * 1e6
        self.payload = int(re.search(r"^PACKET_PAYLOAD_SIZE (\d+)", self.configuration, re.M)[1])

    def share(self, payload):
        """Of what a link carries when each node sends as much as it receives."""
        return payload / (payload + FRAME + ACK)

    def latency_ns(self, bps, delay_ns, payload):
        """Of a message of one packet, which the switch receives whole before it sends it."""
        return CABLES * delay_ns + (payload + FRAME) * 8e9 / bps

    def network(self, npus, bps, delay_ns, payload):
        work = self.suite.work
        links = "".join(f"{npus} {node} {bps:.0f}bps {delay_ns:.1f}ns 0\n" for node in range(npus))
        (work / "topology.txt").write_text(f"{npus + 1} 1 {npus}\n{npus}\n{links}")
        (work / "none.txt").write_text("0\n")
        changes = {"TOPOLOGY_FILE": work / "topology.txt", "FLOW_FILE": work / "none.txt", "TRACE_FILE": work / "none.txt",
                   "PACKET_PAYLOAD_SIZE": payload}
        changes |= {f"{name}_FILE": work / f"{name}.out" for name in ("TRACE_OUTPUT", "FCT_OUTPUT", "PFC_OUTPUT", "QLEN_MON")}
        changes |= {f"{name}_MAP": f"1 {bps:.0f} {self.mark(name)}" for name in ("KMAX", "KMIN", "PMAX")}
        text = self.configuration
        for key, value in changes.items():
            text, found = re.subn(rf"^{key} .*$", f"{key} {value}", text, flags=re.M)
            if found != 1:
                raise SystemExit(f"{found} lines {key} in the configuration of ns-3")
        (work / "ns3.txt").write_text(text)
        return work / "ns3.txt"

    def mark(self, name):
        """What the configuration has for 400 Gb/s."""
        words = re.search(rf"^{name}_MAP (.*)$", self.configuration, re.M)[1].split()[1:]
        return dict(zip(words[0::2], words[1::2]))[f"{self.bps:.0f}"]

    def run(self, workload, npus, bps, delay_ns, payload):
        command = [self.program, *(word for word in self.suite.common(workload) if "logging" not in word),
                   f"--logical-topology-configuration={self.suite.topology(npus)}",
                   f"--network-configuration={self.network(npus, bps, delay_ns, payload)}"]
        output = subprocess.run(command, cwd=self.suite.work, capture_output=True, text=True).stdout
        return last_finish(output, npus)


def sets(settings):
    return [word for setting in settings for word in ("--set", setting)]


def mrcsim_like(suite, ns3):
    """Settings with which mrcsim has the rate, the latency and the packets of ns-3's own configuration."""
    packets = [*NO_HOSTS, f"protocol.mtu_bytes={ns3.payload}", "nic.ports=1"]
    share = suite.payload_share([*packets[len(NO_HOSTS):], "nic.port_gbps=400"])
    rate = f"nic.port_gbps={ns3.bps / 1e9 * ns3.share(ns3.payload) / share:.3f}"
    cable_ns = 1000
    others_ns = suite.latency_ns([*packets, rate, f"fabric.cable_delay_ns={cable_ns}"]) - 2 * cable_ns
    wanted_ns = ns3.latency_ns(ns3.bps, ns3.delay_ns, ns3.payload)
    return [*packets, rate, f"fabric.cable_delay_ns={(wanted_ns - others_ns) / 2:.1f}"]


def ns3_like(ns3, latency_ns, share):
    """(rate in bit/s, delay of a cable, payload) with which ns-3 has the rate, latency and packets of mrcsim."""
    bps = 400e9 * share / ns3.share(MTU)
    return bps, (latency_ns - (MTU + FRAME) * 8e9 / bps) / CABLES, MTU


def ours(suite, workload, npus, settings):
    return suite.run_ours(workload, npus, *sets([f"fabric.nics={max(npus, 16)}", f"fabric.nics_per_t0={max(npus, 16)}", *settings]))


def cell(number):
    return f"{number / 1000:.1f}" if number > 10 else f"{number:.3f}"


def line(case, numbers):
    collective, npus, mib = case
    return f"| {collective} | {npus} | {mib} MiB | " + " | ".join(map(cell, numbers)) + " |"


def rows_as_mrcsim(suite, ns3):
    """ns-3 with mrcsim's latency and rate."""
    latency_ns, share = suite.latency_ns(ONE_PLANE), suite.payload_share(ONE_PLANE)
    network = ns3_like(ns3, latency_ns, share)
    lines, good = [], True
    for case in AS_MRCSIM:
        collective, npus, mib = case
        workload = suite.inputs(collective, npus, mib)
        packet = ns3.run(workload, npus, *network)
        closed = suite.run_analytical(workload, npus, suite.network_like_ours(npus, latency_ns, share))
        light = ours(suite, workload, npus, [*ONE_PLANE, "fidelity=endpoint"])
        detailed = ours(suite, workload, npus, ONE_PLANE)
        equal = ours(suite, workload, npus, [*ONE_PLANE, EQUAL_READS])
        ratios = [light / packet, detailed / packet, equal / packet]
        good &= all(abs(ratio - 1) <= bound for ratio, bound in zip(ratios, (EXPLAINED, READS, EXPLAINED)))
        lines.append(line(case, [closed, packet, light, detailed, *ratios]))
        print(lines[-1], flush=True)
    facts = (f"Times in us. Both: {latency_ns:.1f} ns for a small message, {400 * share:.1f} Gb/s of payload. ns-3: links of "
             f"{network[0] / 1e9:.1f} Gb/s and {network[1]:.0f} ns.")
    head = ("| collective | NPUs | size | analytical | ns-3 | light | detailed | light / ns-3 | detailed / ns-3 | "
            f"detailed, `{EQUAL_READS}`, / ns-3 |\n|" + "---|" * 10)
    return "\n".join([facts, "", head, *lines]), good


def rows_as_ns3(suite, ns3):
    """mrcsim as it is and with the latency, rate and packets of ns-3's configuration."""
    like = mrcsim_like(suite, ns3)
    lines, good = [], True
    for case in AS_NS3:
        collective, npus, mib = case
        workload = suite.inputs(collective, npus, mib)
        packet = ns3.run(workload, npus, ns3.bps, ns3.delay_ns, ns3.payload)
        default = ours(suite, workload, npus, [*ONE_PLANE, "fidelity=endpoint"])
        aligned = ours(suite, workload, npus, [*like, "fidelity=endpoint"])
        good &= abs(aligned / packet - 1) <= EXPLAINED
        lines.append(line(case, [packet, default, default / packet, aligned, aligned / packet]))
        print(lines[-1], flush=True)
    facts = (f"Times in us. ns-3: links of {ns3.bps / 1e9:.0f} Gb/s and {ns3.delay_ns:.0f} ns, {ns3.payload} B of payload in a packet. "
             f"Light endpoints aligned to it: `{like[-2]}`, `{like[-1]}`, `{like[-4]}`, hosts and switches without latency.")
    head = ("| collective | NPUs | size | ns-3 | light | light / ns-3 | light, aligned to ns-3 | aligned / ns-3 |\n|" + "---|" * 8)
    return "\n".join([facts, "", head, *lines]), good
