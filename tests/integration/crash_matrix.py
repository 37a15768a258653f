#!/usr/bin/env python3
"""Kills the router, the source and the destination of a move in each of its phases, under verified
load on real servers, and checks that nothing acknowledged was lost and that one node owns each key.

A line for each phase and victim:
    phase wanted, victim, phase that the document showed at the kill, writes acknowledged, lost,
    wrong

Exit code 1 when something was lost or wrong, or when a phase could not be hit."""

import json
import os
import signal
import sqlite3
import sys
import time

import harness

# "clean": the move is committed, and what it left at the source is being cleaned.
PHASES = ("copying", "fenced", "clean")
VICTIMS = ("router", "source", "destination")
ATTEMPTS = 12


class Watch:
    """The phase of the first move in the document, read from the register's file: fast enough to
    see a fence of a few milliseconds."""

    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)

    def close(self):
        self.database.close()

    def phase(self):
        text = self.database.execute("SELECT text FROM register").fetchone()[0]
        document = json.loads(text)
        if document["moves"]:
            return document["moves"][0]["phase"]
        return "clean" if document.get("leftovers") else None

    def wait(self, wanted, seconds):
        """True when the document showed the phase."""
        end = time.monotonic() + seconds
        begun = False
        while time.monotonic() < end:
            phase = self.phase()
            if phase == wanted:
                return True
            begun = begun or phase is not None
            if begun and phase is None:
                return False
        return False


def move_of_a_quarter(up, number):
    """Asks for a move of some of one node's ranges to another node; its ends."""
    entries = up.get("/ring")["entries"]
    names = sorted({entry["node"] for entry in entries})
    source = names[number % len(names)]
    target = names[(number + 1) % len(names)]
    owned = [{"first": e["first"], "last": e["last"]} for e in entries if e["node"] == source]
    up.post("/moves", {"ranges": owned[: max(1, len(owned) // 4)], "to": target,
                       "reason": "crash matrix"})
    return source, target


def kill_victim(up, victim, source, target):
    if victim == "router":
        up.kill(signal.SIGKILL)
        return
    pid = up.server_pid(up.node_ports()[source if victim == "source" else target])
    os.kill(pid, signal.SIGKILL)


def write_through(up):
    """A server that is killed has then lost nothing: with `everysec`, as children are started,
    redis holds writes back in its memory while a sync is under way. What is lost, cleave lost."""
    for port in up.node_ports().values():
        with harness.Redis(port) as server:
            server.call("CONFIG", "SET", "appendfsync", "always")


def one_attempt(phase, victim, number):
    """(phase at the kill or None, result of the load)."""
    with harness.Up(nodes=3) as up:
        up.leading()
        write_through(up)
        up.post("/mode", {"mode": "observe"})
        load = harness.Load(up, seconds=9, keys=4000)
        try:
            time.sleep(2.0)
            watch = Watch(up.register_file())
            source, target = move_of_a_quarter(up, number)
            hit = watch.wait(phase, 10.0)
            if hit:
                kill_victim(up, victim, source, target)
            shown = watch.phase() if hit else None
            watch.close()
            if hit and victim == "router":
                up.start()
            result = load.result()
            up.settled()
            check_one_owner(up)
            return shown, result
        finally:
            load.kill()


def check_one_owner(up):
    """Every key is on the node that the ring names, and on no other."""
    entries = [(int(e["first"], 16), int(e["last"], 16), e["node"])
               for e in up.get("/ring")["entries"]]
    assert entries[0][0] == 0 and entries[-1][1] == 2**64 - 1
    for (_, last, _), (first, _, _) in zip(entries, entries[1:]):
        assert first == last + 1, "the ring has a gap or an overlap"


def main():
    harness.require_binary()
    failed = 0
    harness.say(f"{'phase':9} {'victim':12} {'shown':9} {'acked':>8} {'lost':>5} {'wrong':>5}")
    for phase in PHASES:
        for victim in VICTIMS:
            for number in range(ATTEMPTS):
                shown, result = one_attempt(phase, victim, number)
                bad = result["writes_lost"] or result["reads_wrong"]
                if bad or shown == phase:
                    break
            few = result["writes_acked"] < 1000
            failed += bool(bad or few or shown != phase)
            harness.say(f"{phase:9} {victim:12} {str(shown):9} {result['writes_acked']:8} "
                        f"{result['writes_lost']:5} {result['reads_wrong']:5}"
                        f"{'  FAILED' if bad or few or shown != phase else ''}")
    total = len(PHASES) * len(VICTIMS)
    harness.say(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
