#!/usr/bin/env bash
# A mrcsim that is optimized by what its own runs do: tb/profiled_build.sh [DIR], by default build-profiled. The program is
# built twice; in between short runs count what is run how often. The results are the same.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${1:-build-profiled}
flags=${MRCSIM_CMAKE_FLAGS:-}

build() {
  MRCSIM_CMAKE_FLAGS="$flags -DMRCSIM_TESTS=OFF -DMRCSIM_PROFILE=$1" tb/build.sh "$dir" --target mrcsim
}

[ ! -d "$dir" ] || find "$dir" -name '*.gcda' -delete
build generate
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
train() {
  local scenario=$1
  shift
  echo "Training: $scenario $*"
  "$dir/tb/mrcsim/mrcsim" run "tb/scenarios/$scenario" --yes --out "$scratch/out" --set "$@" >"$scratch/text" ||
    { cat "$scratch/text" >&2; exit 1; }
}
train pair.toml traffic.byte_scale=0.2
train pair.toml traffic.byte_scale=0.2 pcie.mrrs_bytes=4096 host.payload=reference
train pair.toml traffic.byte_scale=0.2 fabric.loss_rate=0.001 host.payload=reference
train pair.toml traffic.byte_scale=0.5 fidelity=endpoint
train clos_8x100g.toml fidelity=endpoint

build use
echo "Built $dir/tb/mrcsim/mrcsim"
