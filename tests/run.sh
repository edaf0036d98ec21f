#!/usr/bin/env bash
# All tests from a bare Debian 12 or 13: tests/run.sh runs the default set; tests/run.sh --long LABEL one of the longer suites
# (fuzz, mutation, …), which installs what it needs itself; debian13 runs both commands of the README on a bare Debian 13. Other
# arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

label=
long_labels='programs|fuzz|mutation|formal|validate|slurm|browser|readme|container|hosts|notebook|coverage|long|stress|debian13|bench|astra|variants'
select=(-LE "$long_labels")
if [ "${1:-}" = --long ]; then
  label=${2:?"--long needs a label: $long_labels"}
  [[ "|$long_labels|" == *"|$label|"* ]] || { echo "run.sh: no label $label; there are: $long_labels" >&2; exit 2; }
  select=(-L "^$label\$")
  shift 2
fi

if [ "$label" = debian13 ]; then
  tb/install.sh tests/debian13/packages.txt
  exec tests/debian13/bare_system.sh trixie "$@"
fi
packages=(tb/packages.txt tests/packages.txt)
[ -z "$label" ] || [ ! -f "tests/$label/packages.txt" ] || packages+=("tests/$label/packages.txt")
tb/install.sh "${packages[@]}"
if [ "$label" = fuzz ]; then
  export MRCSIM_CMAKE_FLAGS="${MRCSIM_CMAKE_FLAGS:-} -DMRCSIM_FUZZ_OPTIMIZATION=-O1"
fi
[ "$label" != variants ] || export MRCSIM_CMAKE_FLAGS="${MRCSIM_CMAKE_FLAGS:-} -DMRCSIM_ALL_VARIANTS=ON"
if [ "$label" = astra ] && [ -n "${MRCSIM_ASTRA_SIM:-}" ]; then
  export MRCSIM_CMAKE_FLAGS="${MRCSIM_CMAKE_FLAGS:-} -DASTRA_SIM_DIR=$MRCSIM_ASTRA_SIM"
fi
tb/build.sh build
cd build
ctest --no-tests=error --output-on-failure --progress -j "$(nproc)" "${select[@]}" "$@"
