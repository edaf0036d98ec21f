#!/usr/bin/env bash
# The copies of rtl/BLOCK/*.sv on which the kept bugs are planted (mrcsim_patched_rtl).
#   pristine.sh --check   1 where one differs from rtl/, naming it
#   pristine.sh --update  copies them anew, after a change of rtl/ that is to stay
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
for folder in "$root"/tests/unit/*/pristine; do
  block=$(basename "$(dirname "$folder")")
  for file in "$root/rtl/$block"/*.sv; do
    copy=$folder/$(basename "$file")
    case ${1:-} in
      --update) cp "$file" "$copy" ;;
      --check)
        cmp -s "$file" "$copy" && continue
        echo "pristine: rtl/$block/$(basename "$file") is not what the kept bugs are planted in; if it is to stay: tests/unit/pristine.sh --update" >&2
        bad=1 ;;
      *) echo "pristine.sh --check | --update" >&2; exit 2 ;;
    esac
  done
done
exit $bad
