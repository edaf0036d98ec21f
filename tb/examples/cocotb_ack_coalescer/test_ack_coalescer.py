"""ack_coalescer against ring 1, in cocotb: random events, and each SACK compared as it leaves. run.sh runs it."""
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from mrc_reference import Library

SLOTS = 64
SETTINGS = {"threshold_bytes": 16384, "min_add_bytes": 1024}
# Of sack_reflection_t, the first one highest (rtl/common/mrc_pkg.sv).
REFLECTION = (("psn", 24), ("ev", 32), ("tx_timestamp", 16), ("probe_id", 16), ("ce", 1), ("ack_request", 1), ("probe", 1))


def packed(fields):
    word = 0
    for name, width in REFLECTION:
        word = word << width | fields.get(name, 0)
    return word


def unpacked(word):
    fields = {}
    for name, width in reversed(REFLECTION):
        fields[name] = word & ((1 << width) - 1)
        word >>= width
    return fields


def draw(rng, known):
    slot = rng.randrange(SLOTS)
    if slot not in known:
        known.add(slot)
        return {"event": 0, "slot": slot}
    return {"event": rng.choice((1, 1, 1, 2, 3)), "slot": slot, "payload_bytes": rng.choice((0, 256, 4096)),
            "retransmission": rng.randrange(16) == 0, "psn": rng.getrandbits(24), "ev": rng.getrandbits(32),
            "tx_timestamp": rng.getrandbits(16), "ce": rng.randrange(16) == 0, "ack_request": rng.randrange(16) == 0}


@cocotb.test()
async def sacks_are_those_of_the_reference(dut):
    rng, known, event, compared = random.Random(1), set(), None, 0
    reference = Library(os.environ["MRC_DPI_LIBRARY"]).new("ack_coalescer", slots=SLOTS, **SETTINGS)
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.threshold_bytes_i.value, dut.min_add_bytes_i.value = SETTINGS["threshold_bytes"], SETTINGS["min_add_bytes"]
    dut.evt_valid_i.value = dut.sack_ready_i.value = 0
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    due = []
    for _ in range(20_000):
        event = event or draw(rng, known)
        dut.evt_valid_i.value = 1
        for name in ("event", "slot", "payload_bytes", "retransmission", "counter_bytes"):
            getattr(dut, f"evt_{name}_i").value = int(event.get(name, 0))
        dut.evt_reflection_i.value = packed(event)
        dut.sack_ready_i.value = rng.randrange(4) > 0
        await ReadOnly()
        if int(dut.evt_ready_o.value):
            reference.accept("evt", **{name: int(value) for name, value in event.items()})
            event = None
            if (sack := reference.expected("sack")) is not None:
                due.append(sack)
        if int(dut.sack_valid_o.value) and int(dut.sack_ready_i.value):
            wanted = due.pop(0)
            found = {"slot": int(dut.sack_slot_o.value), "causes": int(dut.sack_causes_o.value),
                     "counter_bytes": int(dut.sack_counter_bytes_o.value), **unpacked(int(dut.sack_reflection_o.value))}
            assert found == wanted, f"{found}, not {wanted}"
            compared += 1
        await RisingEdge(dut.clk_i)
    assert compared > 1000
    dut._log.info("%d SACKs compared, 0 differences", compared)
