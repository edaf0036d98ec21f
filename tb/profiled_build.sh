#!/usr/bin/env bash
# A mrcsim, with the RTL of all blocks, that is optimized by what its own runs do: tb/profiled_build.sh [DIR], by default
# build-profiled. All is built twice; in between short runs count what is run how often. The results are the same.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${1:-build-profiled}
flags=${MRCSIM_CMAKE_FLAGS:-}
targets=(mrcsim)
for block in rtl/*/; do
  [ "$block" = rtl/common/ ] || targets+=("rtl_$(basename "$block")")
done

build() {
  MRCSIM_CMAKE_FLAGS="$flags -DMRCSIM_TESTS=OFF -DMRCSIM_PROFILE=$1" tb/build.sh "$dir" --target "${targets[@]}"
}

[ ! -d "$dir" ] || find "$dir" -name '*.gcda' -delete
build generate
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
train() {
  local scenario=$1
  shift
  echo "Training: $scenario $*"
  "$dir/tb/mrcsim/mrcsim" run "tb/scenarios/$scenario" --yes --out "$scratch/out" "$@" >"$scratch/text" ||
    { cat "$scratch/text" >&2; exit 1; }
}
train pair.toml --set traffic.byte_scale=0.2
train pair.toml --set traffic.byte_scale=0.2 pcie.mrrs_bytes=4096 host.payload=reference
train pair.toml --set traffic.byte_scale=0.2 fabric.loss_rate=0.001 host.payload=reference
train pair.toml --set traffic.byte_scale=0.5 fidelity=endpoint
train clos_8x100g.toml --set fidelity=endpoint
for timing in transaction pins; do
  train pair.toml --rtl all --rtl-timing "$timing" --set traffic.byte_scale=0.02 fabric.loss_rate=0.001
done

build use
echo "Built $dir/tb/mrcsim/mrcsim"
