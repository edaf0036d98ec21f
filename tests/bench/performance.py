#!/usr/bin/env python3
"""Speed and memory of the model on this machine: docs/performance.md's tables, and JSON that two versions are compared by.

performance.py BUILD_DIR [--json FILE] [--markdown FILE] [--compare OLD.json] [--only TEXT] [--instructions | --counts FILE.json] [--short]

Data packets per second are those of the whole process, building and results included, the shortest of three runs: of wall time, and of
CPU time, which other work on the machine disturbs less. --instructions counts the instructions per packet with callgrind (valgrind), as the difference of two lengths,
and of runs of light endpoints the cache lines that it finds neither in 48 KiB nor in 2 MiB (a core's own caches; what the model asks for
ahead of time counts as not found). Those repeat whatever else the machine does: --counts takes them from the JSON of an earlier
--instructions of the same program, so that only the times want a quiet machine.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import page_table

REFERENCE = "host.payload=reference"
MRRS = "pcie.mrrs_bytes=4096"
PAYLOAD_BYTES = 4096  # of a packet
WIRE_BYTES = 4262  # of a full packet with its headers
LINE_BYTES_PER_S = 800e9 / 8


def flows(scratch, name, rows):
    path = pathlib.Path(scratch) / f"{name}.csv"
    path.write_text("start_us,src,dst,bytes,tag\n" + "".join(f"0,{a},{b},{size},{tag}\n" for a, b, size, tag in rows))
    return f"traffic.trace={path}"


def clos(nodes):
    """Below one T0 as many NICs as the T0 has T1s: eight planes, nothing oversubscribed."""
    below = {64: 8, 256: 16, 1024: 32, 4096: 64, 16384: 128}[nodes]
    return ["fidelity=endpoint", f"fabric.nics={nodes}", f"fabric.nics_per_t0={below}", f"fabric.t1s_per_plane={below}"]


def permutation(scratch, nodes, size=2 << 20):
    rows = [(i, (i + nodes // 2) % nodes, size, 0) for i in range(nodes)]
    return [flows(scratch, f"permutation_{nodes}_{size}", rows), *clos(nodes)]


def cases(scratch, short):
    both = flows(scratch, "both_ways", [(i % 2, 1 - i % 2, 1 << 20, i) for i in range(1024)])
    all_to_all = flows(scratch, "all_to_all", [(a, b, 1 << 20, 0) for a in range(64) for b in range(64) if a != b])
    pair = [
        ("one way, every byte copied and compared", []),
        ("one way, bytes, MRRS 4096", [MRRS]),
        ("one way, by reference", [REFERENCE]),
        ("one way, by reference, MRRS 4096", [REFERENCE, MRRS]),
        ("both ways, by reference, MRRS 4096", [REFERENCE, MRRS, both]),
    ]
    for name, settings in pair:
        yield f"(a) {name}", "pair.toml", settings, []
    yield "(b) srv6_encap of nic0 in RTL", "pair.toml", ["traffic.byte_scale=0.2"], ["--rtl", "srv6_encap@nic0"]
    yield "(b) all blocks of nic0 in RTL", "pair.toml", ["traffic.byte_scale=0.05"], ["--rtl", "all@nic0"]
    yield "(c) light endpoints, one flow", "pair.toml", ["fidelity=endpoint"], []
    for nodes in (64, 256) if short else (64, 256, 1024, 4096):
        yield f"(d) permutation of {nodes}", "clos_8x100g.toml", permutation(scratch, nodes), []
    yield "(e) all-to-all of 64", "clos_8x100g.toml", [all_to_all, *clos(64)], []
    if not short:
        yield from outside(scratch)


def outside(scratch):
    """Light endpoints as simulators of networks without NICs run them."""
    traffic = {"permutation": [(i, (i + 512) % 1024, 2 << 20, 0) for i in range(1024)],
               "incast": [(i, 0, 4 << 20, 0) for i in range(1, 33)],
               "all_to_all": [(a, b, 256 << 10, 0) for a in range(64) for b in range(64) if a != b]}
    for name, title in (("permutation", "permutation of 1024"), ("incast", "incast 32 to 1"), ("all_to_all", "all-to-all of 64")):
        yield f"(f) as elsewhere, {title}", f"../../tests/bench/outside_{name}.toml", [flows(scratch, f"outside_{name}", traffic[name])], []


def fresh_out(scratch):
    """An earlier result in the folder would be looked at first, which costs time and memory."""
    shutil.rmtree(f"{scratch}/out", ignore_errors=True)


def run(binary, scratch, scenario, settings, options=()):
    """One run: its text, wall and CPU seconds, most memory in bytes. None where the model refuses it."""
    fresh_out(scratch)
    command = [binary, "run", str(ROOT / "tb/scenarios" / scenario), "--yes", "--out", f"{scratch}/out", *options]
    command += ["--set", *settings] if settings else []
    with open(f"{scratch}/text", "w+") as text:
        start = time.monotonic()
        child = subprocess.Popen(command, stdout=text, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        text.seek(0)
        output = text.read()
    if os.waitstatus_to_exitcode(status) != 0:
        return None, output
    return {"text": output, "wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "bytes": usage.ru_maxrss * 1024}, output


# Two lengths each, long enough that windows are full, short enough for valgrind: for the pair a number of its 1 MiB messages, for the
# others, where a NIC has one message for another, shares of its bytes.
LENGTHS = {"(a)": (256, 512), "(b) srv6_encap": (4, 20), "(b) all": (2, 8), "(b) one block": (16, 48),
           "(c)": (64, 256), "(d) permutation of 64": (0.125, 0.5),
           "(d) permutation of 256": (0.125, 0.5), "(d) permutation of 1024": (0.0625, 0.25), "(d) permutation of 4096": (0.03125, 0.09375),
           "(e)": (0.125, 0.25), "(f) as elsewhere, permutation of 1024": (0.0625, 0.25), "(f) as elsewhere, incast 32 to 1": (0.25, 1),
           "(f) as elsewhere, all-to-all of 64": (0.5, 1)}
ROUNDS = 3
COUNTS = ("instructions_per_packet", "lines_beyond_48_kib_per_packet", "lines_beyond_2_mib_per_packet")
CACHES = ["--cache-sim=yes", "--D1=49152,12,64", "--LL=2097152,16,64"]


def packets_of(text):
    return int(re.search(r"^  packets +([\d,]+) sent", text, re.M)[1].replace(",", ""))


def measure(binary, scratch, case):
    name, scenario, settings, options = case
    runs = []
    for _ in range(ROUNDS):
        done, output = run(binary, scratch, scenario, settings, options)
        if done is None:
            print(f"{name:<44} not run: {output.strip().splitlines()[-1]}", file=sys.stderr)
            return None
        runs.append(done)
    packets = packets_of(done["text"])
    for seconds in ("wall_s", "cpu_s"):
        done[seconds] = min(each[seconds] for each in runs)
    steps = re.search(r"(?:a|per) packet: ([\d.]+) box steps, ([\d.]+) kernel", done["text"])
    row = {"name": name, "packets": packets, "packets_per_wall_s": round(packets / done["wall_s"]),
           "packets_per_cpu_s": round(packets / done["cpu_s"]), "peak_bytes": done["bytes"]}
    if steps:
        row["box_steps_per_packet"], row["kernel_activations_per_packet"] = float(steps[1]), float(steps[2])
    print(f"{name:<44} {row['packets_per_wall_s']:>10,} packets/s of wall time, {row['packets_per_cpu_s']:>10,} of CPU time",
          file=sys.stderr)
    return row


def instructions(binary, scratch, case, caches=True):
    """Of one data packet, from two lengths, so that building and printing fall out; with the cache lines of light endpoints."""
    name, scenario, settings, options = case
    lengths = next(lengths for prefix, lengths in LENGTHS.items() if name == prefix or name.startswith(prefix + " "))
    caches = CACHES if caches and name.startswith(("(c)", "(d)", "(e)", "(f)")) else []
    counts = []
    for length in lengths:
        shorter = f"traffic.rows={length}" if scenario == "pair.toml" else f"traffic.byte_scale={length}"
        # --quiet: what is printed on the way depends on the wall clock.
        fresh_out(scratch)
        command = ["valgrind", "--tool=callgrind", *caches, f"--callgrind-out-file={scratch}/callgrind", binary, "run",
                   str(ROOT / "tb/scenarios" / scenario), "--yes", "--quiet", "--out", f"{scratch}/out", *options, "--set",
                   *[s for s in settings if "byte_scale" not in s], shorter]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        collected = re.search(r"Collected : ([\d ]+)", done.stderr)
        if done.returncode != 0 or not collected:
            return {}
        sent = json.loads(pathlib.Path(f"{scratch}/out/result.json").read_text())["packets"]["sent"]
        counts.append((sent, [int(n) for n in collected[1].split()]))
    (few, first), (many, second) = counts
    each = [(b - a) / (many - few) for a, b in zip(first, second)]
    row = {"instructions_per_packet": round(each[0])}
    if caches:
        # Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
        row["lines_beyond_48_kib_per_packet"] = round(each[4] + each[5], 1)
        row["lines_beyond_2_mib_per_packet"] = round(each[7] + each[8], 1)
    return row


def memory(binary, scratch):
    """Bytes of a NIC, a QP and a packet in flight, each as the difference of two runs that differ in their number only."""
    def peak(scenario, settings):
        done, output = run(binary, scratch, scenario, settings)
        if done is None:
            sys.exit(f"performance.py: {output.strip().splitlines()[-1]}")
        return done["bytes"], done["text"]

    few, many = 1024, 16384  # endpoints, and QPs: far apart, because memory comes in pages of up to 2 MiB
    quiet = [flows(scratch, "one_message", [(0, 100, PAYLOAD_BYTES, 0)])]
    light = [peak("clos_8x100g.toml", [*quiet, *clos(n)])[0] for n in (few, many)]
    few_nics, many_nics = 8, 136
    near = flows(scratch, "near", [(0, 1, PAYLOAD_BYTES, 0)])
    detailed = [peak("pair.toml", [near, f"fabric.nics={n}", REFERENCE])[0] for n in (few_nics, many_nics)]
    qps = [peak("many_qps.toml", [f"traffic.qps_per_peer={n}", "traffic.byte_scale=0.001", REFERENCE])[0] for n in (few, many)]
    packets = 16
    speaking = [peak("clos_8x100g.toml", permutation(scratch, n, packets * PAYLOAD_BYTES))[0] for n in (few, many)]
    # Cables long enough for all that 64 NICs send, 16 MiB each, and short ones, which hold what the line sends in their time.
    near_us, far_us, nics = 5, 100, 64
    message_bytes, messages_per_nic = 1 << 20, 16
    long_cables = [flows(scratch, "long_cables", [(i, i ^ 1, message_bytes, tag) for i in range(nics) for tag in range(messages_per_nic)]),
                   *clos(nics), f"fabric.nics_per_t0={nics}", "cc.algorithm=none", "protocol.mpr_units=255",
                   "protocol.timeout_exponent=14"]
    in_flight = [peak("clos_8x100g.toml", [*long_cables, f"fabric.cable_delay_ns={us * 1000}"])[0] for us in (near_us, far_us)]
    on_short_cables = 2 * near_us * 1e-6 * LINE_BYTES_PER_S / WIRE_BYTES
    packets_in_flight = nics * (message_bytes * messages_per_nic // PAYLOAD_BYTES - on_short_cables)
    of_packet = round((in_flight[1] - in_flight[0]) / packets_in_flight)
    of_endpoint = round((speaking[1] - speaking[0]) / (many - few))
    return [
        {"what": "a packet in flight between light endpoints, with its event and the record at its sender", "bytes": of_packet},
        {"what": "a light endpoint that is silent, with its share of the fabric", "bytes": round((light[1] - light[0]) / (many - few))},
        {"what": f"a light endpoint that sends and receives, with its share of the fabric and {packets} packets in flight",
         "bytes": of_endpoint},
        {"what": "the same without these packets", "bytes": of_endpoint - packets * of_packet},
        {"what": "a detailed NIC with its buffers' statistics", "bytes": round((detailed[1] - detailed[0]) / (many_nics - few_nics))},
        {"what": "a QP of a detailed NIC, sending", "bytes": round((qps[1] - qps[0]) / (many - few))},
    ]


def machine():
    with open("/proc/cpuinfo") as info:
        model = re.search(r"model name\s*: (.*)", info.read())
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg()[:2])
    return {"cpu": model[1] if model else "unknown", "cores": os.cpu_count(), "load_average": load}


def compare(rows, old):
    before = {row["name"]: row for row in old["runs"]}
    for row in rows:
        if row["name"] not in before:
            continue
        old_row = before[row["name"]]
        line = f"{row['name']:<44} {row['packets_per_cpu_s'] / old_row['packets_per_cpu_s']:6.3f} x packets a CPU second"
        if row.get("instructions_per_packet") and old_row.get("instructions_per_packet"):
            line += f", {row['instructions_per_packet'] / old_row['instructions_per_packet']:.3f} x instructions per packet"
        print(line)


def markdown(result):
    m = result["machine"]
    lines = [f"Measured by `tests/bench/performance.py` on {m['cores']} cores of `{m['cpu']}`, load average {m['load_average']}"
             f" when it began, {result['version']}.", "",
             "| run | data packets | per second of wall time | per second of CPU time | instructions per packet | box steps per packet "
             "| cache lines beyond 48 KiB; 2 MiB |", "|---|---:|---:|---:|---:|---:|---:|"]
    for row in result["runs"]:
        count = row.get("instructions_per_packet")
        beyond = "; ".join(str(row[key]) for key in ("lines_beyond_48_kib_per_packet", "lines_beyond_2_mib_per_packet") if key in row)
        lines.append(f"| {row['name']} | {row['packets']:,} | {row['packets_per_wall_s']:,} | {row['packets_per_cpu_s']:,} | "
                     f"{f'{count:,}' if count else ''} | {row.get('box_steps_per_packet', '')} | {beyond} |")
    lines += ["", "| memory of | bytes |", "|---|---:|"]
    lines += [f"| {row['what']} | {row['bytes']:,} |" for row in result["memory"]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--counts", type=pathlib.Path)
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    binary = f"{args.build}/tb/mrcsim/mrcsim"
    if args.instructions and not shutil.which("valgrind"):
        parser.error("--instructions wants valgrind (Debian: valgrind)")
    counted = {row["name"]: row for row in json.loads(args.counts.read_text())["runs"]} if args.counts else {}
    result = {"machine": machine(), "version": re.match(r"mrcsim \S+", subprocess.run([binary, "--version"], capture_output=True, text=True).stdout)[0]}
    with tempfile.TemporaryDirectory() as scratch:
        result["runs"] = []
        for case in cases(scratch, args.short):
            if args.only not in case[0]:
                continue
            row = measure(binary, scratch, case)
            if row is None:
                continue
            if args.instructions:
                row.update(instructions(binary, scratch, case))
            row.update({key: value for key, value in counted.get(case[0], {}).items() if key in COUNTS})
            result["runs"].append(row)
        result["memory"] = memory(binary, scratch) if not args.only and not args.short else []
    if args.json:
        fresh = args.json.with_suffix(".tmp")
        fresh.write_text(json.dumps(result, indent=2) + "\n")
        fresh.replace(args.json)
    if args.compare:
        compare(result["runs"], json.loads(args.compare.read_text()))
    if args.markdown:
        page_table.write(args.markdown, "performance.py", markdown(result))
    if not args.markdown:
        print(markdown(result))


if __name__ == "__main__":
    main()
