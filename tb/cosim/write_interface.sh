#!/usr/bin/env bash
# write_interface.sh HEADER FILE…: HEADER defines MRCSIM_RTL_INTERFACE, a checksum of the files.
set -euo pipefail
header=$1
shift
printf '#define MRCSIM_RTL_INTERFACE "%s"\n' "$(cat -- "$@" | sha1sum | cut -d' ' -f1)" >"$header.new"
if cmp -s "$header.new" "$header"; then rm "$header.new"; else mv "$header.new" "$header"; fi
