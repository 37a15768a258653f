#!/usr/bin/env python3
"""Checks that includes point one way only.

    tools/check_layers.py [ROOT]

tools/layers.txt says which folder of src/ may include which. Refused besides: an include of a .cc
file, an include relative to the current file, a system-call header outside the folders that may
make system calls, Boost.Asio outside net's sources, and CMakeLists.txt saying something else than
layers.txt. sim/ and bench/ may include everything, and nothing in src/ may include them.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Folders that may talk to the operating system (docs/ARCHITECTURE.md, "Layers").
SYSTEM_FOLDERS = {"net", "coord", "history", "supervise"}
SYSTEM_HEADERS = re.compile(
    r"^(sys/|netinet/|arpa/|net/if|linux/|poll\.h|netdb\.h|fcntl\.h|unistd\.h|dirent\.h|pthread\.h"
    r"|sched\.h|spawn\.h|signal\.h|time\.h|sqlite3\.h|openssl/|boost/asio|boost/beast)")
# One system call that needs a named folder more: why it is harmless.
SYSTEM_EXCEPTIONS = {
    ("base", "unistd.h"),  # CHECK writes to standard error with write(2), async-signal-safe
    ("app", "unistd.h"),  # isatty(3): is there somebody to draw a progress line for
    ("ring", "openssl/md5.h"),  # computes only
    ("ring", "openssl/sha.h"),  # computes only
}
# Tests may start real servers.
TEST_FILE = re.compile(r"_(test|testing|bench)\.(cc|h)$")
ASIO = re.compile(r"^boost/(asio|beast)")


class LayerError(Exception):
    """tools/layers.txt itself is wrong."""


def read_layers(text):
    """{folder: folders it may include}; each must be defined on an earlier line, so no cycles."""
    layers = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        name, colon, rest = line.partition(":")
        name = name.strip()
        if not colon or not name:
            raise LayerError(f"layers.txt:{number}: want 'folder: folders', got '{line}'")
        if name in layers:
            raise LayerError(f"layers.txt:{number}: '{name}' is defined twice")
        for below in rest.split():
            if below not in layers:
                raise LayerError(f"layers.txt:{number}: '{name}' points at '{below}', which is not "
                                 "defined above it")
        layers[name] = set(rest.split())
    return layers


def check_include(folder, path, kind, target, layers):
    """The fault of one include, or None."""
    if target.endswith((".cc", ".cpp")):
        return f"includes the source file {target}"
    if kind == "<":
        if ASIO.match(target) and not (folder == "net" and path.suffix == ".cc"):
            return f"<{target}>: Asio's types stay inside net's .cc files; use net/loop.h"
        if (SYSTEM_HEADERS.match(target) and folder not in SYSTEM_FOLDERS
                and not TEST_FILE.search(path.name)
                and (folder, target) not in SYSTEM_EXCEPTIONS):
            return (f"<{target}>: only {' '.join(sorted(SYSTEM_FOLDERS))} make system calls; go "
                    "through net/loop.h, or pass what you need as a parameter")
        return None
    if target.startswith("."):
        return f'"{target}": write the path from src/, "folder/file.h"'
    other = target.split("/", 1)[0]
    if "/" not in target or other not in layers:
        return f'"{target}": not a folder of tools/layers.txt'
    if other != folder and other not in layers[folder]:
        return (f'"{target}": {folder} may include only: '
                f'{" ".join(sorted(layers[folder])) or "nothing"}')
    return None


def check_sources(root, layers):
    """Faults of every source of src/, as 'file:line: text'."""
    faults = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        relative = path.relative_to(root / "src")
        folder = relative.parts[0]
        if folder not in layers:
            faults.append(f"src/{relative}:1: folder '{folder}' is not in tools/layers.txt")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            fault = found and check_include(folder, path, found[1], found[2], layers)
            if fault:
                faults.append(f"src/{relative}:{number}: {fault}")
    return faults


def check_cmake(text, layers):
    """CMakeLists.txt must repeat layers.txt: the linker then sees a missing arrow."""
    faults = []
    seen = {}
    for name, body in re.findall(r"cleave_layer\((\w+)([^)]*)\)", text):
        deps = re.search(r"DEPS([\w\s]*?)(?:LIBS|DIR|$)", body, re.S)
        seen[name] = set(deps[1].split()) if deps else set()
    for name, below in layers.items():
        if name not in seen:
            faults.append(f"CMakeLists.txt:1: no cleave_layer({name} ...)")
        elif seen[name] != below:
            differ = " ".join(sorted(seen[name] ^ below))
            faults.append(f"CMakeLists.txt:1: cleave_layer({name}) and layers.txt differ: {differ}")
    return faults


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    try:
        layers = read_layers((root / "tools/layers.txt").read_text(encoding="utf-8"))
    except LayerError as error:
        print(error)
        return 1
    faults = check_sources(root, layers)
    faults += check_cmake((root / "CMakeLists.txt").read_text(encoding="utf-8"), layers)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
