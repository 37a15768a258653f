#!/usr/bin/env python3
"""Runs the Spin models of docs/formats/model as their runs.txt says, one at a time, niced and with
bounded memory; prints a table, and as the last line "N passed, N failed".

    tools/run_models.py [--all] [--only NAME[,NAME]] [--memory MB]

A counterexample, wanted or not, is written to build/model/NAME.trace.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "docs" / "formats" / "model"
BUILD = ROOT / "build" / "model"

# Seconds after which a search is ended: about ten times what it takes on an idle core.
QUICK_SECONDS, LONG_SECONDS, SEARCHED_SECONDS = 120, 1200, 150

# Options of the verifier's compiler and of the verifier, by what a row must show. A mutant is
# searched breadth-first, so that its counterexample is the shortest one.
COMPILED = {"holds": "-DSAFETY -DCOLLAPSE", "no-cycle": "-DNP -DCOLLAPSE",
            "broken": "-DSAFETY -DBFS -DCOLLAPSE", "reached": "-DSAFETY -DBFS -DCOLLAPSE",
            "searched": "-DSAFETY -DBFS -DCOLLAPSE", "live": "-DNFAIR=3", "not-live": "-DNFAIR=3"}
RUN = {"no-cycle": "-l", "live": "-a -f", "not-live": "-a -f"}
FOUND = ("broken", "reached", "not-live")  # an error is what is wanted

# Lines of a counterexample that are the verifier's own; the rest tells its story.
BOOKKEEPING = re.compile(r"^\s*(?:pan|MSC|#|spin|$)")


class Row:
    """One line of runs.txt."""

    def __init__(self, line):
        self.name, self.must, self.when, self.model, *self.options = line.split()
        if self.must not in COMPILED or self.when not in ("quick", "long"):
            raise ValueError(f"runs.txt: {line}")

    def seconds(self):
        if self.must == "searched":
            return SEARCHED_SECONDS
        return QUICK_SECONDS if self.when == "quick" else LONG_SECONDS


def rows():
    text = (MODELS / "runs.txt").read_text(encoding="utf-8")
    return [Row(line) for line in text.splitlines() if line and not line.startswith("#")]


def command(folder, output, *words, seconds=None):
    """Runs it at the lowest priority with its output in a file. The exit code, None when ended."""
    with open(folder / output, "wb") as file:
        try:
            return subprocess.run(["nice", "-n", "19", *words], cwd=folder, stdout=file,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=seconds, check=False).returncode
        except subprocess.TimeoutExpired:
            return None


def verifier(row, folder, memory):
    """Builds the row's verifier; what went wrong, or nothing."""
    source = MODELS / f"{row.model}.pml"
    shutil.copy(source, folder / "model.pml")
    options = [f"-D{option}" for option in row.options]
    if command(folder, "spin.out", "spin", "-a", *options, "model.pml") != 0:
        return "spin refuses the model: " + (folder / "spin.out").read_text()[-300:]
    speed = "-O1" if row.when == "quick" else "-O2"  # compiling is most of what a quick one takes
    compiler = ["gcc", speed, "-w", "-DNOREDUCE", "-DVECTORSZ=1024", f"-DMEMLIM={memory}",
                *COMPILED[row.must].split(), "-o", "pan", "pan.c"]
    if command(folder, "gcc.out", *compiler) != 0:
        return "gcc: " + (folder / "gcc.out").read_text()[-300:]
    return None


def tell(row, folder):
    """Writes the steps of a counterexample."""
    text = subprocess.run(["./pan", "-r", "-n"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout
    story = re.split(r"(?m)^.*\bproc\s+\d", text.decode(errors="replace"))[0]
    steps = [line.strip() for line in story.splitlines() if not BOOKKEEPING.match(line)]
    (BUILD / f"{row.name}.trace").write_text("\n".join(steps) + "\n", encoding="utf-8")


def verdict(row, folder, code):
    """(what the search has shown, number of states)"""
    out = (folder / "pan.out").read_text(errors="replace")
    states = re.search(r"(\d+) states, stored", out)
    count = int(states[1]) if states else 0
    if (folder / "model.pml.trail").exists():
        tell(row, folder)
        why = re.search(r"(assertion violated.*|acceptance cycle|non-progress cycle"
                        r"|invalid end state)", out)
        return "error", count, re.sub(r" \(at depth.*", "", why[1]) if why else "an error"
    if code is None:
        return "time", count, "no error so far, out of time"
    if "reached -DMEMLIM" in out or "out of memory" in out or "max search depth too small" in out:
        return "space", count, "no error so far, out of memory or depth"
    if code != 0 or "errors: 0" not in out:
        return "failed", count, "the verifier failed: " + out[-200:].strip()
    return "complete", count, "no error, searched to the end"


def run(row, memory):
    """(right?, one line of the table)"""
    folder = BUILD / row.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    begun = time.monotonic()
    fault = verifier(row, folder, memory)
    shown, count, words = "failed", 0, fault
    if fault is None:
        ends = [] if row.model == "leftovers" else ["-E"]  # it looks at the ends itself
        options = [*RUN.get(row.must, "").split(), *ends, "-m400000"]
        code = command(folder, "pan.out", "./pan", *options, seconds=row.seconds())
        shown, count, words = verdict(row, folder, code)
    right = shown == ("error" if row.must in FOUND else "complete")
    if row.must == "searched":
        right = shown in ("complete", "time", "space")
    shutil.rmtree(folder, ignore_errors=True)
    took = time.monotonic() - begun
    mark = "right" if right else "WRONG"
    return right, f"{mark}  {row.name:<18} {row.must:<9} {count:>11,} states {took:6.1f} s  {words}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="the long searches too")
    parser.add_argument("--only", default="", help="names of runs.txt, separated by commas")
    parser.add_argument("--memory", type=int, default=6000, help="of one verifier, in MB")
    arguments = parser.parse_args()
    only = {name for name in arguments.only.split(",") if name}
    chosen = [row for row in rows() if row.name in only or not only
              and (arguments.all or row.when == "quick")]
    unknown = only - {row.name for row in chosen}
    if unknown:
        sys.exit(f"no such run: {', '.join(sorted(unknown))}; see docs/formats/model/runs.txt")
    limit = (arguments.memory + 1000) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.makedirs(BUILD, exist_ok=True)
    results = []
    for row in chosen:
        right, line = run(row, arguments.memory)
        results.append(right)
        print(line, flush=True)
    if not (arguments.all or only):
        print("the long searches: make model ALL=1")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
