#!/usr/bin/env python3
"""Writes what a module with RTL says of itself: which block it is, its top module, its files, a hash over their contents, and
its contract.

  rtl_identity.py --block BLOCK --top MODULE --contract FILE --base FOLDER… [--library FOLDER] [--include FOLDER…]
                  (--out HEADER --depfile FILE | --line) SOURCE…

--line: prints what the commands print of the RTL, and writes nothing.

The hash is SHA-256 over those of the contents of all sources, in ascending order, with the files that they include and the
modules that they take from the library. A file is named from the first base that it lies in; the contract
from the first base of all, or by its whole path, as messages name a line of it.
"""
import argparse
import hashlib
import pathlib
import re
import sys


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


class Sources:
    """Source files in the order in which they are read, each once."""

    def __init__(self, include_folders, library):
        self.include_folders = include_folders
        self.library = {path.stem: path for path in sorted(library.glob("*.sv"))} if library else {}
        self.contents = {}

    def add(self, path):
        path = path.resolve()
        if path in self.contents:
            return
        self.contents[path] = path.read_bytes()
        for name in re.findall(r'^\s*`include\s+"([^"]+)"', self.text(path), re.M):
            for folder in (path.parent, *self.include_folders):
                if (folder / name).is_file():
                    self.add(folder / name)
                    break

    def text(self, path):
        return without_comments(self.contents[path].decode("utf-8", "replace"))

    def add_from_library(self):
        """The library's modules that are named and not defined, until nothing is missing."""
        added = True
        while added:
            added = False
            texts = [self.text(path) for path in self.contents]
            defined = {name for text in texts for name in re.findall(r"\bmodule\s+(\w+)", text)}
            named = {word for text in texts for word in re.findall(r"\w+", text)}
            for module in sorted(set(self.library) & named - defined):
                if self.library[module].resolve() not in self.contents:
                    self.add(self.library[module])
                    added = True

    def hash(self):
        digests = sorted(hashlib.sha256(content).digest() for content in self.contents.values())
        return hashlib.sha256(b"".join(digests)).hexdigest()


def name_of(path, bases):
    for base in bases:
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return path.name


def line_of(options, names, sha256):
    """As rtl_line() of tb/cosim/rtl_modules.cpp."""
    own = [pathlib.PurePath(name).name for name in names if not name.startswith("rtl/common/")]
    shared = f" + {len(names) - len(own)} of rtl/common/" if len(own) < len(names) else ""
    return f"RTL: {options.block}, top {options.top}, {' '.join(own)}{shared}, sha256 {sha256[:12]}"


def c_string(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("?", "\\?")
    return "\n".join(f'  "{line}\\n"' for line in escaped.split("\n"))[: -len('\\n"')] + '"'


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser()
    for option in ("--block", "--top"):
        parser.add_argument(option, required=True)
    for option in ("--contract", "--out", "--depfile"):
        parser.add_argument(option, type=pathlib.Path)
    parser.add_argument("--line", action="store_true")
    parser.add_argument("--base", action="append", type=pathlib.Path, default=[])
    parser.add_argument("--include", action="append", type=pathlib.Path, default=[])
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    options = parser.parse_args()

    sources = Sources(options.include, options.library)
    for path in options.sources:
        sources.add(path)
    sources.add_from_library()
    bases = [base.resolve() for base in options.base]
    if options.line:
        print(line_of(options, [name_of(path, bases) for path in sources.contents], sources.hash()))
        return
    contract = options.contract.resolve()
    contract_name = contract.relative_to(bases[0]).as_posix() if contract.is_relative_to(bases[0]) else str(contract)
    files = "\n".join(name_of(path, bases) for path in sources.contents)
    write(options.out, f"""// Written by tb/cosim/rtl_identity.py: not to be edited.
#define MRCSIM_RTL_BLOCK "{options.block}"
#define MRCSIM_RTL_TOP "{options.top}"
#define MRCSIM_RTL_FILES \\
{c_string(files).replace(chr(10), " " + chr(92) + chr(10))}
#define MRCSIM_RTL_SHA256 "{sources.hash()}"
#define MRCSIM_RTL_CONTRACT_FILE "{contract_name}"
#define MRCSIM_RTL_CONTRACT \\
{c_string(contract.read_text()).replace(chr(10), " " + chr(92) + chr(10))}
""")
    inputs = " ".join(str(path).replace(" ", "\\ ") for path in [*sources.contents, contract])
    options.depfile.write_text(f"{options.out}: {inputs}\n")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"rtl_identity.py: {error.filename}: {error.strerror}")
