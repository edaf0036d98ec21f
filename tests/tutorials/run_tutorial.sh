#!/usr/bin/env bash
# Runs a tutorial's commands as a reader would: run_tutorial.sh MRCSIM REPOSITORY FILE.md. Every ```sh block is executed in
# order in a copy of the repository; "<!-- expect: TEXT -->" below a block demands that its output holds TEXT, and
# "<!-- changes: FILE… -->" that of the repository's files exactly these are changed by then.
set -euo pipefail
mrcsim=$(realpath "$1")
repository=$(realpath "$2")
tutorial=$(realpath "$3")

scratch=$(mktemp -d /tmp/mrcsim_tutorial.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
tar -C "$repository" --exclude='./build*' --exclude=./.git --exclude=./out -cf - . | tar -C "$scratch" -xf -
mkdir -p "$scratch/bin"
# What the tutorial builds itself comes before what is there already.
cat >"$scratch/bin/mrcsim" <<WRAPPER
#!/bin/sh
built=$scratch/build/tb/mrcsim/mrcsim
[ -x "\$built" ] && exec "\$built" "\$@"
exec '$mrcsim' "\$@"
WRAPPER
chmod +x "$scratch/bin/mrcsim"
export PATH=$scratch/bin:$PATH
cd "$scratch"

blocks=0
run_block() {
  blocks=$((blocks + 1))
  echo "--- block $blocks"
  cat block.sh
  bash -euo pipefail block.sh >block.out 2>&1 || { cat block.out; echo "FAILED: block $blocks of $tutorial" >&2; exit 1; }
  tail -n 40 block.out
}
# changed_files: what differs from the repository; what the tutorial has added does not count.
changed_files() {
  diff -rq --exclude=.git --exclude='build*' --exclude=out "$repository" . |
    sed -n -e "s|^Files $repository/\(.*\) and .* differ$|\1|p" -e "s|^Only in $repository: ||p" \
      -e "s|^Only in $repository/\(.*\): |\1/|p" | sort
}
inside=0
while IFS= read -r line; do
  case "$line" in
    '```sh') inside=1; : >block.sh ;;
    '```') [ "$inside" -eq 0 ] || run_block; inside=0 ;;
    '<!-- expect: '*)
      text=${line#<!-- expect: }
      text=${text% -->}
      grep -qF -- "$text" block.out || { cat block.out; echo "FAILED: block $blocks does not print \"$text\"" >&2; exit 1; } ;;
    '<!-- changes: '*)
      files=${line#<!-- changes: }
      expected=$(tr ' ' '\n' <<<"${files% -->}" | sort)
      [ "$(changed_files)" = "$expected" ] || { changed_files; echo "FAILED: $tutorial changes other files" >&2; exit 1; } ;;
    *) [ "$inside" -eq 0 ] || printf '%s\n' "$line" >>block.sh ;;
  esac
done <"$tutorial"
[ "$blocks" -gt 0 ] || { echo "FAILED: $tutorial has no commands" >&2; exit 1; }
echo "$blocks blocks passed"
