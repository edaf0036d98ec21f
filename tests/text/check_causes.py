#!/usr/bin/env python3
"""Every cause that limits[] can print is explained in docs/result.md: check_causes.py ROOT

Names are taken from the sources: declarations of causes and of servers, and the tables of names that no box declares. A
declaration whose name is computed has to be listed below. Exits with 1 and one line per finding.
"""
import pathlib
import re
import sys

# What is declared with a computed name: the expression, and the names that it has. None: names that callers give.
COMPUTED = {
    'box': None,
    'cause': None,
    'fmt::format("sram.{}", memory.name)': ["sram.x"],
    'box_in_front(nic) + ".queue"': ["retransmit_buffer.queue", "encrypt.queue"],
    'std::string(Srv6Encap::kBoxInFront) + ".queue"': ["retransmit_buffer.queue"],
    'shape.name + ".key_miss"': ["encrypt.key_miss", "decrypt.key_miss"],
    'shape.name + ".key_wait"': ["encrypt.key_wait", "decrypt.key_wait"],
    'window_cause(cause)': None,  # a table of names
}
DECLARATION = re.compile(r"\b(?:causes|table)\.declare(?:_full)?\(\s*")
SERVER = re.compile(r'\b(?:server_cause|pipeline_server|engine_server)\(nic, "([^"]+)"')
TABLE = re.compile(r"std::array<std::string_view, [\w:]+> names\{([^}]*)\}")
CONSTANT = re.compile(r'inline constexpr std::string_view (k\w+) = "([^"]+)"')
ACCOUNT = re.compile(r'\bcauses\[(?:fmt::format\()?"([^"]+)"')
# Files with a table of names, and files that write rows of limits[] themselves.
TABLES = ("nic/window_causes.h", "endpoint/light_idle.cpp")
ACCOUNTS = ("nic/limits.cpp", "simulation/collect_node.cpp")
# Prefixes that say where something is, and nothing of what it is.
WHERE = ("receiver.", "receiver.pcie.", "fabric.")
ROW = re.compile(r'(?:return|push_back\(\{)\s*"((?:retransmission|unattributed)[\w.]*)"')


def first_argument(text):
    """Of the call whose arguments `text` begins with."""
    depth = 0
    in_string = False
    for at, character in enumerate(text):
        if character == '"':
            in_string = not in_string
        elif in_string:
            continue
        elif character in "({":
            depth += 1
        elif character in ")},":
            if depth == 0 or (character == "," and depth == 0):
                return " ".join(text[:at].split())
            depth -= character != ","
    return text


def names_in(base):
    """{name: file}, and lines about declarations whose names are not known."""
    names, unknown = {}, []
    for file in sorted(p for p in base.rglob("*") if p.suffix in (".h", ".cpp")):
        text = file.read_text(encoding="utf-8")
        where = file.relative_to(base).as_posix()
        found = SERVER.findall(text)
        for match in DECLARATION.finditer(text):
            argument = first_argument(text[match.end():])
            if re.fullmatch(r'"[^"]+"', argument):
                found.append(argument[1:-1])
            elif argument not in COMPUTED:
                unknown.append(f"{where}: a cause is declared as {argument}: tests/text/check_causes.py does not know its names")
            else:
                found += COMPUTED[argument] or []
        if where in TABLES:
            constants = dict(CONSTANT.findall(text))
            for table in TABLE.findall(text):
                words = [word.strip() for word in table.split(",")]
                found += [constants[word] if word in constants else word.strip('"') for word in words if word]
        if where in ACCOUNTS:
            found += [name.replace("port{}", "portN") for name in ACCOUNT.findall(text)] + ROW.findall(text)
        for name in found:
            names.setdefault(name, where)
    return names, unknown


def is_explained(name, explained):
    """`explained`: what is in code marks; "sram.…" stands for all names that begin so."""
    patterns = [word[:-1] for word in explained if word.endswith(".…")]
    candidates = (name, "receiver." + name)
    return any(c in explained or any(c.startswith(p) for p in patterns if p not in WHERE) for c in candidates)


def findings(root):
    text = (root / "docs/result.md").read_text(encoding="utf-8")
    section = re.search(r"^## Causes in `limits`\n(.*?)^## ", text, re.M | re.S)
    if not section:
        return ["docs/result.md: no section \"Causes in `limits`\""]
    explained = set(re.findall(r"`([^`]+)`", "\n".join(line.split("|")[1] for line in section[1].splitlines() if line.startswith("| `"))))
    names, lines = names_in(root / "sc_models")
    if len(names) < 60:
        lines.append(f"sc_models: only {len(names)} causes found: the declarations look different")
    lines += [f"docs/result.md: the cause {name} ({where}) is not explained" for name, where in sorted(names.items()) if not is_explained(name, explained)]
    return lines


if __name__ == "__main__":
    found = findings(pathlib.Path(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
