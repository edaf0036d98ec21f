#!/usr/bin/env bash
# Configures and builds: tb/build.sh DIR [cmake --build arguments]. Quick when nothing changed; configures again when
# packages have come or gone since, so that what they make possible is built, and with other MRCSIM_CMAKE_FLAGS.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
shift
# What is wrong with the folder MRCSIM_USER_RTL, in one line; fails where that is not what has ended the configuration.
refused_rtl() {
  local log=$dir/configure.log folder
  grep '^mrcsim: ' "$log" >&2 && return
  folder=$(sed -n 's/^-- MRCSIM_USER_RTL: \(.*\)$/\1/p' "$log" | grep -v '^configured$') || return 1
  grep -q '^-- MRCSIM_USER_RTL: configured$' "$log" && return 1
  # CMake's own words: the first error, whose text ends at an empty line.
  sed -n '/^CMake Error/{:more;N;/\n$/!b more;s/^CMake Error at //;s/ ([^\n]*):\n/:/;s/^CMake Error: *//;s/[\n ]\+/ /g;s/ $//;p;q}' "$log" |
    sed "s|^\(.*\)$|mrcsim: \1 (MRCSIM_USER_RTL is $folder)|" >&2
}

packages=$(tb/install.sh --list tb/packages.txt tests/packages.txt | xargs dpkg-query -W 2>/dev/null || true)
configured_with=$(printf '%s\n%s' "${MRCSIM_CMAKE_FLAGS:-}" "$packages")
# Ninja would configure as well, with all that CMake says of an error.
user_rtl=$(sed -n 's/^MRCSIM_CONFIGURED_USER_RTL:INTERNAL=//p' "$dir/CMakeCache.txt" 2>/dev/null || true)
changed_rtl() {
  [ -n "$user_rtl" ] && { [ ! -f "$user_rtl/CMakeLists.txt" ] || [ "$user_rtl/CMakeLists.txt" -nt "$dir/build.ninja" ]; }
}
if [ ! -f "$dir/build.ninja" ] || changed_rtl || [ "$configured_with" != "$(cat "$dir/configured-with" 2>/dev/null)" ]; then
  echo "Configuring $dir (details in $dir/configure.log)"
  mkdir -p "$dir"
  if ! cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMRCSIM_WARNINGS_AS_ERRORS=OFF \
    -DMRCSIM_PRECOMPILED_HEADERS=ON ${MRCSIM_CMAKE_FLAGS:-} >"$dir/configure.log" 2>&1; then
    refused_rtl || tail -n 20 "$dir/configure.log" >&2
    exit 1
  fi
  printf '%s\n' "$configured_with" >"$dir/configured-with"
  grep -E '^-- (tests|bench|fuzz|Chakra traces|charts of reports|runs on several processes):' "$dir/configure.log" || true
fi
NINJA_STATUS='[%f/%t, %es] ' cmake --build "$dir" "$@"
