#!/usr/bin/env bash
# The main job from a bare Debian 12 or 13: installs what is missing, builds mrcsim and one RTL block, and moves 1 GiB through a
# pair of NICs, whose headers that block computes too and is compared. Arguments go to `mrcsim run`.
set -euo pipefail
cd "$(dirname "$0")/.."

tb/install.sh tb/packages.txt
tb/build.sh build --target mrcsim rtl_srv6_encap
echo
rtl=(--shadow srv6_encap@nic0)
for argument in "$@"; do
  case "$argument" in --rtl* | --shadow*) rtl=() ;; esac
done
exec "$(tb/find_mrcsim.sh build)" run tb/scenarios/pair.toml "${rtl[@]}" "$@"
