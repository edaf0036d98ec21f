#!/usr/bin/env bash
# The two commands of the README on a bare Debian: bare_system.sh [SUITE [FOLDER]] with SUITE trixie (Debian 13, the default) or
# bookworm (12). As root. Makes the system in FOLDER (default build/bare-SUITE) anew, clones into it what is committed, runs the
# commands there, and prints time and exit code of each; logs are beside FOLDER. Exits 1 if a command fails.
# Packages come from where this system gets its own.
set -euo pipefail
suite=${1:-trixie}
root=$(realpath -m "${2:-build/bare-$suite}")
project=$(cd "$(dirname "$0")/../.." && pwd)
commands=(./tb/demo.sh ./tests/run.sh)
[ "$(id -u)" = 0 ] || { echo "bare_system: needs root" >&2; exit 2; }
# Mounts of this run end with it, and nobody else sees them.
if [ -z "${MRCSIM_OWN_MOUNTS:-}" ]; then
  MRCSIM_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$suite" "$root"
fi

mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
[ -n "$mirror" ] || { echo "bare_system: apt has no package source here" >&2; exit 2; }
rm -rf --one-file-system "$root"
mkdir -p "$root"
echo "Debian $suite in $root"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.debootstrap.log" 2>&1 ||
  { tail -n 5 "$root.debootstrap.log" >&2; exit 2; }

# The way to the packages is this system's: proxies, certificates, names.
echo "deb $mirror $suite main" >"$root/etc/apt/sources.list"
cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
for folder in /etc/ssl/certs /usr/local/share/ca-certificates; do
  [ ! -d "$folder" ] || { mkdir -p "$root$folder"; cp -a "$folder/." "$root$folder/"; }
done
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
mapfile -t proxies < <(env | grep -iE '^(https?_proxy|no_proxy|SSL_CERT_FILE)=' || true)

mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
git clone -q "$project" "$root/srv/mrcsim"
failed=0
for command in "${commands[@]}"; do
  log=$root.$(basename "$command" .sh).log
  start=$SECONDS
  code=0
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${proxies[@]}" bash -c "cd /srv/mrcsim && $command" >"$log" 2>&1 </dev/null || code=$?
  echo "$suite: $command: exit code $code after $((SECONDS - start)) s ($log)"
  [ "$code" = 0 ] || { failed=1; tail -n 5 "$log"; }
done
exit "$failed"
