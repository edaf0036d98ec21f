#!/usr/bin/env python3
"""Writes traces/sparse_permutation_2048.csv: 2,048 of 131,072 NICs send 1 MiB each to another 2,048, half the fabric away.

sparse_permutation.py > traces/sparse_permutation_2048.csv
"""
NICS = 131_072
PAIRS = 2_048

print("start_us,src,dst,bytes,tag")
step = NICS // PAIRS
for pair in range(PAIRS):
    source = pair * step
    print(f"0,{source},{(source + NICS // 2 + step // 2) % NICS},{1 << 20},0")
