#!/usr/bin/env bash
# Configures once and builds: tb/build.sh DIR [cmake --build arguments]. Quick when nothing changed.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
shift
if [ ! -f "$dir/build.ninja" ]; then
  echo "Configuring $dir (details in $dir/configure.log)"
  mkdir -p "$dir"
  if ! cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Release ${MRCSIM_CMAKE_FLAGS:-} >"$dir/configure.log" 2>&1; then
    tail -n 20 "$dir/configure.log" >&2
    exit 1
  fi
  grep -E '^-- (tests|bench|fuzz):' "$dir/configure.log" || true
fi
NINJA_STATUS='[%f/%t, %es] ' cmake --build "$dir" "$@"
