#!/usr/bin/env python3
"""Look-ups and rebuilds of the Python package uhashring, in the form of google-benchmark's JSON.

It has 160 points a node. Times are of the process' processor."""

import json
import random
import sys
import time

import uhashring

POINTS_PER_NODE = 160
KEYS = 4096
ROUNDS = 5


def timed(function):
    start = time.process_time_ns()
    function()
    return time.process_time_ns() - start


def main():
    chosen = random.Random(1)
    keys = ["".join(chosen.choices("abcdefghijklmnop", k=16)) for _ in range(KEYS)]
    runs = []

    def record(what, nodes, nanoseconds, unit):
        scale = {"ns": 1, "ms": 1e6}[unit]
        runs.append({"name": f"{what}/Python uhashring/{nodes * POINTS_PER_NODE}",
                     "run_type": "iteration", "cpu_time": nanoseconds / scale,
                     "time_unit": unit})

    for nodes in (1, 10, 100, 1000):
        names = [f"node-{i}" for i in range(nodes)]
        ring = uhashring.HashRing(names)
        for _ in range(ROUNDS):
            asked = timed(lambda: [ring.get_node(key) for key in keys])
            record("cached", nodes, asked / KEYS, "ns")
        if nodes == 100:
            record("build", nodes, timed(lambda: uhashring.HashRing(names)), "ms")
            record("add", nodes, timed(lambda: ring.add_node("joiner")), "ms")
    json.dump({"benchmarks": runs}, sys.stdout)


if __name__ == "__main__":
    main()
