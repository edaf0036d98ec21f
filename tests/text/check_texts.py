#!/usr/bin/env python3
"""Texts for people are plain technical English: one check of them.

check_texts.py CHECK ROOT [MRCSIM]     ROOT: the project; MRCSIM: the executable, for help and parameters

  phrases        no phrase of the list below in documents, help and parameters (comments: phrases_in_comments)
  abbreviations  every abbreviation in documents, help and parameters is in docs/glossary.md
  spelling       aspell and words.txt know every word of documents, help and parameters
  misspellings   codespell finds no common misspelling in documents and sources
  links          relative links in documents lead to a file and a heading; files of the project named in code marks exist
  open_rules     docs/ambiguities.md has every assumption about the protocol; the parameters and tests that it names exist

Exits with 1 and one line per finding, with 77 (skipped) where a program is missing.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import texts

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77

# Paths in other projects.
FILES_ELSEWHERE = {"tests/data/feeder_tests_trace.tar.gz"}

# Words that codespell takes for misspellings: Clos networks, bytes in flight, the PCIe and RDMA term, identifiers.
CODESPELL_KNOWN = "alltogether,clos,inflight,nin,requestor,requestors"

PER = ("packets?|bytes|bits?|cycles?|accesses|operations|transfers|events|instructions|messages|QPs?|NICs?|T[012]s|EVs|SACKs?|WQEs?|CQEs?|"
       "reads|writes|steps?|samples|credits|losses|words?|points|draws?|seeds|runs|files?|folders?|tracks?|process|rows?|timers?|tags?|flags?|"
       "counts?|entry|entries|lines?|allocations|activations|flows|rings|stages|planes|registers|beats|micro-batches|one|turns|times|copies|[KMGT]?i?B|Gb/s|[mun]s")
UNIT = ("second|packet|cycle|rank|plane|QP|port|node|PSN|peer|block|pair|NIC|bank|tag|bit|record|beat|line|message|EV|step|request|transfer|row|"
        "lane|destination|region|box|microsecond|hop|word|turn|table|host|core|link|SACK|T0|file|run|group|wheel|entry|rotation|pod|T1|instance")

# (what is refused, what to write)
PHRASES = (
    (rf"\b(?:{PER}|\d[\d,.]*\d|\d) an? (?:{UNIT})\b", "per"),
    (r"\b(?:sent|sends?|sending|made|of them|packets?) again\b", "retransmitted, retried, repeated"),
    (r"\b(?:stands?|stood)\b", "is, represents, means"),
    (r"\bso many\b", "the given number of, that many"),
    (r"(?<!here )\b(?:is|are|was|were) no\b(?! longer| more than| less than| fewer than)", "is not a"),
    (r"\blost of (?:its|it|line)\b", "lost line rate by cause"),
    (r"\bdata's way\b", "data path"),
    (r"\bone file pair a\b", "per"),
    (r"\bcharge[sd]? to\b", "attributed to"),
    (r"\b(?:what|who) (?:lies|watches|asks|waits) there\b|\bwho watches\b", "a noun"),
)

# Placeholders of the command line, not abbreviations.
PLACEHOLDERS = set("""
BLOCK BY BYTES COMMAND DATABASE DIR ENUM FILE FLOAT FROM INT KEY MRCSIM NODE OPTION OPTIONS OUT PLACE POINT REQUIRED RESULT SCENARIO STUDY SUBCOMMAND TEXT TO
TRACE UINT
""".split())
ABBREVIATION = re.compile(r'(?<![\w&<{\["-])[A-Z][A-Z0-9]{1,7}s?(?![\w>}\]])')


def phrases(collected):
    """Findings (place, message) for the phrases that are refused."""
    for place, text in collected:
        for refused, instead in PHRASES:
            for found in re.finditer(refused, text):
                yield place, f'"{text[max(0, found.start() - 20):found.end() + 20].strip()}": write: {instead}'


def defined_terms(glossary):
    """Abbreviations in the first column of the glossary's tables; "E1 … E20" is all of these."""
    terms = set()
    for row in re.findall(r"^\| ([^|]*) \|", glossary, re.M):
        for first, last in re.findall(r"\bE(\d+) … E(\d+)", row):
            terms |= {f"E{number}" for number in range(int(first), int(last) + 1)}
        terms |= set(re.findall(r"\b[A-Z][A-Z0-9]{1,7}\b", row))
    return terms


def abbreviations(collected, glossary):
    """Findings for abbreviations that the glossary does not have."""
    known = defined_terms(glossary) | PLACEHOLDERS
    for place, text in collected:
        for word in ABBREVIATION.findall(text):
            if word not in known and word.removesuffix("s") not in known:
                yield place, f"{word} is not in docs/glossary.md"


def words_of(text):
    """Words of prose: not identifiers, abbreviations, paths or options."""
    text = re.sub(r"\S*[/_.@{}\\=<>]\S*\w|\S*--?[a-z]+=\S*|(?<!\w)--[\w-]+|\w*\d\w*", " ", text)
    for word in re.findall(r"[A-Za-z][A-Za-z']*[A-Za-z]", text):
        word = word.removesuffix("'s")
        if len(word) > 2 and not re.search(r"[a-z][A-Z]|[A-Z]{2}", word):
            yield word


def spelling(collected, own_words):
    """Findings for words that neither aspell nor words.txt knows."""
    collected = list(collected)
    all_words = sorted({word for _, text in collected for word in words_of(text)})
    unknown = set(subprocess.run(["aspell", "list", "--lang=en_US", "--ignore=2"], input="\n".join(all_words), capture_output=True,
                                 text=True, check=True).stdout.split())
    own = {word.lower() for word in own_words}
    unknown = {word for word in unknown if word.lower() not in own}
    for place, text in collected:
        for word in words_of(text):
            if word in unknown:
                yield place, f"{word}: not known to aspell; correct it, or add it to tests/text/words.txt"


def misspellings(files):
    """Findings of codespell."""
    found = subprocess.run(["codespell", "--quiet-level=2", f"--ignore-words-list={CODESPELL_KNOWN}", *map(str, files)], capture_output=True,
                           text=True, check=False)
    for line in found.stdout.splitlines():
        place, _, message = line.rpartition(": ")
        yield place, message


def anchors(file):
    """Anchors of a document's headings as web views of repositories make them."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links(files):
    """Findings for relative links that lead nowhere."""
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                other = file.parent / path if path else file
                if not other.exists():
                    yield f"{file}:{number}", f"{target}: there is no such file"
                elif anchor and anchor not in anchors(other):
                    yield f"{file}:{number}", f"{target}: there is no such heading"


def named_files(root, files):
    """Findings for paths of the project in code marks that do not exist. BLOCK, SUITE, NAME, {a,b} and … match anything."""
    root = pathlib.Path(root)
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for path in re.findall(r"`((?:docs|include|rtl|sc_models|tb|tests|traces)/[^`\s]*)`", line):
                pattern = re.sub(r"BLOCK|SUITE|NAME|<[^>]*>|\{[^}]*\}|….*", "*", path.rstrip("/"))
                if path not in FILES_ELSEWHERE and not list(root.glob(pattern)):
                    yield f"{file}:{number}", f"{path}: there is no such file"


def is_about_the_protocol(parameter):
    """True for choices that the specification leaves open; MRC 1.0 has no encryption."""
    name = parameter["name"]
    return parameter["source"] == "assumption" and name.startswith(("protocol.", "cc.")) and not name.startswith("protocol.encryption.")


def open_rules(file, parameters, test_sources):
    """Findings for assumptions that the document lacks, and for parameters and tests in its tables that do not exist. `NAME*` is all that begin so."""
    document = file.read_text(encoding="utf-8")
    tests = {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", test_sources, re.M)}
    names = [parameter["name"] for parameter in parameters]
    sections = {name.split(".")[0] for name in names}
    rows = set()
    for number, line in enumerate(document.splitlines(), 1):
        for code in re.findall(r"`([^`]*)`", line) if line.startswith("|") else []:
            if re.fullmatch(r"[A-Z]\w*\.[A-Z]\w*", code) and code not in tests:
                yield f"{file}:{number}", f"{code}: there is no such test"
            elif re.fullmatch(r"[a-z]+\.[\w.*]+", code) and code.split(".")[0] in sections:
                meant = {name for name in names if name == code or (code.endswith("*") and name.startswith(code[:-1]))}
                rows |= meant
                if not meant:
                    yield f"{file}:{number}", f"{code}: there is no such parameter"
    for parameter in parameters:
        if is_about_the_protocol(parameter) and parameter["name"] not in rows and not re.search(rf"`{re.escape(parameter['name'])}(?![\w.])", document):
            yield file, f"{parameter['name']} is an assumption about the protocol and missing"


def run(check, root, mrcsim):
    if check == "open_rules":
        parameters = json.loads(subprocess.run([mrcsim, "params", "--format", "json"], capture_output=True, text=True, check=True).stdout)
        sources = "\n".join(file.read_text(encoding="utf-8") for file in texts.sources(root, {".cpp"}))
        return open_rules(pathlib.Path(root) / "docs/ambiguities.md", parameters, sources)
    if check == "links":
        return [*links(texts.documents(root)), *named_files(root, texts.documents(root))]
    if check == "phrases_in_comments":
        return phrases(texts.comments(root))
    if check == "misspellings":
        return misspellings([*texts.documents(root), *texts.sources(root, {*texts.COMMENTED, ".js", ".html"})])
    collected = texts.documents_prose(root)
    if mrcsim:
        collected += texts.help_texts(mrcsim) + texts.parameter_texts(mrcsim)
    if check == "phrases":
        return phrases(collected)
    if check == "abbreviations":
        return abbreviations(collected, (pathlib.Path(root) / "docs/glossary.md").read_text(encoding="utf-8"))
    if check == "spelling":
        return spelling(collected, (HERE / "words.txt").read_text(encoding="utf-8").split())
    sys.exit(f"check_texts.py: no check {check}\n{__doc__}")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    check, root, mrcsim = [*sys.argv[1:], None][:3]
    needed = {"spelling": "aspell", "misspellings": "codespell"}.get(check)
    if needed and not shutil.which(needed):
        print(f"{needed} is missing (Debian: {needed})")
        return SKIPPED
    findings = list(run(check, root, mrcsim))
    for place, message in findings:
        print(f"{place}: {message}")
    print(f"{check}: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
