#!/usr/bin/env python3
"""A program of a run that sends invalid messages to the model (tb/verbs/messages.h): garbage.py SEED MESSAGES.

Messages have a valid header or none; the rest is random, cut or too long. Valid objects exist, so that some random numbers name one.
The last line says how many messages were answered.
"""
import os
import random
import socket
import struct
import sys

SEED, MESSAGES = int(sys.argv[1]), int(sys.argv[2])
VERSION = 7
# In the order of Call.
CALLS = ["hello", "query_device", "open_async", "register_memory", "deregister_memory", "create_channel", "create_cq", "resize_cq",
         "destroy_cq", "arm_cq", "poll_cq", "create_srq", "destroy_srq", "create_qp", "modify_qp", "query_qp", "destroy_qp",
         "post_send", "post_receive", "turn", "spin", "sleep", "wait_fds", "set_alarm", "connects", "query_profiles", "query_evs",
         "set_evs", "set_ev_profile", "set_congestion", "watch_evs", "replace_evs", "probe_evs"]
# These may wait for ever.
WAIT = {"spin", "sleep", "wait_fds", "set_alarm"}
ODD = [0, 1, 2, 3, 4, 7, 16, 17, 0xFF, 0xFFFF, 0x1000, 0x1001, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
ODD_WIDE = [*ODD, 1 << 47, 1 << 48, (1 << 64) - 1, 0xFFFF << 48]
# The fields of each call's arguments, by width.
FIELDS = {"register_memory": "QQQII", "create_cq": "QII", "create_qp": "IIIIIIIIQ", "modify_qp": "IIIIIIIIII",
          "post_send": "IIIIQQQQIIIIII", "post_receive": "IIQII", "set_ev_profile": "IIIII",
          "set_congestion": "I" * 24}
rng = random.Random(SEED)
own = bytearray(65536)
clock = 0


def connect():
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.connect(os.environ["MRCSIM_HOST_SOCKET"])
    link.settimeout(5)
    hello = struct.pack("<IIQIiiI", 0, 0, clock, VERSION, os.getpid(), os.getpid(), 0)
    link.send(hello)
    link.recv(16384)
    return link


def number(kind):
    known = [rng.randrange(1, 40), 0x1000 + rng.randrange(8)]
    return rng.choice(known + (ODD if kind == "I" else ODD_WIDE))


def message():
    call = rng.choice([name for name in CALLS[1:] if name not in WAIT])
    fields = FIELDS.get(call, "II")
    body = struct.pack("<" + fields, *[number(kind) for kind in fields])
    tail = rng.randbytes(rng.choice([0, 0, 16, 32, 256, 1024, 4096]))
    whole = struct.pack("<IIQ", CALLS.index(call), len(tail), clock + rng.randrange(2000)) + body + tail
    if rng.random() < 0.1:
        whole = whole[:rng.randrange(len(whole))]
    if rng.random() < 0.02:
        whole = rng.randbytes(rng.randrange(1, 20000))
    return whole


def sound(link):
    """Creates the objects that random numbers may name later."""
    for call, arguments in (("register_memory", (id(own) & ~4095, 4096, id(own) & ~4095, 15, 0)), ("create_cq", (1, 64, 0)),
                            ("create_qp", (1, 1, 0, 2, 16, 16, 1, 0, 1))):
        link.send(struct.pack("<IIQ", CALLS.index(call), 0, clock) + struct.pack("<" + FIELDS[call], *arguments))
        link.recv(16384)


answered = 0
link = connect()
sound(link)
for _ in range(MESSAGES):
    try:
        link.send(message())
        answer = link.recv(16384)
    except (OSError, TimeoutError):
        answer = b""
    if len(answer) < 32:
        link.close()
        link = connect()
        sound(link)
        continue
    answered += 1
    clock = max(clock, struct.unpack_from("<iIQ", answer)[2])
print(f"answered {answered}")
