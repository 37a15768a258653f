#!/usr/bin/env python3
"""Two versions of the router in one pool: a fleet is upgraded router by router, and back, under
verified load, while ranges move all the time.

    versions.py PREVIOUS_BINARY

Every step ends one router as an operator would, starts the other program in its place, and wants
moves to go on, led by either version. The last line is one JSON object; the exit code is 1 when
something was lost or wrong, or when moves stopped."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import harness  # noqa: E402
from fleet import Fleet  # noqa: E402
from moves import Mover  # noqa: E402

MOVES_A_STEP = 5
STEP_SECONDS = 30


def go_on(mover, wanted):
    before = mover.done
    harness.wait_for(f"{wanted} moves more (refused {mover.refused}, aborted {mover.aborted}: "
                     f"{mover.reasons})", lambda: mover.done >= before + wanted, STEP_SECONDS)


def step(fleet, mover, router, binary, label):
    """The router under another program; moves go on before and after."""
    leader = fleet.leader()
    began = time.monotonic()
    router.end()
    router.argv[0] = binary
    router.start()
    harness.wait_for(router.name, lambda: router.why_not_ready() is None, STEP_SECONDS)
    go_on(mover, MOVES_A_STEP)
    role = "it led" if leader is router else "a follower"
    harness.say(f"{router.name} is now {label:8} ({role}), {time.monotonic() - began:.1f} s, "
                f"{mover.done} moves so far")


def run(fleet, previous, present):
    for router in fleet.routers:
        router.argv[0] = previous
    fleet.start()
    mover = Mover(fleet, seed=1)
    mover.start()
    # Through the router that is not ended meanwhile: a refusal would be the other ones' doing.
    load = harness.Load(fleet.routers[2], seconds=25, clients=10, keys=3000,
                        extra=("--rate", "2000"))
    try:
        go_on(mover, MOVES_A_STEP)
        for router in fleet.routers[:2]:
            step(fleet, mover, router, present, "present")
        step(fleet, mover, fleet.routers[0], previous, "previous")
        step(fleet, mover, fleet.routers[0], present, "present")
        result = load.result(120)
        step(fleet, mover, fleet.routers[2], present, "present")
        mover.ordering = False
        fleet.settled()
    finally:
        mover.ordering = False
        mover.ended.set()
        mover.join()
        load.kill()
    harness.say(json.dumps({"moves": mover.done, "aborted": mover.aborted,
                            "writes_acked": result["writes_acked"],
                            "writes_lost": result["writes_lost"],
                            "reads_wrong": result["reads_wrong"],
                            "errors": result["errors"]}))
    return 1 if result["writes_lost"] or result["reads_wrong"] else 0


def main():
    harness.require_binary()
    fleet = Fleet("etcd", servers=3)
    try:
        return run(fleet, os.path.abspath(sys.argv[1]), harness.CLEAVE)
    finally:
        fleet.close()


if __name__ == "__main__":
    sys.exit(main())
