#!/usr/bin/env python3
"""Refuses two things of one name in a folder, each in a file's unnamed namespace.

    tools/check_twins.py [ROOT]

The sources of a folder are compiled together, and so are its tests (cmake/unity.cmake): there a
second constant, type or function of the same name and parameters is an error, which the developer
whose build compiles each file alone would not see. An alias may be repeated if it means the same.
Works on formatted text: what stands at the margin between `namespace {` and `}  // namespace`.
"""

import pathlib
import re
import sys

TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (\w+)(?: final)?[ ;{:]")
ALIAS = re.compile(r"^using (\w+) = (.*)$")
VALUE = re.compile(r"^(?:(?:inline|constinit|constexpr|const|static) )+[^()={]*?(\w+)(?:\[\w*\])*"
                   r" ?[={;]")
FUNCTION = re.compile(r"^(?:constexpr |inline |static )?[\w:<>,&* ]+?[ &*](\w+)\((.*)$")
NO_FUNCTION = re.compile(r"^(?:[A-Z][A-Z_]+\(|static_assert|using|template|return)")


def parameters(text):
    """The types of the parameters that `text` begins with, up to the closing parenthesis."""
    depth, types = 0, [""]
    for character in text:
        depth += (character in "<({[") - (character in ">)}]")
        if depth < 0:
            break
        if character == "," and depth == 0:
            types.append("")
        else:
            types[-1] += character
    plain = (re.sub(r"/\*.*?\*/|=.*", "", one).strip() for one in types)
    return tuple(re.sub(r"(?<=[\w>&*]) +\w+$", "", one) for one in plain)


def joined(lines, number, text):
    """`text`, which began in that line, with the following lines until its parentheses match."""
    while text.count(")") <= text.count("(") and number + 1 < len(lines):
        number += 1
        text += " " + lines[number].strip()
    return text


def unnamed(lines):
    """(line, name, what) of all that a file's unnamed namespaces define. What: the parameters of a
    function, what an alias stands for, None of others."""
    inside = False
    for number, line in enumerate(lines):
        line = re.sub(r" *//(?! namespace$).*", "", line)
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif inside and line[:1].isalpha():
            if match := ALIAS.match(line):
                stands_for = " ".join([match[2], *lines[number + 1:number + 3]]).split(";")[0]
                yield number + 1, match[1], stands_for
            elif match := (TYPE.match(line) or VALUE.match(line)):
                yield number + 1, match[1], None
            elif (match := FUNCTION.match(line)) and not NO_FUNCTION.match(line):
                yield number + 1, match[1], parameters(joined(lines, number, match[2]))


def are_twins(one, other):
    """Whether two things of one name cannot stand in one namespace."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return one == other
    return one is None or one != other


def twins(sources):
    """Faults among {name: lines} of files that are compiled together."""
    known = {}
    for file, lines in sorted(sources.items()):
        for line, name, what in unnamed(lines):
            others = known.setdefault(name, [])
            for there, other in others:
                if there != file and are_twins(what, other):
                    yield (f"{file}:{line}: '{name}' is in {there.rsplit('/', 1)[-1]} too, which "
                           "is compiled with this file: share it, or find the better name")
                    break
            others.append((file, what))


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    together = {}
    for top in ("src", "sim"):
        for path in (root / top).rglob("*.cc"):
            if path.name.endswith("_bench.cc") or path.parent.name == "main":
                continue
            key = path.parent, path.name.endswith("_test.cc")
            together.setdefault(key, {})[str(path.relative_to(root))] = \
                path.read_text(encoding="utf-8").splitlines()
    faults = [fault for _, files in sorted(together.items()) for fault in twins(files)]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
