#!/usr/bin/env python3
"""Prints the table of docs/links.md: share of frames that a link loses, by code and bit error rate. The model has a computation of its own;
tests/unit/models/fec_test.cpp compares it with the page."""
import math

CODES = {"`none`": None, "`rs272_258`": (272, 258), "`rs528_514`": (528, 514), "`rs544_514`": (544, 514)}
RATES = ("1e-6", "1e-5", "1e-4", "2.4e-4", "1e-3")
FRAME_BITS = 8 * 4262


def loss(code, rate):
    if code is None:
        return -math.expm1(FRAME_BITS * math.log1p(-float(rate)))
    symbols, data = code
    log_right = 10 * math.log1p(-float(rate))
    log_wrong = math.log(-math.expm1(log_right))
    tail = sum(math.exp(math.log(math.comb(symbols, wrong)) + wrong * log_wrong + (symbols - wrong) * log_right)
               for wrong in range((symbols - data) // 2 + 1, symbols + 1))
    return -math.expm1((1 + (FRAME_BITS - 1) / (10 * data)) * math.log1p(-tail))


def main():
    lines = ["| bit error rate | " + " | ".join(CODES) + " |", "|---|" + "---|" * len(CODES)]
    lines += [f"| {rate} | " + " | ".join(f"{loss(code, rate):.1e}" for code in CODES.values()) + " |" for rate in RATES]
    print("\n".join(lines))


main()
