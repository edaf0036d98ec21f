#!/usr/bin/env bash
# Plants each bug of mutations.txt into a copy of ring 1 and runs the protocol world on it: every one must be found.
#
#   run_mutations.sh [NAME …]     only the named ones; CXX and JOBS (compilers at a time) from the environment
#   run_mutations.sh --check      only that each fits the source
#
# Exits 1 if a bug survives or no longer fits the source, 2 if the source itself fails.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
world=$root/tests/unit/protocol/world
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=${CXX:-g++}
if command -v ccache >/dev/null; then compiler="ccache $compiler"; fi
check=false
if [ "${1:-}" = --check ]; then
  check=true
  shift
fi
few_seeds=60
all_seeds=1000

# build INCLUDE_DIR OUT: the world as one translation unit, so that the headers are read once.
build() {
  mkdir -p "$2"
  printf '#include "%s"\n' world_config.cpp sender_oracle.cpp world.cpp protocol_world_test.cpp > "$2/all.cpp"
  $compiler -std=c++20 -O1 -w -I"$1" -I"$world" -c "$2/all.cpp" -o "$2/all.o" 2> "$2/log" &&
    $compiler "$2/all.o" -o "$2/test" -lgtest -lgtest_main -lfmt -lpthread 2>> "$2/log"
}

# passes SEEDS DIR
passes() { MRC_WORLD_SEEDS=$1 timeout 300 "$2/test" --gtest_fail_fast > "$2/output" 2>&1; }

# plant FILE OCCURRENCE OLD NEW: replaces the OCCURRENCE-th line of FILE that is OLD but for its indentation.
plant() {
  OLD=$3 NEW=$4 awk -v nth="$2" '
    { line = $0; sub(/^[ \t]+/, "", line) }
    line == ENVIRON["OLD"] && ++seen == nth {
      print substr($0, 1, length($0) - length(line)) ENVIRON["NEW"]; planted = 1; next
    }
    { print }
    END { exit !planted }' "$1" > "$1.new" && mv "$1.new" "$1"
}

# try NAME FILE OCCURRENCE OLD NEW: writes what became of it to $work/NAME.verdict.
try() {
  local dir=$work/$1
  mkdir -p "$dir"
  cp -r "$work/include" "$dir/include"
  if ! plant "$dir/include/mrc/$2" "$3" "$4" "$5"; then
    echo "does not fit $2 any more" > "$work/$1.verdict"
  elif "$check"; then
    echo fits > "$work/$1.verdict"
  elif ! build "$dir/include" "$dir/build"; then
    echo "does not compile: $(head -n 1 "$dir/build/log")" > "$work/$1.verdict"
  elif passes $few_seeds "$dir/build" && passes $all_seeds "$dir/build"; then
    echo survived > "$work/$1.verdict"
  else
    echo "killed $(grep -a -m 1 '^seed ' "$dir/build/output" || true)" > "$work/$1.verdict"
  fi
  "$check" || echo "$1: $(cat "$work/$1.verdict")"
  rm -rf "$dir"
}

cp -r "$root/include" "$work/include"
if ! "$check"; then
  build "$work/include" "$work/baseline" || { cat "$work/baseline/log" >&2; exit 2; }
  passes $few_seeds "$work/baseline" || { cat "$work/baseline/output" >&2; exit 2; }
fi

jobs_at_once=${JOBS:-$(nproc)}
names=()
while IFS= read -r header; do
  [[ "$header" == '# '* || -z "$header" ]] && continue
  IFS= read -r old
  IFS= read -r new
  read -r name file nth <<< "$header"
  [[ "$old" == '- '* && "$new" == '+'* ]] || { echo "mutations.txt: $name has no - and + line" >&2; exit 2; }
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  names+=("$name")
  while [ "$(jobs -rp | wc -l)" -ge "$jobs_at_once" ]; do wait -n || true; done
  new=${new#+}
  try "$name" "$file" "${nth:-1}" "${old#- }" "${new# }" &
done < "$here/mutations.txt"
wait

wanted=killed
"$check" && wanted=fits
met=$(cat "$work"/*.verdict | grep -c "^$wanted" || true)
echo "$wanted: $met of ${#names[@]}"
[ "$met" -eq "${#names[@]}" ] && [ "$met" -gt 0 ] && exit 0
for name in "${names[@]}"; do
  grep -q "^$wanted" "$work/$name.verdict" || echo "  $name: $(cat "$work/$name.verdict")"
done
exit 1
