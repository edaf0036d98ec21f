#!/usr/bin/env bash
# Line and branch coverage of ring 1 (include/mrc) by its own tests: tests/coverage.sh [BUILD_DIR] builds them with gcov's
# counters, runs them, prints both for each header and fails below 95 % of the lines or 90 % of the branches. Which branches
# count is said in coverage.py. MRC_WORLD_SEEDS: random worlds to run, 20 unless it is set.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${1:-build-coverage}
tb/install.sh tests/coverage_packages.txt
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
# Steps speak only when they fail.
step() {
  local log=$dir/$1.log
  shift
  "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
}

step configure cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DMRCSIM_COVERAGE=ON
find "$dir" -name '*.gcda' -delete
step build cmake --build "$dir" --target ring1_tests
export MRC_WORLD_SEEDS=${MRC_WORLD_SEEDS:-20}
for part in wire protocol; do
  step "$part" ctest --test-dir "$dir/tests/unit/$part" --output-on-failure --no-tests=error -LE "^long$"
done
python3 tests/coverage.py "$dir" include/mrc 95 90
