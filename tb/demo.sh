#!/usr/bin/env bash
# The main job from a bare Debian 12: installs what is missing, builds, and moves 1 GiB through a pair of NICs.
set -euo pipefail
cd "$(dirname "$0")/.."

tb/install.sh tb/packages.txt
tb/build.sh build --target mrcsim
echo
exec "$(tb/find_mrcsim.sh build)" run tb/scenarios/pair.toml "$@"
