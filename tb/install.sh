#!/usr/bin/env bash
# Installs the Debian packages that are missing, of the lists given: tb/install.sh tb/packages.txt [tests/packages.txt …].
# Runs apt-get as root or through sudo, and says what it installs. Does nothing when everything is there.
set -euo pipefail

missing=()
for list in "$@"; do
  while read -r package; do
    case "$package" in '' | '#'*) continue ;; esac
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done <"$list"
done
[ "${#missing[@]}" -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install.sh: needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "Installing from Debian: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "Installed ${#missing[@]} packages."
