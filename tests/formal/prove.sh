#!/usr/bin/env bash
# Proves the properties of an RTL block with yosys: prove.sh BLOCK [STEPS]. Every assertion of BLOCK_properties.sv, and of the
# block under FORMAL, holds in all runs of STEPS cycles from reset on; then it is tried whether they hold in all runs
# (induction), which is said but not demanded. STEPS by default: the number in a line "// steps: N" of the properties, or 12.
# Needs npm once, to fetch the tools.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
block=$1
properties=$here/${block}_properties.sv
[ -f "$properties" ] || { echo "prove: no $properties" >&2; exit 2; }
steps=${2:-$(sed -n 's#^// steps: ##p' "$properties")}
steps=${steps:-12}

yosys=$("$here/yosys_tool.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=("$root/rtl/common/mrc_pkg.sv")
for source in "$root"/rtl/common/*.sv "$root"/rtl/"$block"/*.sv "$properties"; do
  [ "$source" = "$root/rtl/common/mrc_pkg.sv" ] || sources+=("$source")
done
names=$(for source in "${sources[@]}"; do basename "$source"; done | tr '\n' ' ')
cd "$work"
# prove LOG SAT_OPTIONS…
prove() {
  local log=$1
  shift
  cat >prove.ys <<SCRIPT
read_slang --threads 1 -DFORMAL $names --top ${block}_properties
prep -flatten; memory_map; async2sync; opt -nodffe; dffunmap; chformal -lower; opt -full
sat -verify -prove-asserts -set-assumes -seq 1 $*
SCRIPT
  "$yosys" prove.ys "${sources[@]}" >"$log" 2>&1
}

if ! prove bounded -tempinduct-baseonly -maxsteps "$steps"; then
  grep -v 'fetched' bounded | tail -n 80
  echo "prove: $block: an assertion fails, or the tools do (above)" >&2
  exit 1
fi
asserts=$(($(grep -c '^Import proof for assert' bounded || true) / steps))
[ "$asserts" -gt 0 ] || { echo "prove: $block: there is nothing to prove" >&2; exit 1; }
echo "$block: every assertion holds in all runs of $steps cycles ($asserts assertions after merging)"
[ "${INDUCTION:-1}" = 1 ] || exit 0
if prove induction -tempinduct -maxsteps 4 -timeout 120; then
  echo "$block: they hold in all runs, by induction"
else
  echo "$block: induction does not close within 4 cycles and 120 s"
fi
