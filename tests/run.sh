#!/usr/bin/env bash
# All tests from a bare Debian 12: tests/run.sh runs the default set; tests/run.sh --long LABEL one of the longer suites
# (fuzz, mutation, …), which installs what it needs itself. Other arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

label=
long_labels='fuzz|mutation|formal|validate|slurm|browser|coverage|long'
select=(-LE "$long_labels")
if [ "${1:-}" = --long ]; then
  label=${2:?"--long needs a label: $long_labels"}
  [[ "|$long_labels|" == *"|$label|"* ]] || { echo "run.sh: no label $label; there are: $long_labels" >&2; exit 2; }
  select=(-L "^$label\$")
  shift 2
fi

packages=(tb/packages.txt tests/packages.txt)
[ -z "$label" ] || [ ! -f "tests/$label/packages.txt" ] || packages+=("tests/$label/packages.txt")
tb/install.sh "${packages[@]}"
tb/build.sh build
cd build
ctest --no-tests=error --output-on-failure --progress -j "$(nproc)" "${select[@]}" "$@"
