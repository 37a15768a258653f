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
VALUE = re.compile(r"^(?:(?:inline|constinit|constexpr|const|static) )+[^()={]*?(\w+)(?:\[\w*\])* ?[={;]")
FUNCTION = re.compile(r"^(?:constexpr |inline |static )?[\w:<>,&* ]+?[ &*](\w+)\((.*)$")
NO_FUNCTION = re.compile(r"^(?:[A-Z][A-Z_]+\(|static_assert|using|template|return)")


def parameters(text):
    """The types of the parameters that `text` begins with, up to the closing parenthesis."""
    depth, types, current = 0, [], ""
    for character in text:
        if character in "<({[":
            depth += 1
        elif character in ">)}]":
            if depth == 0:
                break
            depth -= 1
        if character == "," and depth == 0:
            types.append(current)
            current = ""
        else:
            current += character
    types.append(current)
    plain = [re.sub(r"/\*.*?\*/|=.*", "", one).strip() for one in types]
    return tuple(re.sub(r"(?<=[\w>&*]) *(?<![\w:])\w+$", "", one) if " " in one or "&" in one else one
                 for one in plain)


def joined(lines, first, text):
    """`text`, which began in that line, with the following lines until its parentheses match."""
    while text.count(")") <= text.count("(") and first + 1 < len(lines):
        first += 1
        text += " " + lines[first].strip()
    return text


def unnamed(lines):
    """{what: line} of all that a file's unnamed namespaces define. What: a name, or a name and its
    parameters, or a name and what it stands for."""
    found = {}
    inside = False
    for number, line in enumerate(lines):
        line = re.sub(r" *//(?! namespace$).*", "", line)
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif inside and line[:1].isalpha():
            if match := ALIAS.match(line):
                found[match[1], "=", " ".join(lines[number:number + 3]).split("=", 1)[1].split(";")[0]] = number + 1
            elif match := (TYPE.match(line) or VALUE.match(line)):
                found[match[1],] = number + 1
            elif (match := FUNCTION.match(line)) and not NO_FUNCTION.match(line):
                found[match[1], "(", *parameters(joined(lines, number, match[2]))] = number + 1
    return found


def twins(sources):
    """Faults among {name: lines} of files that are compiled together."""
    first = {}
    for name, lines in sorted(sources.items()):
        for what, line in unnamed(lines).items():
            alias = what[1:2] == ("=",)
            for (known, other) in list(first.items()):
                same = known[0] == what[0] and (known == what) != alias
                if same and not (known[1:2] == ("(",) and what[1:2] == ("(",) and known != what):
                    yield f"{name}:{line}: '{what[0]}' is in {other} too, whose file is " \
                          "compiled with this one: share it, or name one better"
                    break
            first.setdefault(what, f"{name.rsplit('/', 1)[-1]}")


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
