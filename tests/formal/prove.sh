#!/usr/bin/env bash
# Proves the properties of an RTL block: prove.sh BLOCK [STEPS]. Every assertion of BLOCK_properties.sv, and of the block under
# FORMAL, holds in all runs of STEPS cycles from reset on (by default the number in a line "// steps: N" of the properties, or 12).
# Where a line "// proof: induction" says so they hold in all runs, because they follow from themselves; with "// proof:
# reachability" an invariant is sought that they follow from. Such a proof must close.
# That a proof says something is shown twice: the condition of each assertion is met within STEPS cycles (those that are not are
# named; a line "// reached: all" demands that there are none), and the block with a kept bug (tests/unit/BLOCK/patches, those in
# a line "// finds: NAME…") fails.
# yosys (npm) makes the netlist, ABC (Debian's berkeley-abc) proves.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
block=$1
properties=$here/${block}_properties.sv
[ -f "$properties" ] || { echo "prove: no $properties" >&2; exit 2; }
said() { sed -n "s#^// $1: ##p" "$properties"; }
steps=${2:-$(said steps)}
steps=${steps:-12}

yosys=$("$here/yosys_tool.sh")
abc=$(command -v berkeley-abc || command -v yosys-abc || true)
[ -n "$abc" ] || { echo "prove: no berkeley-abc (tests/formal/packages.txt)" >&2; exit 2; }
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
cd "$work"

sources=("$root/rtl/common/mrc_pkg.sv")
for source in "$root"/rtl/common/*.sv "$root"/rtl/"$block"/*.sv "$properties"; do
  [ "$source" = "$root/rtl/common/mrc_pkg.sv" ] || sources+=("$source")
done

# A $cover cell becomes an assertion that it is never met.
cat >unmet.v <<'VERILOG'
module \$cover (input A, input EN);
  \$assert _TECHMAP_REPLACE_ (.A(!(A && EN)), .EN(1'b1));
endmodule
VERILOG

# netlist NAME YOSYS_COMMANDS SOURCE…: NAME.aig, and NAME.places with the source line of each assertion.
netlist() {
  local name=$1 commands=$2 names
  shift 2
  names=$(for source in "$@"; do basename "$source"; done | tr '\n' ' ')
  cat >"$name.ys" <<SCRIPT
read_slang --threads 1 -DFORMAL $names --top ${block}_properties
prep -flatten; memory_map; async2sync
$commands
chformal -lower; techmap -map unmet.v; opt -full
formalff -clk2ff -ff2anyinit -setundef; setundef -undriven -anyseq
opt -full; techmap; opt -fast; simplemap; dffunmap; opt -fast; aigmap
formalff -anyinit2ff -fine; opt_clean
write_aiger -I -B -zinit -no-startoffset -ywmap $name.map $name.aig
tee -o $name.cells dump t:\$assert
SCRIPT
  "$yosys" "$name.ys" "$@" unmet.v >"$name.log" 2>&1 || { grep -v fetched "$name.log" | tail -n 40 >&2; exit 2; }
  awk 'NR == FNR { if ($1 == "attribute" && $2 == "\\src") { src = $3; gsub(/"/, "", src); sub(/\|.*/, "", src) }
                   if ($1 == "cell") place[$3] = src; next }
       /"asserts"/ { on = 1; next } /"assumes"/ { on = 0 }
       on && match($0, /"[^"]+"/) { print place[substr($0, RSTART + 1, RLENGTH - 2)] }' \
    "$name.cells" "$name.map" >"$name.places"
}
ask() { "$abc" -c "read_aiger $1.aig; fold; $2" >"$1.abc" 2>&1; }
# Whether an assertion fails within STEPS; its place in $failed.
fails() {
  ask "$1" "strash; bmc3 -F $steps"
  failed=
  if grep -q 'asserted in frame' "$1.abc"; then
    failed=$(sed -n "$(($(sed -n 's/^Output \([0-9]*\) .*asserted in frame.*/\1/p' "$1.abc" | head -n 1) + 1))p" "$1.places")
    return 0
  fi
  grep -q "No output asserted in $steps frames" "$1.abc" && return 1
  cat "$1.abc" >&2
  exit 2
}

netlist proof '' "${sources[@]}"
asserts=$(wc -l <proof.places)
[ "$asserts" -gt 0 ] || { echo "prove: $block: there is nothing to prove" >&2; exit 1; }
if fails proof; then
  echo "prove: $block: the assertion at $failed fails: $(grep 'asserted in frame' proof.abc)" >&2
  exit 1
fi
case $(said proof) in
  induction)
    sed '/^chformal -lower/,$d' proof.ys >induction.ys
    echo 'chformal -lower; opt -full; sat -verify -tempinduct -prove-asserts -set-assumes -seq 1 -maxsteps 3' >>induction.ys
    "$yosys" induction.ys "${sources[@]}" >induction.log 2>&1 || { echo "prove: $block: induction does not close" >&2; exit 1; }
    echo "$block: $asserts assertions hold in all runs, by induction" ;;
  reachability)
    ask proof "orpos; strash; scorr; pdr"
    grep -q 'Property proved' proof.abc || { echo "prove: $block: no invariant is found" >&2; exit 1; }
    echo "$block: $asserts assertions hold in all runs" ;;
  *) echo "$block: $asserts assertions hold in all runs of $steps cycles" ;;
esac

netlist reached 'chformal -assert -coverenable; chformal -assert -remove' "${sources[@]}"
conditions=$(wc -l <reached.places)
for ((i = 0; i < conditions; i++)); do
  echo "read_aiger reached.aig; fold; cone -s -O $i; strash; bmc3 -F $steps"
done >reached.commands
"$abc" -f reached.commands >reached.abc 2>&1
grep -o 'was asserted in frame\|No output asserted' reached.abc >reached.met || true
[ "$(wc -l <reached.met)" = "$conditions" ] || { cat reached.abc >&2; exit 2; }
unmet=0
while IFS=: read -r _ place; do
  echo "$block: the condition of the assertion at $place is not met within $steps cycles"
  unmet=1
done < <(paste -d: reached.met reached.places | grep '^No output' || true)
[ "$unmet" = 1 ] || echo "$block: each of their conditions is met within $steps cycles"
bad=0
if [ "$unmet" = 1 ] && [ "$(said reached)" = all ]; then bad=1; fi

for bug in $(said finds); do
  rm -rf rtl
  cp -r "$root/rtl" rtl
  patch -s -p0 -d "rtl/$block" <"$root/tests/unit/$block/patches/$bug.patch"
  netlist "$bug" '' "${sources[@]/#"$root/rtl/"/rtl/}"
  if fails "$bug"; then
    echo "$block: with the bug $bug the assertion at $failed fails"
  else
    echo "prove: $block: with the bug $bug nothing fails within $steps cycles" >&2
    bad=1
  fi
done
exit $bad
