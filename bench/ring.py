#!/usr/bin/env python3
"""The ring's look-ups and rebuilds beside other libraries', in one run, as one table.

    bench/ring.py [--rounds N] [--json FILE] [--plot FILE.svg]

Runs build/bench/ring_bench (bench/micro) in N rounds of all its parts, so that a noisy minute meets
everybody, and takes the least processor time of each: what disturbs can only add. A peer that is
not installed is left out and named. The plot needs the Python package matplotlib."""

import argparse
import importlib.util
import io
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "bench" / "ring_bench"
UHASHRING = ROOT / "bench" / "micro" / "uhashring_bench.py"
JUMP_SOURCE = ROOT / "bench" / "micro" / "go"
JUMP = ROOT / "build" / "bench" / "ring_jump"
SINGLE = ("cached", "uncached", "dependent")
LOOKUPS = (*SINGLE, "cached, batch", "uncached, batch")
PEERS = {"libmemcached": "Debian's libmemcached-dev", "Rust hashring": "cargo",
         "Rust anchorhash": "cargo", "Go XXH64 + jump": "go",
         "Python uhashring": "pip install uhashring"}


def runs_of(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["benchmarks"]


def programs():
    """The commands of one round, for those whose tools are there."""
    yield PROGRAM, "--benchmark_format=json", "--benchmark_min_time=0.05"
    if shutil.which("go"):
        subprocess.run(("go", "build", "-o", JUMP, "."), cwd=JUMP_SOURCE, check=True)
        yield (JUMP,)
    if importlib.util.find_spec("uhashring"):
        yield sys.executable, UHASHRING


def measured(rounds):
    """(what, ring, points) -> (least processor time, unit)."""
    least = {}
    commands = list(programs())
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        for run in (run for command in commands for run in runs_of(*command)):
            what, ring, points = run["name"].split("/")[:3]
            value, unit = run["cpu_time"], run["time_unit"]
            if what == "memory":
                value, unit = run["bytes"], "B"
            key = (what, ring, int(points))
            least[key] = min(least.get(key, (value, unit)), (value, unit))
    return least


def table(rows):
    lines = ["| " + " | ".join(rows[0]) + " |", "|---" * len(rows[0]) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows[1:]])


def lookup_table(least):
    """A row a ring and size, a column a kind of look-up, in nanoseconds."""
    rows = [["Look-up, ns", "points", *LOOKUPS]]
    for ring, points in sorted({key[1:] for key in least if key[0] in LOOKUPS}):
        times = [least.get((what, ring, points)) for what in LOOKUPS]
        rows.append([ring, f"{points:,}", *(f"{time[0]:.1f}" if time else "" for time in times)])
    return table(rows)


def search_table(least):
    rows = [["Search alone", "points", "ns"]]
    for (what, ring, points), (value, _) in sorted(least.items()):
        if what == "search":
            rows.append([ring, f"{points:,}", f"{value:.1f}"])
    return table(rows)


def rebuild_table(least):
    rows = [["Rebuild", "points", "build, ms", "add a node, ms", "bytes a point"]]
    for ring, points in sorted({key[1:] for key in least if key[0] in ("build", "add")}):
        cells = [least.get((what, ring, points)) for what in ("build", "add", "memory")]
        rows.append([ring, f"{points:,}",
                     *(f"{cell[0]:.3g}" if cell else "" for cell in cells)])
    return table(rows)


def draw(axis, least, what, ring, style):
    """A ring's line; its look-ups in batches have the colour of the line before, and no label."""
    points = sorted(key[2] for key in least if key[:2] == (what, ring))
    if not points:
        return
    if what in SINGLE:
        style = {"label": ring, **style}
    else:
        style = {"color": axis.lines[-1].get_color(), **style}
    axis.plot(points, [least[(what, ring, each)][0] for each in points], marker="o", markersize=3,
              **style)


def plot(least, file):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    pyplot.rcParams["svg.fonttype"] = "none"
    pyplot.rcParams["svg.hashsalt"] = "cleave"
    figure, axes = pyplot.subplots(1, len(SINGLE), figsize=(13, 4.2), sharey=True)
    rings = sorted({ring for what, ring, _ in least if what in LOOKUPS and "view" not in ring
                    and "weighted" not in ring})
    for axis, what in zip(axes, SINGLE):
        for ring in rings:
            ours = ring.startswith("cleave")
            draw(axis, least, what, ring, {"linewidth": 2} if ours else {"linestyle": "--"})
            draw(axis, least, f"{what}, batch", ring, {"linestyle": ":"})
        axis.set(title=what, xlabel="points", xscale="log", yscale="log")
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("ns a look-up, 16-byte keys")
    axes[1].text(0.02, 0.98, "dotted: 64 keys a call", transform=axes[1].transAxes, va="top")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.14, 1, 1))
    drawn = io.StringIO()
    figure.savefig(drawn, metadata={"Date": None})
    lines = (line.rstrip() for line in drawn.getvalue().splitlines())
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="write what was measured here")
    parser.add_argument("--plot", type=pathlib.Path, help="draw the look-ups here")
    arguments = parser.parse_args()
    least = measured(arguments.rounds)
    for part in (lookup_table, search_table, rebuild_table):
        print(part(least), end="\n\n")
    for peer, source in PEERS.items():
        if not any(ring.startswith(peer) for _, ring, _ in least):
            print(f"not measured: {peer} (needs {source})")
    if arguments.json:
        lines = [[*key, *value] for key, value in sorted(least.items())]
        arguments.json.write_text(json.dumps(lines, indent=0) + "\n", encoding="utf-8")
    if arguments.plot:
        plot(least, arguments.plot)


if __name__ == "__main__":
    main()
