#!/usr/bin/env bash
# Prints the path of the one executable named mrcsim under a build folder.
set -euo pipefail
find "$1" -type f -name mrcsim -perm -u+x -print -quit
