#!/usr/bin/env python3
"""Draws the random settings of random/: draw.py MRCSIM [--seed N] [--count 30]

Parameters and their ranges come from `mrcsim params --format json`: numbers near their default or anywhere in their range,
words and switches at random; topology, traffic, transport, fidelity and faults as well. A draw that MRCSIM refuses, that takes
longer than --seconds or that sends fewer than --packets is drawn again. The files are kept: drawing again is a new list, with a new reference.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# Chosen with the topology or the traffic, or of no effect on a result of this size.
NOT_DRAWN = {"seed", "transport", "fidelity", "run.max_time_us", "run.stall_us", "run.node_under_test", "run.quantum_ns", "traffic.byte_scale",
             "traffic.rows", "traffic.ranks", "traffic.ranks_per_nic", "traffic.nics_per_rank", "traffic.format", "fabric.nics",
             "fabric.nics_per_t0", "fabric.t0s_per_plane", "fabric.t1s_per_plane", "fabric.pods", "fabric.t2s_per_plane", "nic.ports",
             "traffic.qps_per_peer"}
# NICs, NICs per T0, T1s per plane, ports.
TOPOLOGIES = [(2, 256, 0, 8), (2, 1, 4, 8), (2, 1, 8, 4), (4, 2, 4, 8), (4, 256, 0, 2), (8, 2, 4, 4), (16, 4, 4, 8), (32, 8, 8, 8)]
# Transport and fidelity, in turn: most of the model is in detailed NICs.
KINDS = [("mrc", "detailed"), ("mrc", "detailed"), ("mrc", "endpoint"), ("mrc", "detailed"), ("rocev2", "endpoint"), ("mrc", "detailed")]
TRACES = {2: ["pair_1GiB.csv", "ring_all_reduce_2.{rank}.et", "ping_pong_2B.{rank}.et"], 4: ["moe_step_4.{rank}.et", "dense_step_4.{rank}.et"]}


def value_of(draw, row):
    """A value of one parameter as TOML writes it."""
    if row["type"] == "boolean":
        return draw.choice(["true", "false"])
    if row["words"]:
        word = draw.choice(row["words"])
        return word if row["type"] in ("integer", "real") else f'"{word}"'
    low, high, usual = row["minimum"], row["maximum"], float(row["default"])
    kind = draw.random()
    if kind < 0.08:
        value = draw.choice([low, high])
    elif kind < 0.2:
        value = low + (high - low) * draw.random() ** 4
    elif usual > 0:
        value = usual * 2 ** draw.uniform(-3, 2)
    elif high <= 1:
        value = 10 ** draw.uniform(-4, -1.5)
    else:
        value = 10 ** draw.uniform(0, 4)
    value = min(max(value, low), high)
    return str(int(value)) if row["type"] == "integer" else f"{value:.6g}"


def fault(draw, nics, below, t1s, ports):
    """One [[fault]] table."""
    nic, port, plane = draw.randrange(nics), draw.randrange(ports), draw.randrange(ports)
    uplink = f"plane{plane}.t0.{draw.randrange(-(-nics // below))}.up{draw.randrange(t1s)}" if t1s else f"nic{nic}.port{port}"
    kind = draw.choice(["link_down", "link_flap", "link_rate", "loss", "corruption", "switch_reboot", "plane_loss", "nic_port_loss", "pcie_stall"])
    rows = {"kind": f'"{kind}"', "at_us": draw.randrange(5, 60)}
    rows["for_us"] = draw.randrange(20, 120)
    if kind in ("link_down", "link_flap", "link_rate"):
        rows["where"] = f'"{draw.choice([uplink, f"nic{nic}.port{port}"])}"'
    elif kind in ("loss", "corruption"):
        rows["where"] = f'"nic{nic}"'
        rows["probability"] = f"{10 ** draw.uniform(-3, -1):.4f}"
        rows["packets"] = f'"{draw.choice(["all", "data", "retransmission", "control"])}"'
    elif kind == "switch_reboot":
        rows["where"] = f'"plane{plane}.t0.0"' if draw.random() < 0.3 or not t1s else f'"plane{plane}.t1.{draw.randrange(t1s)}"'
        rows["light"] = draw.choice(["true", "false"])
    else:
        rows["where"] = {"plane_loss": f'"plane{plane}"', "nic_port_loss": f'"nic{nic}.port{port}"', "pcie_stall": f'"nic{nic}"'}[kind]
    if kind == "link_flap":
        rows.update(period_us=draw.randrange(60, 200), count=draw.randrange(1, 5), jitter=f"{draw.random():.2f}")
        rows["for_us"] = rows["period_us"] // 2
    if kind == "link_rate":
        rows["share"] = f"{draw.uniform(0.05, 0.9):.2f}"
    return "[[fault]]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items())


def setting(draw, rows, kind):
    """The text of a scenario, and its flows where it has some of its own."""
    transport, fidelity = kind
    nics, below, t1s, ports = draw.choice([t for t in TOPOLOGIES if t[0] <= 8 or fidelity == "endpoint"])
    if nics in TRACES and draw.random() < 0.75:
        trace = f"../../../traces/{draw.choice(TRACES[nics])}"
    else:
        trace = "flows.csv"
    lines = [f"seed = {draw.randrange(1, 1 << 31)}", f'transport = "{transport}"', f'fidelity = "{fidelity}"', f'traffic.trace = "{trace}"',
             f"traffic.byte_scale = {10 ** draw.uniform(-1.3, -0.4):.4f}", f"traffic.qps_per_peer = {draw.choice([1, 1, 2, 8, 64])}", f"nic.ports = {ports}",
             f"fabric.nics = {nics}", f"fabric.nics_per_t0 = {below}", f"fabric.t1s_per_plane = {t1s}", "run.max_time_us = 3000",
             "run.stall_us = 1000", f"traffic.rows = {0 if trace.endswith('.et') else 128}"]
    if nics > 2 and fidelity == "endpoint" and transport == "mrc" and draw.random() < 0.5:
        lines.append(f'node.nic{draw.randrange(nics)}.fidelity = "detailed"')
    groups = {}
    for row in rows:
        groups.setdefault(row["name"].split(".")[0], []).append(row)
    # Those that this transport looks at; half of them by section first, so that short ones (host, cc) are not left out.
    for section in ["protocol", "cc"] if transport == "rocev2" else ["rocev2"]:
        groups.pop(section)
    drawn = [draw.choice(groups[name]) for name in draw.choices(sorted(groups), k=8)]
    drawn += draw.choices([row for group in groups.values() for row in group], k=12)
    for row in sorted(drawn, key=lambda row: row["name"]):
        node = f"node.nic{draw.randrange(nics)}." if row["per_node"] and draw.random() < 0.2 else ""
        line = f"{node}{row['name']} = "
        if not any(other.startswith(line) for other in lines):
            lines.append(line + value_of(draw, row))
    faults = [fault(draw, nics, below, t1s, ports) for _ in range(draw.choice([0, 0, 1, 2]))]
    flows = ""
    if trace == "flows.csv":
        kind = draw.choice(["permutation", "incast", "any"])
        for tag in range(64):
            source = tag % nics if kind == "permutation" else draw.randrange(1, nics) if kind == "incast" else draw.randrange(nics)
            to = {"permutation": (source + nics // 2) % nics, "incast": 0}.get(kind, (source + draw.randrange(1, nics)) % nics)
            flows += f"{draw.choice([0, 0, draw.randrange(50)])},{source},{to},{1 << draw.randrange(12, 25)},{tag}\n"
    return "\n".join(lines) + "\n" + "\n".join(faults), flows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrcsim")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--packets", type=int, default=4000, help="least data packets of a run that is kept")
    args = parser.parse_args()
    listed = subprocess.run([args.mrcsim, "params", "--format", "json"], capture_output=True, text=True, check=True)
    rows = [row for row in json.loads(listed.stdout) if row["name"] not in NOT_DRAWN and (row["words"] or row["type"] not in ("text", "word"))]
    draw = random.Random(args.seed)
    folder = HERE / "random"
    folder.mkdir(exist_ok=True)
    kept = refused = 0
    codes = {}
    while kept < args.count:
        text, flows = setting(draw, rows, KINDS[kept % len(KINDS)])
        file = folder / f"{kept + 1:02}.toml"
        if flows:
            text = text.replace('"flows.csv"', f'"{file.stem}.csv"')
            (folder / f"{file.stem}.csv").write_text("start_us,src,dst,bytes,tag\n" + flows)
        file.write_text(text)
        begin, packets = time.monotonic(), 0
        with tempfile.TemporaryDirectory() as out:
            try:
                done = subprocess.run([args.mrcsim, "run", str(file), "--quiet", "--yes", "--out", f"{out}/out"], capture_output=True,
                                      text=True, timeout=4 * args.seconds, check=False)
                code, why = done.returncode, done.stderr.strip().splitlines()[-1:]
                if code in (0, 3, 5):
                    packets = json.loads(pathlib.Path(f"{out}/out/result.json").read_text())["packets"]["sent"]
            except subprocess.TimeoutExpired:
                code, why = -1, ["too long"]
        seconds = time.monotonic() - begin
        # One in four may end badly (stalled, failed): such results are compared as well.
        bad = sum(number for ended, number in codes.items() if ended != 0)
        few = packets < args.packets
        if code in (0, 3, 5) and seconds <= args.seconds and not few and (code == 0 or 4 * bad < kept):
            kept += 1
            codes[code] = codes.get(code, 0) + 1
            print(f"{file.name}: exit code {code}, {packets} packets, {seconds:.2f} s")
        else:
            refused += 1
            print(f"  not kept: exit code {code}, {seconds:.2f} s {' '.join(why)}", file=sys.stderr)
            (folder / f"{file.stem}.csv").unlink(missing_ok=True)
            file.unlink()
    print(f"{kept} kept, {refused} not")


main()
