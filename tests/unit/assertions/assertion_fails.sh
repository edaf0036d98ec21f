#!/usr/bin/env bash
# assertion_fails.sh ASSERTION COMMAND…: the command ends with exit code 4 and one line on stderr that names ASSERTION and its place.
set -uo pipefail
assertion=$1
shift
said=$("$@" 2>&1 >/dev/null)
status=$?
echo "$said"
[ "$status" -eq 4 ] || { echo "exit code $status instead of 4"; exit 1; }
[ "$(wc -l <<<"$said")" -eq 1 ] || { echo "more than one line"; exit 1; }
grep -Eq "cycle [0-9]+.*assertion $assertion fails \([a-z0-9_]+_assertions\.sv:[0-9]+\)" <<<"$said" || { echo "no assertion $assertion"; exit 1; }
