#!/usr/bin/env bash
# The bundle runs where it is unpacked, with nothing else: bundle_test.sh BUILD MRCSIM CPACK. As root, an unprivileged user
# unpacks and runs it in a folder that has glibc and nothing else; otherwise this user with an empty environment.
set -euo pipefail
build=$1 mrcsim=$2 cpack=$3
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

"$cpack" --config "$build/CPackConfig.cmake" -B "$scratch/pack" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail cpack; }
archive=$(echo "$scratch"/pack/mrcsim-*.tar.gz)
[ -f "$archive" ] || fail "no single archive: $archive"
name=$(basename "$archive" .tar.gz)
bare=$scratch/bare
mkdir -p "$bare/home"
chmod 755 "$scratch" "$bare"
chmod 644 "$archive"
chmod 755 "$scratch/pack"

as_user=(env -i PATH=/usr/bin:/bin)
inside=$bare
if [ "$(id -u)" = 0 ]; then
  chown nobody "$bare/home"
  as_user=(env -i PATH=/usr/bin:/bin setpriv --reuid=nobody --regid=nogroup --clear-groups)
fi
"${as_user[@]}" tar -C "$bare/home" -xzf "$archive"
bundle=$bare/home/$name

# Every library is glibc's or the bundle's own.
mapfile -t libraries < <(env -i LD_TRACE_LOADED_OBJECTS=1 "$bundle/bin/mrcsim" | sed -n 's/.*=> \([^ ]*\) .*/\1/p')
[ "${#libraries[@]}" -gt 3 ] || fail "libraries: ${libraries[*]}"
glibc=()
for library in "${libraries[@]}"; do
  case "$(realpath -s "$library")" in
    "$bundle"/*) ;;
    */libc.so.6 | */libm.so.6 | */libdl.so.2 | */librt.so.1 | */libpthread.so.0 | */libresolv.so.2 | */libutil.so.1) glibc+=("$library") ;;
    *) fail "$library is not in the bundle" ;;
  esac
done
for file in share/mrcsim/tb/scenarios/pair.toml share/mrcsim/traces/pair_1GiB.csv share/mrcsim/scenario.schema.json \
  share/doc/mrcsim/limits.md share/doc/mrcsim/LICENSE share/man/man1/mrcsim.1 share/bash-completion/completions/mrcsim \
  share/mrcsim/python/mrcsim/__init__.py include/mrcsim/mrc/types.h; do
  [ -f "$bundle/$file" ] || fail "$file is missing"
done

if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
  # A system of glibc alone. The loader finds the program's folder through /proc.
  loader=$(readelf -l "$bundle/bin/mrcsim" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
  for file in "$loader" "${glibc[@]}"; do install -D "$file" "$bare$file"; done
  mkdir "$bare/proc"
  inside=
  # shellcheck disable=SC2016
  as_user=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount --propagation private sh -c
    'mount -t proc proc "$0/proc" && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot --userspec=nobody:nogroup "$0" "$@"' "$bare")
fi
program=$inside/home/$name/bin/mrcsim
"${as_user[@]}" "$program" --version || fail "--version"
"${as_user[@]}" "$program" run "$inside/home/$name/share/mrcsim/tb/scenarios/pair.toml" --set traffic.byte_scale=1% \
  --out "$inside/home/result" || fail "the pair scenario"
"$mrcsim" run "$bundle/share/mrcsim/tb/scenarios/pair.toml" --set traffic.byte_scale=1% --quiet --out "$scratch/here"
cmp "$scratch/here/result.json" "$bare/home/result/result.json" || fail "another result than that of $mrcsim"
echo "$name: $(stat -c %s "$archive") bytes, ${#libraries[@]} libraries, ${#glibc[@]} of them glibc's"
