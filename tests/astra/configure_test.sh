#!/usr/bin/env bash
# configure_test.sh SOURCE CMAKE: a folder that is not a checkout of ASTRA-sim, or one without submodules, ends the configuration with
# one line that says so.
set -euo pipefail
source=$1
cmake=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

refused() {
  local folder=$1 wanted=$2 output
  if output=$("$cmake" -S "$source" -B "$work/build" -DMRCSIM_TESTS=OFF -DASTRA_SIM_DIR="$folder" 2>&1); then
    echo "$folder was accepted" >&2
    exit 1
  fi
  grep -qF "mrcsim: ASTRA_SIM_DIR: $folder $wanted" <<<"$output" || { tail -n 20 <<<"$output" >&2 && exit 1; }
}

mkdir "$work/other"
refused "$work/other" "is not a checkout of ASTRA-sim: astra-sim/common/AstraNetworkAPI.hh is missing"
mkdir -p "$work/bare/astra-sim/common"
touch "$work/bare/astra-sim/common/AstraNetworkAPI.hh"
refused "$work/bare" "lacks submodules: extern/graph_frontend/chakra/src/feeder_v3/et_feeder.h is missing"
