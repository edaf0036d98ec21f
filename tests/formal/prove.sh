#!/usr/bin/env bash
# Proves the properties of an RTL block with yosys: prove.sh BLOCK [STEPS]. Every assertion of BLOCK_properties.sv holds in all
# runs of STEPS cycles from reset on. Needs npm once, to fetch the tools.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
block=$1
steps=${2:-12}

yosys=$("$here/yosys_tool.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=("$root"/rtl/common/*.sv "$root"/rtl/"$block"/*.sv "$here/${block}_properties.sv")
names=$(for source in "${sources[@]}"; do basename "$source"; done | tr '\n' ' ')
cat >"$work/prove.ys" <<SCRIPT
read_slang --threads 1 -DFORMAL $names --top ${block}_properties
prep -flatten; memory_map; async2sync; opt -nodffe; dffunmap; chformal -lower; opt -full
sat -verify -prove-asserts -set-assumes -seq 1 -tempinduct-baseonly -maxsteps $steps
SCRIPT
cd "$work"
if ! "$yosys" prove.ys "${sources[@]}" >log 2>&1; then
  grep -v 'fetched' log | tail -n 80
  echo "prove: $block: an assertion fails, or the tools do (above)" >&2
  exit 1
fi
asserts=$(grep -c '^Import proof for assert' log || true)
echo "$block: every assertion holds in all runs of $steps cycles ($((asserts / steps)) assertions after merging)"
