#!/usr/bin/env bash
# Mutations of an RTL block against its co-simulation bench: rtl_mutants.sh [--for FILE] BLOCK [WORK_FOLDER]
#
# yosys puts COUNT mutations (220, at most 250) into one netlist of the block, chosen by an input; it is Verilated once, and
# the bench of tests/mutation/rtl/BLOCK.cpp runs on each. Those that it does not find are proved equal to the block by yosys, or
# must be listed in tests/mutation/rtl/BLOCK.survivors, one line each: "NUMBER FILE:LINE equal: WHY" where the block does the
# same with the change, which was read and not proved; "NUMBER FILE:LINE missed: WHEN IT SHOWS" where it does not. Equal ones do
# not count, and of the others at most 3 % may be missed. Exits 1 otherwise, 2 if the netlist itself or a tool fails.
# Memories stay whole: what is mutated of them is their ports.
# --for FILE: of a user's RTL, which mrcsim_use_rtl() described in FILE (bin/NAME.rtl/BLOCK.sources), with its contract; its
# survivors are listed nowhere, and named.
# The first lines of BLOCK.cpp say "// parameters: …" for read_slang, "// transactions: N" for each mutation, and
# "// sources: …" for what else of the block is compiled.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
described=
if [ "${1:-}" = --for ]; then
  described=$(realpath "${2:?"--for: the file BLOCK.sources that mrcsim_use_rtl() wrote"}")
  [ -f "$described" ] || { echo "rtl_mutants: $described does not exist" >&2; exit 2; }
  shift 2
fi
block=${1:?"rtl_mutants.sh [--for FILE] BLOCK; there are: $(cd "$here/rtl" && ls ./*.cpp | sed 's#^\./##; s/\.cpp//' | tr '\n' ' ')"}
count=${COUNT:-220}
bench=$here/rtl/$block.cpp
[ -f "$bench" ] || { echo "rtl_mutants: $block has no tests/mutation/rtl/$block.cpp" >&2; exit 2; }
parameters=$(sed -n 's#^// parameters: ##p' "$bench")
transactions=$(sed -n 's#^// transactions: ##p' "$bench")
cpp=("$bench" "$root"/tb/cosim/bench/{calibration,contract_checker,coverage,replay_file,stream_bench,verilated_failure}.cpp "$root/tb/cosim/contract.cpp"
  "$root"/sc_models/parameters/{input_file,parameter_value,toml_file}.cpp)
for source in $(sed -n 's#^// sources: ##p' "$bench"); do cpp+=("$root/$source"); done
yosys=$("$root/tests/formal/yosys_tool.sh")
if [ -n "${2:-}" ]; then
  work=$2
  mkdir -p "$work"
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
cd "$work"

ports=$work/ports
"$root/tb/cosim/rtl_ports.py" package "$root/rtl/common/mrc_pkg.sv" "$ports/cosim"
"$root/tb/cosim/rtl_ports.py" block "$root/rtl/common/mrc_pkg.sv" "$root/rtl/$block/$block.sv" \
  "$root/tb/cosim/$block/ports.toml" "$ports/cosim/$block"
flat=$ports/cosim/$block/${block}_flat.sv
sources=("$root"/rtl/common/mrc_pkg.sv)
identity=(--block "$block" --base "$root" --library "$root/rtl/common")
contract=$root/rtl/$block/contract.toml
if [ -n "$described" ]; then
  described_as() { sed -n "s/^$1 //p" "$described"; }
  top=$(described_as top)
  contract=$(described_as contract)
  identity+=(--base "$(described_as folder)")
  mapfile -t own < <(described_as source | grep -vxF "${sources[0]}")
  for argument in $(described_as argument); do parameters+=" $argument"; done
  sources+=("${own[@]}")
  # Modules of rtl/common that are not defined there.
  for source in "$root"/rtl/common/*.sv; do
    module=$(basename "$source" .sv)
    [ "$module" = mrc_pkg ] || grep -qE "^ *module +$module\b" "${own[@]}" || sources+=("$source")
  done
else
  top=$block
  for source in "$root"/rtl/common/*.sv "$root"/rtl/"$block"/*.sv; do
    [ "$source" = "${sources[0]}" ] || sources+=("$source")
  done
  own=("$root/rtl/$block"/*.sv)
fi
for source in "${own[@]}"; do [[ $source == *_wrapper/$block.sv ]] || hashed+=("$source"); done
"$root/tb/cosim/rtl_identity.py" "${identity[@]}" --top "$top" --line "${sources[0]}" "${hashed[@]}"
sources+=("$flat")
names=$(for source in "${sources[@]}"; do basename "$source"; done | tr '\n' ' ')
run_yosys() { "$yosys" "$@" > log 2>&1 || { grep -v fetched log | tail -n 40 >&2; exit 2; }; }

cat > mutate.ys <<SCRIPT
read_slang --threads 1 $parameters $names --top ${block}_flat
hierarchy -check; proc; flatten; opt; memory -nomap; opt; bwmuxmap; opt
write_rtlil block.il
mutate -list $count -seed 1 -ctrl mutsel 8 -none -o list
SCRIPT
run_yosys mutate.ys "${sources[@]}"
# Not a part of the block: the pins that reset a memory's word of output, which our memories do not have.
sed -i -E '/-port .?.?RD_[AS]RST /d' list
# Nor do they change the block.
"$here/changing.py" block.il list > changing
mv changing list
numbers=$(sed -n 's/.*-ctrl mutsel 8 \([0-9]*\) .*/\1/p' list)
count=$(wc -w <<< "$numbers")
cat > netlist.ys <<SCRIPT
read_rtlil block.il
script list
opt_clean; splitnets -driver
write_verilog -noattr mutants.v
SCRIPT
run_yosys netlist.ys block.il list
rm -rf model ./*.o
verilator_bin=$(command -v verilator_bin || command -v verilator)
"$verilator_bin" --cc --prefix Vmutants -O3 -Wno-fatal --x-assign fast --x-initial unique --Mdir model \
  --top-module "${block}_flat" mutants.v > verilator.log 2>&1 || { tail -n 20 verilator.log >&2; exit 2; }
include=${VERILATOR_ROOT:-/usr/share/verilator}/include
compiler=${CXX:-g++}
if command -v ccache > /dev/null; then compiler="ccache $compiler"; fi
for source in "${cpp[@]}" model/*.cpp "$include"/verilated{,_threads,_cov,_fst_c}.cpp; do
  # As mrcsim_verilator in tb/cmake/MrcsimRtl.cmake.
  listens=()
  [ "$(basename "$source")" != verilated.cpp ] || listens=(-include "$root/tb/cosim/bench/verilated_print.h")
  $compiler -std=c++20 -O1 -w "${listens[@]}" -I model -I "$here" -I "$ports" -I "$root/tb" -I "$root/sc_models" -I "$root/include" \
    -isystem "$include" -isystem "$include/vltstd" -c "$source" -o "$(basename "$source" .cpp).o"
done
$compiler ./*.o -o mutants -lfmt -lz -lpthread
# shellcheck disable=SC2086
./mutants "$count" "$transactions" "$contract" $numbers > verdicts || exit 2

survivors=$(awk '$2 == "survived" { print $1 }' verdicts)
declare -A place reason what
for mutation in $survivors; do
  what[$mutation]=$(grep -- "-ctrl mutsel 8 $mutation " list | sed "s/mutate -ctrl mutsel 8 $mutation //; s/-module [^ ]* //")
  # The place in the block, where a part that is shared gives its own, too; a memory's own logic has only its name.
  places=$(grep -o -- '-src [^ ]*' <<< "${what[$mutation]}" | sed 's/-src //; s/\.[0-9]*\(-.*\)\?$//' || true)
  places+=$'\n'$(sed -n 's/.*-cell \$*\\*\([^$ ]*\).*/\1/p' <<< "${what[$mutation]}")
  place[$mutation]=$(grep -m 1 "^$block" <<< "$places" || grep -m 1 . <<< "$places" || echo "$block.sv")
  reason[$mutation]=$(grep -F "$mutation ${place[$mutation]} " "$here/rtl/$block.survivors" 2> /dev/null |
    grep "^$mutation " | cut -d' ' -f3- || true)
  [ -z "$described" ] || reason[$mutation]=
done

# prove PREPARE MUTATION…: a proof each, of 3 minutes at most, that it is the same block; appends to `equal` those that are.
# PREPARE is done to both.
prove() {
  local prepare=$1 mutation line
  shift
  for mutation in "$@"; do
    line=$(grep -- "-ctrl mutsel 8 $mutation " list | sed "s/-ctrl mutsel 8 $mutation //")
    cat > prove.ys << SCRIPT
read_rtlil block.il
rename ${block}_flat gold
read_rtlil block.il
$line
rename ${block}_flat gate
$prepare
equiv_make gold gate equiv
cd equiv
async2sync; opt -full
equiv_struct
equiv_simple -ignore-unknown-cells
equiv_induct -ignore-unknown-cells -seq 2
equiv_status
SCRIPT
    local code=0
    timeout 180 "$yosys" prove.ys block.il > prove.log 2>&1 || code=$?
    [ $code = 0 ] || [ $code = 124 ] || { tail -n 20 prove.log >&2; exit 2; }
    if grep -q 'Equivalence successfully proven' prove.log; then echo "$mutation" >> equal; fi
  done
}

# What was neither found nor listed. First only registers and the ports of memories are matched between the two (a memory's
# output is any, and the same of both); then, of what is left, all wires and the memories' words.
: > equal
open=()
for mutation in $survivors; do [ -n "${reason[$mutation]}" ] || open+=("$mutation"); done
prove 'opt_expr; opt_clean; select -set registers t:$*dff* %co1:+[Q]; rename -hide w:* @registers %d' "${open[@]}"
open=()
for mutation in $survivors; do [ -n "${reason[$mutation]}" ] || grep -qx "$mutation" equal || open+=("$mutation"); done
prove 'memory_map; opt_clean' "${open[@]}"

killed=$(grep -c killed verdicts || true)
equal=$(wc -l < equal)
read_equal=0
for mutation in $survivors; do
  if [[ ${reason[$mutation]} == equal:* ]]; then read_equal=$((read_equal + 1)); fi
done
counted=$((count - equal - read_equal))
echo "$block: $killed of $counted mutations killed; of $count, $equal are proved equal to the block, and $read_equal are as far as was read"
bad=0
for mutation in $survivors; do
  grep -qx "$mutation" equal && continue
  if [ -n "$described" ]; then
    echo "  $mutation ${place[$mutation]} ${what[$mutation]}"
    continue
  fi
  echo "  $mutation ${place[$mutation]} ${reason[$mutation]:-NOT LISTED: ${what[$mutation]}}"
  [[ ${reason[$mutation]} == @(equal|missed):* ]] || bad=1
done
[ $((killed * 100)) -ge $((counted * 97)) ] || { echo "$block: fewer than 97 % are killed" >&2; bad=1; }
exit $bad
