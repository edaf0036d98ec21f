#!/usr/bin/env bash
# The four figures of the pair (data packets per second of wall time, box steps, kernel activations and heap allocations per
# packet), with payload copied and by reference, light endpoints, and the component benchmarks. tests/bench/run.sh [--build-dir DIR] [--short]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build
short=
while [ $# -gt 0 ]; do
  case $1 in
    --build-dir) build=$2; shift 2 ;;
    --short) short=1; shift ;;
    *) echo "run.sh: unknown argument $1; allowed: --build-dir DIR, --short" >&2; exit 2 ;;
  esac
done
pair=$build/tests/bench/bench_pair
if [ ! -f "$build/build.ninja" ]; then
  echo "run.sh: $build is not built: tb/build.sh $build" >&2
  exit 2
fi
targets=(bench_pair)
if [ -z "$short" ]; then
  for target in bench_components bench_rtl; do
    ninja -C "$build" -t query "$target" >/dev/null 2>&1 && targets+=("$target")
  done
fi
ninja -C "$build" --quiet "${targets[@]}" >&2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Prints "packets packets_per_second steps activations allocations" of one run.
measure() {
  "$pair" run "$root/tb/scenarios/pair.toml" --out "$out/run" "$@" >"$out/text"
  awk '/^  packets /{gsub(",","",$2); packets=$2}
       /^  speed /{gsub(",","",$2); speed=$2; steps=$(NF-5); kernel=$(NF-2)}
       /^  heap /{heap=$2}
       END{print packets, speed, steps, kernel, heap}' "$out/text"
}

report() {
  local label=$1
  shift
  read -r packets speed steps kernel heap <<<"$(measure "$@")"
  read -r half_packets _ _ _ half_heap <<<"$(measure "$@" --set traffic.byte_scale=0.5)"
  local each
  each=$(awk -v a="$heap" -v b="$half_heap" -v n="$packets" -v m="$half_packets" 'BEGIN{printf "%.4f", (a-b)/(n-m)}')
  printf '%-44s %9d packets/s  %5.1f box steps  %5.2f kernel activations  %s heap allocations per packet\n' \
    "$label" "$speed" "$steps" "$kernel" "$each"
}

report "pair, every byte copied and compared"
report "pair, payload by reference" --set host.payload=reference
report "pair, by reference, MRRS 4096" --set host.payload=reference --set pcie.mrrs_bytes=4096
report "pair, srv6_encap of nic0 in RTL" --rtl srv6_encap@nic0
# Light endpoints: one flow, and permutations of 2 MiB messages over a Clos of eight planes without oversubscription.
light() {
  local label=$1
  shift
  "$pair" run "$@" --out "$out/run" >"$out/text"
  awk -v label="$label" '/^  speed /{gsub(",","",$2); printf "%-44s %9d packets/s of wall time, building included\n", label, $2}' "$out/text"
}
permutation() {
  local nodes=$1 below=$2
  awk -v n="$nodes" 'BEGIN{print "start_us,src,dst,bytes,tag"; for (i = 0; i < n; i++) print "0," i "," (i + n / 2) % n ",2097152,0"}' \
    >"$out/permutation.csv"
  light "light endpoints, permutation of $nodes" "$root/tb/scenarios/clos_8x100g.toml" --set fidelity=endpoint \
    traffic.trace="$out/permutation.csv" fabric.nics="$nodes" fabric.nics_per_t0="$below" fabric.t1s_per_plane="$below"
}
light "light endpoints, one flow" "$root/tb/scenarios/pair.toml" --set fidelity=endpoint
permutation 64 8
[ -n "$short" ] && exit 0
permutation 256 16
permutation 1024 64
if [ -x "$build/tests/bench/bench_components" ]; then
  "$build/tests/bench/bench_components"
  "$root/tests/bench/rtl_speed.py" "$build"
else
  echo "component benchmarks: not built (Google Benchmark is missing)"
fi
