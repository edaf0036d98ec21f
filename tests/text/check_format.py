#!/usr/bin/env python3
"""All C++ sources are as clang-format with the project's file writes them: check_format.py ROOT.

Exits with 1 and one line per difference, with 77 (skipped) where clang-format is missing or is of a version whose text differs.
"""
import re
import shutil
import subprocess
import sys

import texts

SKIPPED = 77
# Debian 12 has 14, Debian 13 has 19, which writes "Type& c) -> auto&" and "Class::* member" where 14 writes "Type & c) -> auto&" and
# "Class::*member". No text satisfies both, so the check runs with one of them.
VERSIONS = ("14",)


def findings(files, style):
    """Lines of clang-format about files that are written differently."""
    run = subprocess.run(["clang-format", f"--style=file:{style}", "--dry-run", "-Werror", *map(str, files)], capture_output=True,
                         text=True, check=False)
    return [line for line in run.stderr.splitlines() if "[-Wclang-format-violations]" in line]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("clang-format"):
        print("clang-format is missing (Debian: clang-format)")
        return SKIPPED
    version = re.search(r"version (\d+)", subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout)[1]
    if version not in VERSIONS:
        print(f"skipped: clang-format {version}; the sources follow version {' or '.join(VERSIONS)}")
        return SKIPPED
    root = sys.argv[1]
    files = texts.sources(root, {".h", ".cpp"})
    lines = findings(files, f"{root}/.clang-format")
    print("\n".join(lines))
    print(f"{len(files)} files, {len(lines)} differences")
    return 1 if lines or not files else 0


if __name__ == "__main__":
    sys.exit(main())
