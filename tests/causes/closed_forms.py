#!/usr/bin/env python3
"""What arithmetic says about a pair of NICs, against runs: records, read tags, completion buffer, staging during stalls, bitmap
banks with a longer plane, context misses, message rates. Each form is in the text that it prints; a run may differ by 15 %
(bitmap banks: by one, since they are whole). With --out, writes the table into a file of docs.

  closed_forms.py MRCSIM [--out FILE] [--jobs N] [--only FORM,FORM,…] [--first N]
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import page_table
from message_rate import BATCH, BYTES, MESSAGES, PREFETCHED

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIR = ROOT / "tb/scenarios/pair.toml"
WITHIN = 0.15

PAYLOAD = 4096
LINE_GBPS = 768.8  # of payload: 800 Gb/s * 4,096 / 4,262
FRAME_BYTES = 4262  # of such a packet on the wire, with preamble and gap
SACK_PACKETS = 4  # protocol.sack_threshold_bytes / payload
PCIE_GBPS = 900  # of read completions, Gen6 x16
BANK_PSNS = 128
ONE_WAY_NS = 100 + 575 + 100  # defaults: MAC and FEC, a T0, MAC and FEC; cables are added
BOXES_NS = 60  # pipelines of both NICs, there and back: `mrcsim latency`
CABLE_NS = 150
HOST_NS = 100 + 300 + 400 + 50  # posting, doorbell, write of the CQE, poll


def read_ns(latency_ns, length):
    """Time from a read request until its last byte is here."""
    return latency_ns + 8 * length / PCIE_GBPS + 10


class Setting:
    """One run: what is set, what is measured, and what arithmetic gives for it."""

    def __init__(self, what, settings, expected, measure, unit="Gb/s", tolerance=None, messages=None):
        self.what, self.settings, self.expected, self.measure = what, settings, expected, measure
        self.unit, self.tolerance, self.messages = unit, tolerance, messages

    def agrees(self, value):
        if self.tolerance is not None:
            return abs(value - self.expected) <= self.tolerance
        return abs(value / self.expected - 1) <= WITHIN


def host(latency_ns):
    return {"pcie.read_latency_mean_ns": latency_ns, "pcie.read_latency_p99_ns": latency_ns}


def goodput(result):
    return result["goodput_gbps"]


def high_water(name):
    def measure(result):
        return next(row["high_water"] for row in result["buffers"] if row["node"] == "nic1" and row["name"] == name)
    return measure


def records():
    rows = [(32, 500, 150), (32, 1000, 150), (32, 2000, 150), (64, 1000, 150), (64, 2000, 150), (96, 2000, 150), (96, 1000, 500), (96, 1000, 2000)]
    for entries, latency, cable in rows:
        yield of_records(entries, latency, cable, "at_request")
    for entries, latency, cable in [(32, 500, 150), (32, 2000, 150), (64, 2000, 500)]:
        yield of_records(entries, latency, cable, "at_arrival")


def of_records(entries, latency, cable, taken):
    held_ns = 8 * FRAME_BYTES / 100 + 2 * ONE_WAY_NS + 4 * cable + BOXES_NS + (read_ns(latency, PAYLOAD) if taken == "at_request" else 0)
    return Setting(f"{entries} records taken {taken}, {latency} ns, cables of {cable} ns",
                   {"nic.retransmit_buffer.entries": entries, "nic.retransmit_buffer.reserve_record": taken, "fabric.cable_delay_ns": cable, "cc.base_rtt_ns": 20000, **host(latency)},
                   min(LINE_GBPS, 8 * PAYLOAD * (entries - SACK_PACKETS) / held_ns), goodput)


def tags():
    for count, latency, request in [(64, 500, 512), (64, 1000, 512), (64, 2000, 512), (128, 1000, 512), (128, 2000, 512), (64, 2000, 256), (64, 2000, 1024), (16, 1000, 4096)]:
        yield Setting(f"{count} tags, {latency} ns, requests of {request} B", {"pcie.read_tags": count, "pcie.mrrs_bytes": request, **host(latency)},
                      min(LINE_GBPS, 8 * count * request / read_ns(latency, request)), goodput)


def completion_buffer():
    for kib, latency in [(32, 500), (32, 1000), (32, 2000), (64, 1000), (64, 2000), (128, 2000)]:
        yield Setting(f"{kib} KiB, {latency} ns", {"pcie.completion_buffer_bytes": kib * 1024, **host(latency)},
                      min(LINE_GBPS, 8 * 1024 * kib / read_ns(latency, PAYLOAD)), goodput)


def staging():
    for stall_us, port_gbps in [(1, 100), (2, 100), (4, 100), (8, 100), (2, 50), (8, 50)]:
        fault = f'{{kind = "pcie_stall", where = "nic1", at_us = 200, for_us = {stall_us}}}'
        rate = LINE_GBPS * port_gbps / 100
        yield Setting(f"stall of {stall_us} us, ports of {port_gbps} Gb/s",
                      {"nic.rx_staging.bytes": 4 << 20, "nic.dma_write.queue_entries": 2048, "nic.port_gbps": port_gbps, "fault.1": fault, **host(1000)},
                      (rate * 1000 * stall_us / 8 + 2 * PAYLOAD) / 1024, lambda result: high_water("rx_staging")(result) / 1024, unit="KiB")


def bitmap_banks():
    for delay_us, port_gbps in [(2, 100), (5, 100), (10, 100), (15, 100), (10, 50), (15, 50)]:
        late_ns = 2 * (1000 * delay_us - CABLE_NS)
        span = LINE_GBPS * port_gbps / 100 * late_ns / (8 * PAYLOAD)
        yield Setting(f"plane 3 with cables of {delay_us} us, ports of {port_gbps} Gb/s",
                      {"fabric.cable_delays_ns": f"plane3={1000 * delay_us}", "nic.port_gbps": port_gbps, "protocol.timeout_exponent": 7,
                       "cc.base_rtt_ns": 50000, "nic.retransmit_buffer.entries": 16384, **host(1000)},
                      math.ceil(span / BANK_PSNS) + 1, high_water("psn_tracker.bitmap"), unit="banks", tolerance=1)


def messages_of(count, length):
    return "start_us,src,dst,bytes,tag\n" + "".join(f"0,0,1,{length},{i}\n" for i in range(count))


def per_message_us(result):
    return result["simulated_time_us"] / result["messages"]["completed"]


def context_misses():
    """One message of 4 KiB after another, of 32 QPs in turn: with fewer contexts at a node each waits for one more read there."""
    for latency in (500, 1000, 2000):
        reads_ns = read_ns(latency, 64) + read_ns(latency, PAYLOAD)
        wire_ns = 8 * FRAME_BYTES / 100 + 2 * ONE_WAY_NS + 4 * CABLE_NS + BOXES_NS
        for node, contexts in ((0, 64), (0, 16), (1, 16)):
            misses_ns = read_ns(latency, 512) if contexts < 32 else 0
            yield Setting(f"nic{node}: {contexts} contexts for 32 QPs, {latency} ns",
                          {f"node.nic{node}.nic.qp_scheduler.context_cache_entries": contexts, "traffic.qps_per_peer": 32, "traffic.outstanding_messages": 1, **host(latency)},
                          (HOST_NS + reads_ns + wire_ns + misses_ns) / 1000, per_message_us, unit="us per message", messages=messages_of(512, PAYLOAD))


WQE_READ_NS = 15  # a read of WQEs takes that much longer than the host's answer: request and completion on the line


def message_rate():
    for qps, latency in [(1, 300), (1, 600), (1, 1000), (1, 2000), (2, 300), (2, 600), (2, 1000), (2, 2000)]:
        yield Setting(f"{qps} QP{'s' if qps > 1 else ''}, {latency} ns",
                      {"traffic.qps_per_peer": qps, "traffic.outstanding_messages": PREFETCHED * qps,
                       "nic.wqe_fetch.prefetch_depth": PREFETCHED, "nic.wqe_fetch.batch": BATCH, **host(latency)},
                      1000 * BATCH * qps / (latency + WQE_READ_NS), lambda result: 1 / per_message_us(result), unit="M/s", messages=messages_of(MESSAGES, BYTES))


FORMS = {
    "records": ("Records of the sender", "(records - 4) * payload / time until acknowledged. That time: read of the payload where a record is taken at_request (nic.retransmit_buffer.reserve_record), frame, both ways; 4 packets more arrive until the next SACK", records),
    "tags": ("Read tags", "tags * request / (latency + time on the line)", tags),
    "completion_buffer": ("Completion buffer", "bytes / (latency + time of a payload on the line)", completion_buffer),
    "staging": ("Staging of the receiver, most that is used", "line rate * stall + 2 packets", staging),
    "bitmap_banks": ("Bitmap banks of the receiver, most that is used", "PSNs that arrive while those of the slow plane are under way / 128, rounded up, + 1; agrees within 1", bitmap_banks),
    "context_misses": ("Context misses, one message at a time", "post, two reads of host memory, wire, completion; and a read where the context is missing", context_misses),
    "message_rate": ("Messages of 64 bytes on few QPs", "4 WQEs (nic.wqe_fetch.batch) * QPs / (latency + 15 ns)", message_rate),
}


def run(mrcsim, setting):
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        settings = {"host.payload": "reference", **setting.settings}
        scenario = PAIR
        if setting.messages is None:
            settings["traffic.rows"] = 64
        else:
            (folder / "messages.csv").write_text(setting.messages)
            scenario = folder / "messages.toml"
            scenario.write_text('seed = 1\ntraffic.trace = "messages.csv"\nfabric.nics = 2\n')
        command = [mrcsim, "run", scenario, "--quiet", "--out", folder / "out"]
        command += [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"closed_forms: {setting.what}: exit code {done.returncode}: {done.stderr}")
        return setting.measure(json.loads((folder / "out/result.json").read_text()))


def digits(value):
    return f"{value:.2f}" if value < 10 and value != int(value) else f"{value:.0f}"


def table(rows):
    lines = []
    for name, (title, text, _) in FORMS.items():
        mine = [(setting, value) for form, setting, value in rows if form == name]
        if not mine:
            continue
        unit = mine[0][0].unit
        lines += [f"### {title}", "", f"{text}.", "", f"| run | arithmetic, {unit} | simulated, {unit} | difference |", "|---|---|---|---|"]
        lines += [f"| {s.what} | {digits(s.expected)} | {digits(value)} | {100 * (value / s.expected - 1):+.1f} % |" for s, value in mine]
        lines.append("")
    return "\n".join(lines).rstrip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(FORMS))
    parser.add_argument("--first", type=int, help="settings of each form")
    args = parser.parse_args()
    settings = [(form, setting) for form in args.only for setting in list(FORMS[form][2]())[: args.first]]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        values = list(pool.map(lambda item: run(args.mrcsim, item[1]), settings))
    rows = [(form, setting, value) for (form, setting), value in zip(settings, values)]
    page_table.show(table(rows), args.out)
    failed = [(form, setting, value) for form, setting, value in rows if not setting.agrees(value)]
    for form, setting, value in failed:
        print(f"closed_forms: {form}: {setting.what}: {digits(value)} {setting.unit}, arithmetic gives {digits(setting.expected)}", file=sys.stderr)
    print(f"closed_forms: {len(rows) - len(failed)} of {len(rows)} agree", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
