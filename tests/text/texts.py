"""Texts for people, as the checks of this folder read them: documents, help, meanings of parameters, comments.

A text is (place, words): place is FILE:LINE or the name of what printed it; words is a paragraph, a table row or a line of help on one
line, so that a phrase is found across line breaks.
"""
import json
import pathlib
import re
import subprocess

DOCUMENT_FOLDERS = ("", "docs", "docs/tutorials", "docs/wireshark", "traces", "rtl/*", "tests/*")
COMMENTED = {".h": "//", ".cpp": "//", ".sv": "//", ".mjs": "//", ".py": "#", ".sh": "#", ".cmake": "#", ".txt": "#", ".toml": "#"}
SOURCE_FOLDERS = ("include", "sc_models", "tb", "rtl", "tests")


def documents(root):
    """All Markdown files of the project."""
    root = pathlib.Path(root)
    return sorted({file for folder in DOCUMENT_FOLDERS for file in root.glob(f"{folder}/*.md" if folder else "*.md")})


def sources(root, suffixes):
    """All source files with one of the suffixes."""
    root = pathlib.Path(root)
    return sorted(file for folder in SOURCE_FOLDERS for file in (root / folder).rglob("*")
                  if file.suffix in suffixes and file.is_file() and (file.suffix != ".txt" or file.name == "CMakeLists.txt"))


def _paragraphs(lines):
    """(first line, text) of runs of lines that are not empty; headings, list items and table rows begin anew."""
    start, collected = 0, []
    for number, line in enumerate([*lines, ""], 1):
        begins = not line.strip() or re.match(r"\s*([-*|#>]|\d+\. )", line)
        if begins and collected:
            yield start, " ".join(collected)
            collected = []
        if line.strip():
            start = start if collected else number
            collected.append(line.strip())


def prose_of(file):
    """Paragraphs of a Markdown file without code."""
    fence = False
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        mark = line.lstrip().startswith("```")
        lines.append("" if fence or mark else line)
        fence = fence != mark
    for number, text in _paragraphs(lines):
        text = re.sub(r"`[^`]*`", " ` ", text)
        text = re.sub(r"<!--.*?-->", " ", text)
        text = re.sub(r"\]\([^)]*\)", "]", text)
        yield f"{file}:{number}", text


def documents_prose(root):
    return [text for file in documents(root) for text in prose_of(file)]


def _help(mrcsim, command):
    printed = subprocess.run([mrcsim, *command, "--help"], capture_output=True, text=True, check=True).stdout
    yield " ".join(["mrcsim", *command, "--help"]), printed
    listed = re.split(r"(?im)^subcommands:?\s*$", printed)
    for line in listed[1].splitlines() if len(listed) > 1 else []:
        name = re.match(r"  ([a-z][\w-]*)\s", line)
        if name:
            yield from _help(mrcsim, [*command, name[1]])


def help_texts(mrcsim):
    """Every line of the help of every subcommand."""
    return [(place, line.strip()) for place, printed in _help(mrcsim, []) for line in printed.splitlines() if line.strip()]


def parameter_texts(mrcsim):
    """The meaning of every parameter."""
    printed = subprocess.run([mrcsim, "params", "--format", "json"], capture_output=True, text=True, check=True).stdout
    return [(f"mrcsim params: {row['name']}", row["meaning"]) for row in json.loads(printed)]


def comments(root):
    """Comment blocks of the sources."""
    for file in sources(root, COMMENTED):
        mark = COMMENTED[file.suffix]
        start, collected = 0, []
        for number, line in enumerate([*file.read_text(encoding="utf-8", errors="replace").splitlines(), ""], 1):
            text = line.strip()
            whole = text.startswith(mark)
            behind = "" if whole else (re.search(rf"(?:^|\s){mark}[/<!]*\s(?P<text>[^\"]*)$", line) or {"text": ""})["text"]
            if not whole and collected:
                yield f"{file}:{start}", " ".join(collected)
                collected = []
            if whole:
                start = start if collected else number
                collected.append(text.lstrip(mark + "/<!").strip())
            elif behind:
                yield f"{file}:{number}", behind
