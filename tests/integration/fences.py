#!/usr/bin/env python3
"""Hundreds of moves under load: how long do clients of a moving range wait at its fence?

Prints the number of moves, the hold in milliseconds as routers saw it for the requests that were
held (p50, p99), the time between the FENCED and the COMMIT compare-and-sets, and the share of moves
that were aborted. Exit code 1 when p99 is above 20 ms, more than 1 % were aborted, or something was
lost or wrong."""

import json
import sys
import time

import harness

MOVES = 300
HOLD_P99_MS_MAX = 20.0
ABORTED_SHARE_MAX = 0.01


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


def main():
    harness.require_binary()
    moves = int(sys.argv[1]) if len(sys.argv) > 1 else MOVES
    with harness.Up(nodes=4) as up:
        up.leading()
        up.post("/mode", {"mode": "observe"})
        load = harness.Load(up, seconds=max(20, moves // 4), clients=20, keys=20000, zipf=0.6)
        try:
            time.sleep(3.0)
            names = sorted(up.node_ports())
            ended = {}
            began = time.monotonic()
            for number, (piece, owner) in enumerate(pieces(up, moves)):
                target = names[(names.index(owner) + 1 + number % (len(names) - 1)) % len(names)]
                try:
                    move_and_wait(up, piece, target)
                except harness.AdminError as error:
                    ended[f"refused {number}"] = {"end": "aborted", "why": str(error)}
                for record in up.get("/moves")["ended"]:
                    ended[record["id"]] = record
            while len([1 for r in ended.values()]) < moves:
                piece, owner = pieces(up, moves)[len(ended) % 100]
                move_and_wait(up, piece, names[(names.index(owner) + 1) % len(names)])
                for record in up.get("/moves")["ended"]:
                    ended[record["id"]] = record
            took = time.monotonic() - began
            histogram = up.get("/status")["router"]["hold_ms_histogram"]
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
    bad = (summary["hold_ms_p99"] > HOLD_P99_MS_MAX
           or summary["aborted_share"] > ABORTED_SHARE_MAX
           or result["writes_lost"] or result["reads_wrong"])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
