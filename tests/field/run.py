#!/usr/bin/env python3
"""Faults that people have met in the field, as checks against real servers: a table of what is
right and what the product says instead. The last line is "N passed, N failed".

    tests/field/run.py [CASE ...]     e.g. O5 111; without a name all, O for O1 to O33
    tests/field/run.py --list

Each check runs in a process group of its own, which is ended with all that it started."""

import argparse
import glob
import importlib
import os
import re
import signal
import subprocess
import sys
import time
import traceback

import lab
from harness import require_binary

# Lengths of a line of the table, so that a terminal of 160 columns shows it.
WORDS_MAX = 600


def load_all():
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "*.py"))):
        name = os.path.basename(path)[:-3]
        if name not in ("run", "lab", "relay", "router", "programs"):
            importlib.import_module(name)


def order(number):
    """101 before O1 before X1, and O2 before O10."""
    letters, digits, rest = re.match(r"([A-Z]*)(\d*)(.*)", number).groups()
    return letters, int(digits or 0), rest


def chosen(names):
    """The numbers meant by `O5`, `111` (all of 111...), `X` (all of X...)."""
    numbers = sorted(lab.CASES, key=order)
    if not names:
        return numbers
    found = []
    for name in names:
        matching = [
            n
            for n in numbers
            if n == name
            or (n.startswith(name) and not n[len(name) :][:1].isdigit())
            or (name.isalpha() and name.isupper() and order(n)[0] == name)
        ]
        if not matching:
            sys.exit(f"no such case: {name}; --list names them")
        found += [n for n in matching if n not in found]
    return found


def run_here(number):
    """One check in this process. The exit code: 0 right, 1 wrong, 3 skipped, 4 not yet."""
    scene = lab.Lab()
    # The runner ends the group with this signal: what the check holds open is then ended in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("out of time"))
    try:
        lab.CASES[number].function(scene)
    except lab.Skipped as lacking:
        print(lacking)
        return 3
    except Exception as error:  # noqa: BLE001, whatever goes wrong is the table's to tell
        if os.environ.get("VERBOSE"):
            traceback.print_exc()
        scene.faults.append(f"{type(error).__name__}: {error}")
    finally:
        scene.close()
    print("; ".join(scene.faults + scene.reasons))
    if scene.faults:
        return 1
    return 4 if scene.reasons else 0


def run_apart(number):
    """(verdict, words, seconds) of one check."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), "--here", number],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        stderr=None if os.environ.get("VERBOSE") else subprocess.DEVNULL,
        start_new_session=True,
    )
    late = False
    try:
        out, _ = process.communicate(timeout=lab.CASES[number].seconds + 15)
    except subprocess.TimeoutExpired:
        late = True
        process.send_signal(signal.SIGTERM)
        try:
            out, _ = process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            out = b""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.stdout.close()
    process.wait(timeout=10)
    words = " ".join(out.decode(errors="replace").split())[-WORDS_MAX:]
    if late:
        verdict, words = "WRONG", f"did not end within {lab.CASES[number].seconds + 15} s; {words}"
    else:
        verdicts = {0: "right", 3: "skipped", 4: "not yet"}
        verdict = verdicts.get(process.returncode, "WRONG")
    return verdict, words, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="numbers, e.g. O5 111")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    require_binary()
    load_all()
    if arguments.here:
        sys.exit(run_here(arguments.here))
    numbers = chosen(arguments.cases)
    if arguments.list:
        for number in numbers:
            print(f"{number:<6} {lab.CASES[number].title}")
        return
    counts = {"right": 0, "WRONG": 0, "skipped": 0, "not yet": 0}
    for number in numbers:
        verdict, words, seconds = run_apart(number)
        counts[verdict] += 1
        print(f"{verdict:<8}{number:<6}{seconds:5.1f} s  {lab.CASES[number].title}", flush=True)
        if words:
            print(f"{'':21}-> {words}", flush=True)
    if counts["skipped"]:
        print(f"{counts['skipped']} skipped: this machine lacks what they need")
    if counts["not yet"]:
        print(f"{counts['not yet']} not yet: the product says so, the line says why")
    print(f"{counts['right']} passed, {counts['WRONG']} failed")
    sys.exit(1 if counts["WRONG"] else 0)


if __name__ == "__main__":
    main()
