#!/usr/bin/env bash
# run.sh LIBRARY FOLDER [PYTHON]: ack_coalescer under cocotb, compared with ring 1 through libmrc_dpi.so, in FOLDER.
# PYTHON has cocotb 1.8 or later; without it the example says why it is skipped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
library=$(realpath "$1")
folder=$2
python=${3:-${MRCSIM_COCOTB:-}}
if [ -z "$python" ]; then
  echo "skipped: MRCSIM_COCOTB names no Python with cocotb"
  exit 0
fi
makefiles=$("$python" -m cocotb.config --makefiles)
mkdir -p "$folder"
cd "$folder"
export PYTHONPATH="$here:$root/tb/dpi${PYTHONPATH:+:$PYTHONPATH}" MRC_DPI_LIBRARY="$library"
PATH="$(dirname "$(realpath -s "$python")"):$PATH" make -f "$makefiles/Makefile.sim" SIM="${SIM:-verilator}" TOPLEVEL_LANG=verilog \
  TOPLEVEL=ack_coalescer MODULE=test_ack_coalescer COCOTB_TEST_MODULES=test_ack_coalescer \
  EXTRA_ARGS="-GNumSlots=64 -Wno-fatal" \
  VERILOG_SOURCES="$root/rtl/common/mrc_pkg.sv $root/rtl/common/ram_1r1w.sv $root/rtl/ack_coalescer/ack_coalescer.sv"
# The simulator ends well when a test fails; without results there was none.
grep -q "<testcase" results.xml && ! grep -qE "<(failure|error)" results.xml
