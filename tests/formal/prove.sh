#!/usr/bin/env bash
# Proves the properties of an RTL block: prove.sh BLOCK [STEPS]. Every assertion of rtl/BLOCK/assertions/BLOCK_assertions.sv, of
# BLOCK_properties.sv, which connects it to the block, and of the block under FORMAL, holds in all runs of STEPS cycles: that of the reset, or in which the run begins otherwise, and that in which a check
# falls due are counted (by default the number in a line "// steps: N" of the properties, or 12).
# Where a line "// proof: induction" says so they hold in all runs, because they follow from themselves; with "// proof:
# reachability" an invariant is sought that they follow from. Such a proof must close.
# A line "// case: NAME N" proves the same for N cycles where the macro NAME is defined, under which the properties allow fewer
# inputs: what takes longer than STEPS cycles is reached there.
# That a proof says something is shown twice: the condition of each assertion is met within STEPS cycles or in a case (those that
# are not are named; a line "// reached: all" demands that there are none), and the block with a kept bug
# (tests/unit/BLOCK/patches, those in a line "// finds: NAME…") fails.
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
for source in "$root"/rtl/common/*.sv "$root"/rtl/"$block"/*.sv "$root"/rtl/"$block"/assertions/*_assertions.sv "$properties"; do
  [ -e "$source" ] || continue
  [ "$source" = "$root/rtl/common/mrc_pkg.sv" ] || sources+=("$source")
done

# A $cover cell becomes an assertion that it is never met.
cat >unmet.v <<'VERILOG'
module \$cover (input A, input EN);
  \$assert _TECHMAP_REPLACE_ (.A(!(A && EN)), .EN(1'b1));
endmodule
VERILOG

# netlist NAME CONDITIONS SOURCE…: NAME.aig, whose outputs are the assertions, and with CONDITIONS (1) the conditions of these;
# a NAME that is a case is its macro. NAME.places has for each output "assertion" or "condition" and its source line.
netlist() {
  local name=$1 conditions= names
  [ "$2" = 0 ] || conditions='chformal -assert -coverenable; techmap -map unmet.v'
  shift 2
  names=$(for source in "$@"; do basename "$source"; done | tr '\n' ' ')
  cat >"$name.ys" <<SCRIPT
read_slang --threads 1 -DFORMAL -D$name $names --top ${block}_properties
prep -flatten; memory_map; async2sync; chformal -lower
tee -o $name.asserts select -list t:\$assert
$conditions
opt -full
formalff -clk2ff -ff2anyinit -setundef; setundef -undriven -anyseq
opt -full; techmap; opt -fast; simplemap; dffunmap; setundef -undriven -anyseq; opt -fast; aigmap
formalff -anyinit2ff -fine; opt_clean
write_aiger -I -B -zinit -no-startoffset -ywmap $name.map $name.aig
tee -o $name.cells dump t:\$assert
SCRIPT
  "$yosys" "$name.ys" "$@" unmet.v >"$name.log" 2>&1 || { grep -v fetched "$name.log" | tail -n 40 >&2; exit 2; }
  sed -i 's#.*/##' "$name.asserts"
  awk 'FILENAME ~ /asserts$/ { assertion[$1] = 1; next }
       FILENAME ~ /cells$/ { if ($1 == "attribute" && $2 == "\\src") { src = $3; gsub(/"/, "", src); sub(/\|.*/, "", src) }
                             if ($1 == "cell") { name = $3; place[plain()] = src label() } next }
       /"asserts"/ { on = 1; next } /"assumes"/ { on = 0 }
       on && match($0, /"[^"]+"/) { name = substr($0, RSTART + 1, RLENGTH - 2)
                                    print (plain() in assertion ? "assertion" : "condition"), place[name] }
       # A name without what marks it as one of the source, and with that mark its last part.
       function plain() { sub(/^\\+/, "", name); return name }
       function label() { if (name ~ /^\$/) return ""; sub(/.*\./, "", name); return " (" name ")" }' \
    "$name.asserts" "$name.cells" "$name.map" >"$name.places"
}

# seek NAME STEPS [OPTIONS]: which outputs of NAME can be reached within STEPS: their lines of NAME.places, with the cycle, in
# NAME.reached. With -a all of them are sought, without it the first.
seek() {
  local name=$1 steps=$2
  "$abc" -c "read_aiger $name.aig; fold; strash; bmc3 ${3:-} -F $steps" >"$name.abc" 2>&1
  grep -q "asserted in $steps frames\|after $steps frames\|asserted in frame" "$name.abc" || { cat "$name.abc" >&2; exit 2; }
  sed -n 's/^Output *\([0-9]*\) .*asserted in frame *\([0-9]*\).*/\1 \2/p' "$name.abc" |
    while read -r output frame; do echo "$(sed -n "$((output + 1))p" "$name.places"), in cycle $frame"; done >"$name.reached"
}

# hold NAME STEPS: no assertion of NAME fails within STEPS; which conditions are met is in NAME.reached.
hold() {
  netlist "$1" 1 "${sources[@]}"
  seek "$1" "$2" "-a -x"
  grep -q '^assertion' "$1.reached" || return 0
  sed -n "s/^assertion \(.*\)/prove: $block: the assertion at \1, fails/p" "$1.reached" >&2
  exit 1
}

hold proof "$steps"
asserts=$(grep -c '^assertion' proof.places || true)
[ "$asserts" -gt 0 ] || { echo "prove: $block: there is nothing to prove" >&2; exit 1; }
case $(said proof) in
  induction)
    { sed '/^tee -o proof.asserts/,$d' proof.ys
      echo 'opt -full; sat -verify -tempinduct -prove-asserts -set-assumes -seq 1 -maxsteps 3'; } >induction.ys
    "$yosys" induction.ys "${sources[@]}" >induction.log 2>&1 || { echo "prove: $block: induction does not close" >&2; exit 1; }
    echo "$block: $asserts assertions hold in all runs, by induction" ;;
  reachability)
    netlist unbounded 0 "${sources[@]}"
    "$abc" -c "read_aiger unbounded.aig; fold; orpos; strash; scorr; pdr" >unbounded.abc 2>&1
    grep -q 'Property proved' unbounded.abc || { echo "prove: $block: no invariant is found" >&2; exit 1; }
    echo "$block: $asserts assertions hold in all runs" ;;
  *) echo "$block: $asserts assertions hold in all runs of $steps cycles" ;;
esac

# A place in a module that is there several times is as many conditions; a case adds those that were not met before.
conditions_met() { sed -n 's/^\(condition .*\), in cycle .*/\1/p' "$1.reached" | sort; }
conditions_met proof >met
while read -r name cycles; do
  hold "$name" "$cycles"
  echo "$block: and in all runs of $cycles cycles with $name"
  conditions_met "$name" | comm -13 met - >more
  sort -o met met more
  cat "$name.reached" >>proof.reached
done < <(said case)

bad=0
grep '^condition' proof.places | sort >wanted
if cmp -s wanted met; then
  echo "$block: each of their conditions is met, the last$(sed -n 's/^condition.*, in cycle/ in cycle/p' proof.reached | sort -k 3n | tail -n 1)"
else
  comm -23 wanted met | sed "s/^condition \(.*\)/$block: the condition of the assertion at \1 is not met/"
  [ "$(said reached)" != all ] || bad=1
fi

for bug in $(said finds); do
  rm -rf rtl
  cp -r "$root/rtl" rtl
  cp "$root/tests/unit/$block/pristine/"*.sv "rtl/$block/"
  patch -s -p0 -d "rtl/$block" <"$root/tests/unit/$block/patches/$bug.patch"
  netlist "$bug" 0 "${sources[@]/#"$root/rtl/"/rtl/}"
  seek "$bug" "$steps"
  if [ -s "$bug.reached" ]; then
    sed -n "s/^assertion \(.*\)/$block: with the bug $bug the assertion at \1, fails/p" "$bug.reached"
  else
    echo "prove: $block: with the bug $bug nothing fails within $steps cycles" >&2
    bad=1
  fi
done
exit $bad
