#!/usr/bin/env bash
# Configures and builds: tb/build.sh DIR [cmake --build arguments]. Quick when nothing changed; configures again when
# packages have come or gone since, so that what they make possible is built, and with other MRCSIM_CMAKE_FLAGS.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
shift
packages=$(tb/install.sh --list tb/packages.txt tests/packages.txt | xargs dpkg-query -W 2>/dev/null || true)
configured_with=$(printf '%s\n%s' "${MRCSIM_CMAKE_FLAGS:-}" "$packages")
if [ ! -f "$dir/build.ninja" ] || [ "$configured_with" != "$(cat "$dir/configured-with" 2>/dev/null)" ]; then
  echo "Configuring $dir (details in $dir/configure.log)"
  mkdir -p "$dir"
  if ! cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMRCSIM_WARNINGS_AS_ERRORS=OFF \
    -DMRCSIM_PRECOMPILED_HEADERS=ON ${MRCSIM_CMAKE_FLAGS:-} >"$dir/configure.log" 2>&1; then
    tail -n 20 "$dir/configure.log" >&2
    exit 1
  fi
  printf '%s\n' "$configured_with" >"$dir/configured-with"
  grep -E '^-- (tests|bench|fuzz|Chakra traces|charts of reports|runs on several processes):' "$dir/configure.log" || true
fi
NINJA_STATUS='[%f/%t, %es] ' cmake --build "$dir" "$@"
