#!/usr/bin/env python3
"""Checks what docs/STYLE.md asks for and a machine can see.

    tools/tidy.py [ROOT]

Sources: lengths of files, functions and lines; calls that the core must not make; a comment before
every type of a header; no open promise without an issue. Markdown: one H1, links that resolve.
Everything: no path of one machine, no package registry, no trailing blanks.
"""

import pathlib
import re
import subprocess
import sys

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
LINE_CHARACTERS_MAX = 100

CORE = ("base", "ring", "heat", "wire", "balance", "migrate", "route")
CODE_SUFFIXES = (".h", ".hpp", ".c", ".cc")

# What core code must not use, because it differs between runs, compilers or machines, and what to
# use instead (docs/STYLE.md, "Pure core").
RANDOM = [
    (r"std::random_device|std::mt19937|std::default_random_engine|\bs?rand\(", "base/rng.h"),
    (r"std::\w+_distribution", "the helpers of base/rng.h; distributions differ by library"),
]
CORE_BANNED = RANDOM + [
    (r"\b(steady|system|high_resolution)_clock\b|\bstd::time\(|\bclock_gettime\(|\bgettimeofday\(",
     "an Instant parameter (base/clock.h)"),
    (r"std::hash\b", "base/hash.h, whose values are frozen"),
    (r"\bunordered_(map|set|multimap|multiset|flat_map|flat_set)\b",
     "an ordered container; or say '// Never iterated' on the line before"),
    (r"\b(float|double)\b", "integers, scaled; floating point differs by compiler"),
    (r"std::(thread|jthread|mutex|shared_mutex|atomic|lock_guard|unique_lock|scoped_lock"
     r"|condition_variable)\b", "nothing: core code has no threads"),
    (r"\bprintf\(|\bfprintf\(|std::(cout|cerr|clog)\b|\bspdlog::", "a Result or a return value"),
    (r"\bsetlocale\(|std::locale\b", "std::to_chars and std::from_chars"),
    (r"\bgetenv\(", "a parameter"),
]
EVERYWHERE_BANNED = [
    (r"\bassert\(", "CHECK (base/check.h), which is on in release builds too"),
    (r"\bthrow\b", "Result<T> (base/result.h)"),
    (r"\busing namespace std\b", "qualified names"),
]
# file -> patterns it may use after all: the one place where the thing banned is wrapped.
ALLOWED = {
    "src/base/clock.cc": "clock",
    "src/base/check.cc": "printf",
    # The public interface has exceptions (docs/adr/0014-public-ring-library.md).
    "src/ring_library/ring_error.cc": "throw",
    "src/ring_library/c_support.cc": "throw",
    "src/ring_library/c_ring_test.cc": "throw",
    # Peers whose placement depends on how they round (docs/adr/0013-placement-schemes.md).
    "src/ring/schemes/peers/envoy.cc": "float",
    "src/ring/schemes/hashes/jump.cc": "float",
    "src/ring/schemes/peers/ketama.cc": "float",
}

MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:work|home)/\w")
REGISTRY = re.compile(r"\b(?:pypi|crates|pythonhosted|registry\.npmjs|npmjs|proxy\.golang"
                      r"|repo\.maven\.apache|repo1\.maven|deb\.debian|security\.debian)"
                      r"\.(?:org|io|com)\b")
PROMISE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\): )")
TYPE = re.compile(r"^(?:class|struct|enum class|union) (?:\[\[\w+\]\] )?(\w+)(?:[^;]*$|.*[{])")
NOT_CODE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")


def stripped(line):
    """The line without comments, and with string contents blanked out."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
    line = re.sub(r"'(?:\\.|[^'\\])'", "' '", line)
    return line.split("//", 1)[0]


def long_functions(lines):
    """(first line, length) of every function longer than allowed.

    Works on formatted text: a brace that opens inside a namespace or type and is no initialiser
    opens a function. Raw strings with lone braces would confuse it; there are none.
    """
    found = []
    scopes = []  # "outer" for namespaces and types, else the line where the code began
    pending = ""  # the text since the last ';', '{' or '}': what a '{' belongs to
    for number, line in enumerate(lines, 1):
        for character in stripped(line):
            if character == "{":
                inside = bool(scopes) and scopes[-1] != "outer"
                if NOT_CODE.search(pending) and "(" not in pending and not inside:
                    scopes.append("outer")
                elif inside or pending.rstrip().endswith("="):
                    scopes.append("inner")
                else:
                    scopes.append(number)
                pending = ""
            elif character == "}":
                scope = scopes.pop() if scopes else "outer"
                if isinstance(scope, int) and number - scope + 1 > FUNCTION_LINES_MAX:
                    found.append((scope, number - scope + 1))
                pending = ""
            elif character == ";":
                pending = ""
            else:
                pending += character
        pending += " "
    return found


def banned_for(name):
    """The patterns that this file must not contain."""
    parts = name.split("/")
    banned = list(EVERYWHERE_BANNED) if parts[0] in ("src", "sim") else []
    if parts[0] == "src" and len(parts) > 2 and parts[1] in CORE:
        banned += RANDOM if name.endswith(("_test.cc", "_bench.cc")) else CORE_BANNED
    allowed = ALLOWED.get(name)
    return [(p, instead) for p, instead in banned if not (allowed and allowed in p)]


def opening_comment(lines):
    """The comment that the file begins with."""
    text = []
    for line in lines:
        if not line.startswith("//"):
            break
        text.append(line)
    return "\n".join(text)


def check_code(name, lines):
    """Faults of one C++ file, as (line, text)."""
    if len(lines) > FILE_LINES_MAX:
        yield len(lines), f"{len(lines)} lines; at most {FILE_LINES_MAX}: one file, one idea"
    for number, length in long_functions(lines):
        yield number, f"function of {length} lines; at most {FUNCTION_LINES_MAX}"
    banned = [(re.compile(pattern), instead) for pattern, instead in banned_for(name)]
    for number, line in enumerate(lines, 1):
        text = stripped(line)
        if text.lstrip().startswith("#include"):
            continue
        for pattern, instead in banned:
            found = pattern.search(text)
            before = lines[number - 2] if number > 1 else ""
            if found and not ("unordered" in found[0] and "Never iterated" in before):
                yield number, f"'{found[0]}' is not for this folder; use {instead}"
    if name.endswith((".h", ".hpp")):
        yield from check_header(name, lines)


def check_header(name, lines):
    """A header begins with its contract, and each of its types is told about.

    The opening comment tells about the type that the file is named after and those it names; a
    comment above a type tells about it and about those that follow without a blank line; a type
    of one line may have its comment at its end.
    """
    opening = opening_comment(lines)
    if not opening:
        yield 1, "no opening comment: say what this is, its invariants and its threads"
    stem = pathlib.PurePath(name).stem.replace("_", "")
    for number, line in enumerate(lines, 1):
        found = TYPE.match(line)
        if not found or found[1].lower() == stem or found[1] in opening or "//" in line:
            continue
        if line.startswith("enum") and line.endswith("};"):
            continue
        before = number - 2
        while before >= 0 and lines[before].startswith("template"):
            before -= 1
        if not lines[before].startswith(("//", "};", "struct", "using", "enum")):
            yield number, f"type {found[1]} has no comment"


def anchors(text):
    """The anchors that headings of a markdown text give."""
    result = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        result.add(slug)
    return result


def without_fences(text):
    """Markdown with the content of fenced blocks blanked out, line for line."""
    inside = False
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
            lines.append("")
        else:
            lines.append("" if inside else line)
    return "\n".join(lines)


def check_markdown(root, name, text):
    """Faults of one markdown file, as (line, text)."""
    text = without_fences(text)
    titles = len(re.findall(r"^# ", text, re.M))
    if titles != 1:
        yield 1, f"{titles} titles; want exactly one '# ' heading"
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (root / name).parent / file if file else root / name
            if not path.exists():
                yield number, f"link to {target}: no such file"
            elif anchor and path.suffix == ".md" and anchor not in anchors(
                    without_fences(path.read_text(encoding="utf-8"))):
                yield number, f"link to {target}: no such heading"


def check_any(name, lines):
    """Faults that every text file can have, as (line, text)."""
    code = name.endswith((*CODE_SUFFIXES, ".py", ".sh", ".cmake")) or name == "CMakeLists.txt"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        if "\t" in line and code:
            yield number, "a tab; indent with blanks"
        if code and len(line) > LINE_CHARACTERS_MAX:
            yield number, f"{len(line)} characters; at most {LINE_CHARACTERS_MAX}"
        if MACHINE_PATH.search(line):
            yield number, "a path of one machine"
        if REGISTRY.search(line):
            yield number, "names a package registry's host"
        if PROMISE.search(line):
            yield number, "an open promise without an issue; write it as TO" "DO(#12): text"


def tracked_files(root):
    """Names of the tracked files, or of all files where there is no repository."""
    listing = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True,
                             check=False)
    if listing.returncode == 0:
        return [name for name in listing.stdout.splitlines() if (root / name).is_file()]
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())


def check_file(root, name):
    """All faults of one file, as (line, text)."""
    raw = (root / name).read_bytes()
    if b"\0" in raw or "/testdata/" in name or name == "LICENSE":
        return
    text = raw.decode("utf-8", errors="replace")
    lines = text.splitlines()
    if raw and not raw.endswith(b"\n"):
        yield len(lines), "no newline at the end of the file"
    yield from check_any(name, lines)
    if name.endswith(CODE_SUFFIXES):
        yield from check_code(name, lines)
    if name.endswith(".md"):
        yield from check_markdown(root, name, text)


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    faults = [f"{name}:{line}: {text}"
              for name in tracked_files(root) for line, text in check_file(root, name)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
