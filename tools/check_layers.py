#!/usr/bin/env python3
"""Checks that includes point one way only.

    tools/check_layers.py [ROOT]

tools/layers.txt says which folder of src/ may include which, and which rooms of a folder know each
other. Refused besides: an include of a .cc file, an include relative to the current file, a
system-call header outside the folders that may make system calls, Boost.Asio outside net's sources,
a layer without a target in CMakeLists.txt, and a folder of more than 45 files. Tests may use every
room of their layer. sim/ and bench/ may include everything, and nothing in src/ may include them.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Folders that may talk to the operating system (docs/ARCHITECTURE.md, "Layers").
SYSTEM_FOLDERS = {"net", "coord", "history", "sqlite", "supervise"}
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


FILES_MAX = 45  # in one folder; more of them are rooms that nobody has named yet


class LayerError(Exception):
    """tools/layers.txt itself is wrong."""


class Layers:
    """What layers.txt says: `below` {layer: layers}, `rooms` {layer: {room: rooms}}."""

    def __init__(self, text):
        self.below = {}
        self.rooms = {}
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#", 1)[0].strip()
            if line:
                self._read(number, line)

    def _read(self, number, line):
        name, colon, rest = line.partition(":")
        name = name.strip()
        if not colon or not name:
            raise LayerError(f"layers.txt:{number}: want 'folder: folders', got '{line}'")
        layer, slash, room = name.partition("/")
        if slash and layer not in self.below:
            raise LayerError(f"layers.txt:{number}: '{name}' is a room of '{layer}', which is not "
                             "defined above it")
        known = self.rooms[layer] if slash else self.below
        if (room if slash else name) in known:
            raise LayerError(f"layers.txt:{number}: '{name}' is defined twice")
        for below in rest.split():
            if below not in known:
                raise LayerError(f"layers.txt:{number}: '{name}' points at '{below}', which is not "
                                 "defined above it")
        known[room if slash else name] = set(rest.split())
        if not slash:
            self.rooms[name] = {}

    def room_of(self, path):
        """The room of 'layer/.../file': its longest defined folder; None where none is defined."""
        layer, *folders, _ = path.split("/")
        rooms = self.rooms[layer]
        while folders:
            if "/".join(folders) in rooms:
                return "/".join(folders)
            folders.pop()
        return "." if "." in rooms else None


def check_system_include(folder, path, target):
    """The fault of an include of somebody else's header, or None."""
    if ASIO.match(target) and not (folder == "net" and path.suffix == ".cc"):
        return f"<{target}>: Asio's types stay inside net's .cc files; use net/loop.h"
    if (SYSTEM_HEADERS.match(target) and folder not in SYSTEM_FOLDERS
            and not TEST_FILE.search(path.name) and (folder, target) not in SYSTEM_EXCEPTIONS):
        return (f"<{target}>: only {' '.join(sorted(SYSTEM_FOLDERS))} make system calls; go "
                "through net/loop.h, or pass what you need as a parameter")
    return None


def check_include(path, target, layers):
    """The fault of an include of ours in `path`, which is relative to src/; or None."""
    folder = path.parts[0]
    if target.endswith((".cc", ".cpp")):
        return f"includes the source file {target}"
    if target.startswith("."):
        return f'"{target}": write the path from src/, "folder/file.h"'
    other = target.split("/", 1)[0]
    if "/" not in target or other not in layers.below:
        return f'"{target}": not a folder of tools/layers.txt'
    if other != folder:
        if other in layers.below[folder]:
            return None
        return (f'"{target}": {folder} may include only: '
                f'{" ".join(sorted(layers.below[folder])) or "nothing"}')
    room = layers.room_of(path.as_posix())
    other_room = layers.room_of(target)
    if room == other_room or TEST_FILE.search(path.name):
        return None
    if other_room not in layers.rooms[folder][room]:
        return (f'"{target}": {folder}/{room} may include only these rooms of {folder}: '
                f'{" ".join(sorted(layers.rooms[folder][room])) or "none"}')
    return None


def check_sources(root, layers):
    """Faults of every source of src/, as 'file:line: text'."""
    faults = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        relative = path.relative_to(root / "src")
        folder = relative.parts[0]
        if folder not in layers.below:
            faults.append(f"src/{relative}:1: folder '{folder}' is not in tools/layers.txt")
            continue
        if layers.rooms[folder] and layers.room_of(relative.as_posix()) is None:
            faults.append(f"src/{relative}:1: its room is not in tools/layers.txt")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            fault = (check_system_include(folder, path, found[2]) if found[1] == "<"
                     else check_include(relative, found[2], layers))
            if fault:
                faults.append(f"src/{relative}:{number}: {fault}")
    return faults


def check_sizes(root):
    """Folders with so many files that nobody sees what they are about."""
    faults = []
    for folder in sorted(path for path in (root / "src").rglob("*") if path.is_dir()):
        files = sum(path.is_file() for path in folder.iterdir())
        if files > FILES_MAX:
            faults.append(f"{folder.relative_to(root)}:1: {files} files; at most {FILES_MAX}: "
                          "give it rooms")
    return faults


def check_cmake(text, layers):
    """Every layer has its target; what it links is read from layers.txt by CMake itself."""
    targets = re.findall(r"cleave_layer\((\w+)", text)
    return [f"CMakeLists.txt:1: no cleave_layer({name} ...)" for name in layers.below
            if name not in targets]


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    try:
        layers = Layers((root / "tools/layers.txt").read_text(encoding="utf-8"))
    except LayerError as error:
        print(error)
        return 1
    faults = check_sources(root, layers)
    faults += check_sizes(root)
    faults += check_cmake((root / "CMakeLists.txt").read_text(encoding="utf-8"), layers)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
