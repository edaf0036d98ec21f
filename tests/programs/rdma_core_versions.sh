#!/usr/bin/env bash
# Programs on the modelled NIC with other versions of rdma-core's libraries than the system's.
#
# rdma_core_versions.sh MRCSIM CHECKOUT FOLDER VERSION…    CHECKOUT: a clone of rdma-core with tags; VERSION: such as v60.0
#
# Builds the libraries in FOLDER and runs tests of programs_test.py with each. Needs libnl-3-dev, libnl-route-3-dev, libudev-dev.
set -euo pipefail
mrcsim=$(realpath "$1") checkout=$2
mkdir -p "$3"
folder=$(realpath "$3")
repository=$(realpath "$(dirname "$0")/../..")
shift 3
export VERBS_CHECK=${VERBS_CHECK:-$(dirname "$mrcsim")/../../tests/programs/verbs_check}

build() {
  mkdir -p "$2/source"
  git -C "$checkout" archive "$1" | tar x -C "$2/source"
  cmake -S "$2/source" -B "$2/build" -G Ninja -DNO_MAN_PAGES=1 -DNO_PYVERBS=1 -DENABLE_STATIC=0 -DCMAKE_BUILD_TYPE=Release
  ninja -C "$2/build" ibverbs mlx5 efa rdmacm ibv_devinfo
}

for version; do
  [ -e "$folder/$version/build/bin/ibv_devinfo" ] || build "$version" "$folder/$version" > "$folder/$version.log" 2>&1 ||
    { echo "rdma-core $version: not built, see $folder/$version.log" >&2; exit 1; }
  echo "rdma-core $version"
  built=$folder/$version/build
  PATH=$built/bin:$PATH LD_LIBRARY_PATH=$built/lib python3 -B "$repository/tests/programs/programs_test.py" "$mrcsim" "$repository" \
    Quick Beyond Faults
done
