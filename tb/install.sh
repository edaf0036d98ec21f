#!/usr/bin/env bash
# Installs the Debian packages that are missing, of the lists given and of those beside them that only this release has:
# tb/install.sh tb/packages.txt tests/packages.txt also reads tests/packages.bookworm.txt on Debian 12. Runs apt-get as root or
# through sudo, and says what it installs. Does nothing when everything is there. --list only prints the packages.
set -euo pipefail

only_list=
if [ "${1:-}" = --list ]; then
  only_list=1
  shift
fi
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
lists=()
for list in "$@"; do
  lists+=("$list")
  [ ! -f "${list%.txt}.$suite.txt" ] || lists+=("${list%.txt}.$suite.txt")
done
if [ -n "$only_list" ]; then
  grep -hv '^#' "${lists[@]}"
  exit
fi

missing=()
for list in "${lists[@]}"; do
  while read -r package; do
    case "$package" in '' | '#'*) continue ;; esac
    # npm from elsewhere will do: Node.js of another source has it, and excludes Debian's package.
    [ "$package" != npm ] || ! command -v npm >/dev/null || continue
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
# Nobody is asked: a configuration file that has been changed stays as it is. What apt-get says is shown if it fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "${missing[@]}" >"$log" </dev/null ||
  { tail -n 20 "$log" >&2; exit 1; }
echo "Installed ${#missing[@]} packages."
