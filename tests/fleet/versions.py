#!/usr/bin/env python3
"""Two versions of the router in one pool: a fleet is upgraded router by router, and back, under
verified load, while ranges move all the time.

    versions.py PREVIOUS_BINARY

Every step ends one router as an operator would and starts the other program in its place. Where
the previous version moves by the rules of before format 5 of the ring document (it knows no
`downgrade`), the present one moves nothing while such a router is a member, says `upgrade`, lets
none in once all are new, and goes back by way of `cleave downgrade`. Otherwise moves go on at every
step, led by either. The last line is one JSON object; the exit code is 1 when something was lost or
wrong, when moves stopped that should go on, or when one began that must not."""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import harness  # noqa: E402
from fleet import Fleet, TOKEN  # noqa: E402
from moves import Mover  # noqa: E402

MOVES_A_STEP = 5
STEP_SECONDS = 30
QUIET_SECONDS = 3  # in which the mover orders a hundred moves
REFUSED_SECONDS = 5


def go_on(mover, wanted=MOVES_A_STEP):
    before = mover.done
    harness.wait_for(f"{wanted} moves more (refused {mover.refused}, aborted {mover.aborted}: "
                     f"{mover.reasons})", lambda: mover.done >= before + wanted, STEP_SECONDS)


def stand_still(fleet, mover, present, why):
    """No move begins where the present version leads beside one of the old rules, or before it.
    False: an old router leads, by its own rules, until it goes."""
    leader = fleet.leader()
    if leader.argv[0] != present:
        return False
    harness.wait_for("the end of open moves", lambda: not fleet.leader().get("/moves")["moves"],
                     STEP_SECONDS)
    time.sleep(0.5)  # the mover counts what has ended
    before, refused = mover.done, mover.refused
    time.sleep(QUIET_SECONDS)
    if fleet.leader() is not leader:
        return False
    assert mover.done == before, f"{mover.done - before} moves beside a router of the old rules"
    assert mover.refused > refused, "nobody asked"
    assert why in mover.refusal, f"the refusal does not say why nothing moves: {mover.refusal}"
    return True


def exchange(fleet, router, binary, label):
    leader = fleet.leader()
    began = time.monotonic()
    router.end()
    router.argv[0] = binary
    router.start()
    harness.wait_for(router.name, lambda: router.why_not_ready() is None, STEP_SECONDS)
    role = "it led" if leader is router else "a follower"
    harness.say(f"{router.name} is now {label:8} ({role}), {time.monotonic() - began:.1f} s")


def must_not_join(router, previous, present):
    """An old router would misunderstand the document: it says so and serves nobody."""
    router.end()
    router.argv[0] = previous
    router.start()
    until = time.monotonic() + REFUSED_SECONDS
    while time.monotonic() < until and router.alive():
        why = router.why_not_ready()
        assert why is not None, f"{router.name} of the old rules joined"
        time.sleep(0.1)
    said = router.log_text()
    assert "upgrade" in said, f"{router.name} does not say that it is too old:\n{said}"
    harness.say(f"{router.name} of the old rules cannot join, and says so")
    router.end()
    router.argv[0] = present
    router.start()
    harness.wait_for(router.name, lambda: router.why_not_ready() is None, STEP_SECONDS)


def same_rules(fleet, mover, previous, present):
    """Moves go on at every step. Each part names the router that is not ended in it."""
    yield 2
    for router in fleet.routers[:2]:
        exchange(fleet, router, present, "present")
        go_on(mover)
    for binary, label in ((previous, "previous"), (present, "present")):
        exchange(fleet, fleet.routers[0], binary, label)
        go_on(mover)
    yield 1
    exchange(fleet, fleet.routers[2], present, "present")
    go_on(mover)


def old_rules(fleet, mover, previous, present):
    """Moves stand still while versions of both rules are members and a new one leads."""
    yield 2
    for router in fleet.routers[:2]:
        exchange(fleet, router, present, "present")
        stand_still(fleet, mover, present, "upgrade")
    yield 1
    exchange(fleet, fleet.routers[2], present, "present")
    go_on(mover)
    must_not_join(fleet.routers[0], previous, present)
    go_on(mover)
    last = fleet.routers.index(fleet.leader())
    yield last
    cleave(fleet, present, "downgrade")
    harness.wait_for("an empty list of leftovers",
                     lambda: not fleet.leader().get("/moves")["leftovers"], STEP_SECONDS)
    assert stand_still(fleet, mover, present, "going back"), "who leads?"
    for router in [each for each in fleet.routers if each is not fleet.routers[last]]:
        exchange(fleet, router, previous, "previous")
        assert stand_still(fleet, mover, present, "upgrade"), "who leads?"
    yield (last + 1) % len(fleet.routers)
    exchange(fleet, fleet.routers[last], previous, "previous")
    go_on(mover)


def cleave(fleet, binary, order):
    router = fleet.leader()
    subprocess.run([binary, order, "--admin", router.admin], check=True, timeout=STEP_SECONDS,
                   env={**os.environ, "CLEAVE_TOKEN": TOKEN})


def moves_by_old_rules(binary):
    told = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True,
                          timeout=STEP_SECONDS)
    return "downgrade" not in told.stdout


class Totals:
    """What the loads of all parts saw."""

    def __init__(self):
        self.seen = {"writes_acked": 0, "writes_lost": 0, "reads_wrong": 0, "errors": 0}

    def take(self, load):
        if load is None:
            return
        result = load.result(180)
        for name in self.seen:
            self.seen[name] += result[name]

    def bad(self):
        return bool(self.seen["writes_lost"] or self.seen["reads_wrong"])


def run(fleet, previous, present):
    for router in fleet.routers:
        router.argv[0] = previous
    fleet.start()
    mover = Mover(fleet, seed=1)
    mover.start()
    totals = Totals()
    load = None
    try:
        go_on(mover)
        rules = old_rules if moves_by_old_rules(previous) else same_rules
        for part, through in enumerate(rules(fleet, mover, previous, present)):
            # Through a router that is not ended meanwhile: a refusal would be their doing.
            totals.take(load)
            load = harness.Load(fleet.routers[through], seconds=20, clients=10, keys=3000,
                                extra=("--rate", "2000", "--prefix", f"part{part}:"))
        totals.take(load)
        mover.ordering = False
        fleet.settled()
    finally:
        mover.ordering = False
        mover.ended.set()
        mover.join()
        if load is not None:
            load.kill()
    harness.say(json.dumps({"moves": mover.done, "aborted": mover.aborted, **totals.seen}))
    return 1 if totals.bad() else 0


def main():
    harness.require_binary()
    fleet = Fleet("etcd", servers=3)
    try:
        return run(fleet, os.path.abspath(sys.argv[1]), harness.CLEAVE)
    finally:
        fleet.close()


if __name__ == "__main__":
    sys.exit(main())
