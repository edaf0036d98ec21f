#!/usr/bin/env python3
"""Writes traces/rtl_corners.csv: messages of six NICs on more QPs than a NIC has contexts, many to one, some long ones, and single ones
when all is quiet, before and behind resets of their QPs.

rtl_corners_trace.py > traces/rtl_corners.csv
"""
import random

NICS = 6
QPS_PER_PEER = 300          # 1,500 on each NIC
SIZES = [64, 104, 105, 108, 109, 500, 1024, 1025, 4097, 9000, 20000, 40960]
LONG_BYTES = 2 << 20
QUIET_US = 34000            # all else is over; whole turns of the QPs are, so that these begin with the first QP of a pair
QUIET_PAIRS = [(0, 1), (1, 2), (2, 4), (3, 5)]
QUIET_BYTES = [4097, 64, 9000, 1025]


def is_long(source, target):
    """Pairs with long messages have no short ones: the longest says how many are under way at a time."""
    return (target - source) % NICS == 3


def messages(draw):
    for number in range(QPS_PER_PEER):
        for first in range(NICS):
            for second in range(first + 1, NICS):
                if not is_long(first, second):
                    yield number + draw.randrange(2), first, second, draw.choice(SIZES)
    for _ in range(600):    # the other way
        source = draw.randrange(1, NICS)
        target = draw.randrange(source)
        if not is_long(source, target):
            yield draw.randrange(2 * QPS_PER_PEER), source, target, draw.choice(SIZES)
    for number in range(100):    # to one
        if not is_long(1 + number % (NICS - 1), 0):
            yield 200, 1 + number % (NICS - 1), 0, 65536
    for number in range(96):    # last beats of every length, with an ICRC
        yield 10, 1, 2, 64 + 4 * (number % 32)
    for number in range(900):    # several in a row on each QP
        yield 800, 2, 3, draw.choice([64, 104, 500])
    for number in range(2400):    # messages of one packet, eight in a row on each QP
        yield 700, 4, 5, draw.choice([64, 500, 1024])
    for number in range(8):    # together with others
        yield 100 + 20 * number, number % NICS, (number + 3) % NICS, LONG_BYTES
    for number in range(6):    # wide windows
        yield 400, number, (number + 3) % NICS, 2 * LONG_BYTES
    for number in range(6):     # alone
        yield 1500 + 200 * number, number, (number + 3) % NICS, LONG_BYTES
    for turn, after in enumerate([0, 2040, 7000]):    # alone; while its QP is connected anew; behind resets of all QPs of two NICs
        for pair, (source, target) in enumerate(QUIET_PAIRS):
            yield QUIET_US + after, source, target, QUIET_BYTES[(pair + turn) % len(QUIET_BYTES)]


def main():
    print("start_us,src,dst,bytes,tag")
    for tag, message in enumerate(sorted(messages(random.Random(1)))):
        print(",".join(map(str, (*message, tag))))


if __name__ == "__main__":
    main()
