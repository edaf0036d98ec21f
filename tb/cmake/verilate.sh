#!/usr/bin/env bash
# Verilates one variant of a block while building: verilate.sh VERILATOR FOLDER PREFIX FAST SLOW [Verilator's arguments]
#
# Verilator names its files by their content, so a build cannot know them beforehand. They go to FOLDER/generated; what the
# build knows is FOLDER/PREFIX.h, FAST sources FOLDER/PREFIX_fast<i>.cpp (what runs in each cycle) and SLOW sources
# FOLDER/PREFIX_slow<i>.cpp (the rest; with SLOW 0 it goes to the others), which include them, about equally long, and
# FOLDER/PREFIX.d, the files that were read.
set -euo pipefail
verilator=$1 folder=$2 prefix=$3 fast=$4 slow=$5
shift 5
generated=$folder/generated
rm -rf "$generated"
mkdir -p "$folder"

# wrong_ports LOG: ports of a user's module that do not fit ours, in one line; nothing where all fit. Verilator warns of widths where
# the module is connected: in the module around it (tb/cosim/rtl_wrapper.py), or in BLOCK_flat.sv where it has our names. It would
# cut or fill the bits, so that the block looked wrong only in a run.
wrong_ports() {
  local at port found wanted ours top file ports=
  while IFS='|' read -r at port found wanted; do
    file=${at%%:*}
    ours=$(sed -n "$(cut -d: -f2 <<<"$at")s/^ *\.\w*(\(.*\)),\{0,1\}$/\1/p" "$file")
    top=$(sed -n 's/^  ) u_\(\w*\) ($/\1/p' "$file")
    if [ -n "$found" ]; then
      ports+="; port $port has $found bits, wanted $wanted, as ${ours:-$port} of $(basename "$file" .sv | sed 's/_flat$//')"
    else
      ports+="; there is no port $port, wanted for ${ours:-$port} of $(basename "$file" .sv | sed 's/_flat$//')"
    fi
  done < <(sed -n -e "s/^%Warning-WIDTH[A-Z]*: \([^:]*\(_flat\|_wrapper\/[^:/]*\)\.sv:[0-9]*\):.*port connection '\([^']*\)' expects \([0-9]*\) bits.* generates \([0-9]*\) bits.*/\1|\3|\4|\5/p" \
    -e "s/^%Error[-A-Z]*: \([^:]*\(_flat\|_wrapper\/[^:/]*\)\.sv:[0-9]*\):.*Pin not found: '\([^']*\)'.*/\1|\3||/p" "$1" | awk '!seen[$0]++')
  [ -z "$ports" ] || printf 'mrcsim: module %s: %s\n' "$top" "${ports#; }"
}

log=$folder/$prefix.log
status=0
"$verilator" --cc --prefix "$prefix" --Mdir "$generated" --MMD "$@" >/dev/null 2>"$log" || status=$?
wrong=$(wrong_ports "$log")
if [ -n "$wrong" ]; then
  echo "$wrong" >&2
  exit 1
fi
cat "$log" >&2
[ "$status" -eq 0 ] || exit "$status"

# write FILE: stdin, unless FILE has it already: what depends on it is not built without need.
write() {
  cat >"$1.new"
  if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

write "$folder/$prefix.h" <"$generated/$prefix.h"
# The sources that include the generated files change with any of them.
checksum=$(cd "$generated" && cat -- *.h *.cpp | sha1sum | cut -d' ' -f1)

# units KIND COUNT FILE…: spreads the files, the longest first, over COUNT sources.
units() {
  local kind=$1 count=$2 unit i size file
  local -a lengths=() texts=()
  shift 2
  for ((i = 0; i < count; ++i)); do lengths[i]=0 texts[i]=; done
  while read -r size file; do
    unit=0
    for ((i = 1; i < count; ++i)); do [ "${lengths[i]}" -ge "${lengths[unit]}" ] || unit=$i; done
    lengths[unit]=$((lengths[unit] + size))
    texts[unit]+="#include \"generated/$file\""$'\n'
  done < <(cd "$generated" && stat -c '%s %n' -- "$@" | sort -k1,1nr -k2)
  for ((i = 0; i < count; ++i)); do
    printf '// %s\n%s' "$checksum" "${texts[i]}" | write "$folder/${prefix}_$kind$i.cpp"
  done
}

mapfile -t slow_files < <(cd "$generated" && ls | grep -E '(__Slow|__Syms)\.cpp$')
mapfile -t fast_files < <(cd "$generated" && ls | grep -E '\.cpp$' | grep -vE '(__Slow|__Syms)\.cpp$')
[ "$slow" -gt 0 ] || fast_files+=("${slow_files[@]}")
units fast "$fast" "${fast_files[@]}"
[ "$slow" -eq 0 ] || units slow "$slow" "${slow_files[@]}"

# Without Verilator itself, which is named without its folder.
sed -e "s#^[^:]*:#$folder/$prefix.h:#" -e 's# verilator_bin # #' "$generated/${prefix}__ver.d" >"$folder/$prefix.d"
