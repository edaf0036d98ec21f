"""The part of a page that a script writes: between `<!-- begin: NAME -->` and `<!-- end: NAME -->`, each on its own line."""
import os
import pathlib
import sys


def split(text, name):
    """What is before the part, the part, and what is after it."""
    begin, end = f"<!-- begin: {name} -->\n", f"<!-- end: {name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        sys.exit(f"{name}: the page has no place for it: {begin.strip()} … {end.strip()}")
    head, rest = text.split(begin)
    part, tail = rest.split(end)
    return head + begin, part, end + tail


def read(page, name):
    return split(pathlib.Path(page).read_text(encoding="utf-8"), name)[1]


def publish(page, name, part):
    """Into the page, or, where none is named, to standard output."""
    if page is None:
        print(part)
    else:
        write(page, name, part)


def write(page, name, part):
    """Replaces the part; the page is never half-written."""
    page = pathlib.Path(page)
    before, _, after = split(page.read_text(encoding="utf-8"), name)
    fresh = page.with_suffix(".tmp")
    fresh.write_text(before + part + after, encoding="utf-8")
    os.replace(fresh, page)
