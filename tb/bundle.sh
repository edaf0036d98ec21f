#!/usr/bin/env bash
# One archive that runs where it is unpacked, without installation: tb/bundle.sh [DIR], by default build. Program with the
# libraries that it needs, scenarios, traces, documents, headers, and the RTL blocks that are built in DIR. It runs on systems
# with the glibc of this one or a newer one.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${1:-build}
tb/build.sh "$dir" --target mrcsim
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(cd "$dir" && cpack >"$log" 2>&1) || { cat "$log" >&2; exit 1; }
ls "$dir"/mrcsim-*.tar.gz
