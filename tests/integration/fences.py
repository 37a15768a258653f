#!/usr/bin/env python3
"""Hundreds of moves under load: how long do clients of a moving range wait at its fence?

    fences.py [MOVES] [COORDINATOR]

Without a coordinator: one `cleave up`. With etcd or zookeeper: three routers, the load through one
that does not lead.

Prints the number of moves, the hold in milliseconds as the router of the load saw it for the
requests that were held (p50, p99), the time between the FENCED and the COMMIT compare-and-sets, and
the share of moves that were aborted. Exit code 1 when a bound below is broken, or something was
lost or wrong."""

import json
import os
import sys
import time

import harness

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "fleet"))
from fleet import Fleet  # noqa: E402

MOVES = 300
ONE_ROUTER = {"p50_ms": 20.0, "p99_ms": 20.0, "aborted": 0.01}
FLEET = {"p50_ms": 15.0, "p99_ms": 60.0, "aborted": 0.02}


class OneRouter(harness.Up):
    """`cleave up`."""

    bounds = ONE_ROUTER

    def __init__(self):
        super().__init__(nodes=4)

    def __enter__(self):
        super().__enter__()
        self.leading()
        self.post("/mode", {"mode": "observe"})
        return self

    def loaded(self):
        """The router that the load goes through."""
        return self

    def node_names(self):
        return sorted(self.node_ports())


class ManyRouters(Fleet):
    """Three routers; orders go to the one that leads."""

    bounds = FLEET

    def loaded(self):
        leader = self.leader()
        return next(router for router in self.routers if router is not leader)

    def get(self, path):
        return self.leader().get(path)

    def post(self, path, body):
        return self.leader().post(path, body)

    def node_names(self):
        return sorted(server.node for server in self.servers)


def histogram_percentile(histogram, share):
    """Steps of 1 ms; the upper end of the step."""
    total = sum(histogram)
    seen = 0
    for step, count in enumerate(histogram):
        seen += count
        if total and seen >= total * share:
            return step + 1
    return len(histogram)


def pieces(up, wanted):
    """Small ranges with their owners, spread over the ring."""
    cut = []
    for entry in up.get("/ring")["entries"]:
        first, last = int(entry["first"], 16), int(entry["last"], 16)
        cut.append(({"first": f"{first:016x}", "last": f"{last:016x}"}, entry["node"]))
    step = max(1, len(cut) // wanted)
    return cut[::step][:wanted]


def move_and_wait(up, piece, target):
    begun = up.post("/moves", {"ranges": [piece], "to": target, "reason": "fences"})
    harness.wait_for("the move to end", lambda: not up.get("/moves")["moves"], 20, pause=0.005)
    return begun["move"]


def move_all(pool, moves):
    """The records of at least so many ended moves, by id."""
    names = pool.node_names()
    ended = {}

    def move(number, piece, owner):
        target = names[(names.index(owner) + 1 + number % (len(names) - 1)) % len(names)]
        try:
            move_and_wait(pool, piece, target)
        except harness.AdminError as error:
            ended[f"refused {number}"] = {"end": "aborted", "why": str(error)}

    while len(ended) < moves:
        for number, (piece, owner) in enumerate(pieces(pool, moves - len(ended))):
            move(number, piece, owner)
            if number % 100 == 99:
                ended.update({record["id"]: record for record in pool.get("/moves")["ended"]})
        ended.update({record["id"]: record for record in pool.get("/moves")["ended"]})
    return ended


def main():
    harness.require_binary()
    moves = int(sys.argv[1]) if len(sys.argv) > 1 else MOVES
    coordinator = sys.argv[2] if len(sys.argv) > 2 else None
    with ManyRouters(coordinator) if coordinator else OneRouter() as pool:
        router = pool.loaded()
        load = harness.Load(router, seconds=max(20, moves // 4), clients=20, keys=20000, zipf=0.6)
        try:
            time.sleep(3.0)
            began = time.monotonic()
            ended = move_all(pool, moves)
            took = time.monotonic() - began
            histogram = router.get("/status")["router"]["hold_ms_histogram"]
            result = load.result(240)
        finally:
            load.kill()
    aborted = [record for record in ended.values() if record["end"] != "committed"]
    fenced = [record["fenced_us"] / 1000.0 for record in ended.values()
              if record["end"] == "committed"]
    summary = {
        "moves": len(ended),
        "aborted": len(aborted),
        "aborted_share": round(len(aborted) / max(1, len(ended)), 4),
        "requests_held": sum(histogram),
        "hold_ms_p50": histogram_percentile(histogram, 0.50),
        "hold_ms_p99": histogram_percentile(histogram, 0.99),
        "fence_to_commit_ms_p50": round(harness.percentile(fenced, 0.50), 2),
        "fence_to_commit_ms_p99": round(harness.percentile(fenced, 0.99), 2),
        "seconds": round(took, 1),
        "writes_acked": result["writes_acked"],
        "writes_lost": result["writes_lost"],
        "reads_wrong": result["reads_wrong"],
    }
    for record in aborted[:5]:
        harness.say("aborted:", record.get("why", ""))
    harness.say(json.dumps(summary))
    bad = (summary["hold_ms_p50"] > pool.bounds["p50_ms"]
           or summary["hold_ms_p99"] > pool.bounds["p99_ms"]
           or summary["aborted_share"] > pool.bounds["aborted"]
           or result["writes_lost"] or result["reads_wrong"])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
