"""Moves of random ranges between random nodes, without end, and the phase that they are in."""

import bisect
import http.client
import random
import threading
import time

from harness import AdminError

TROUBLE = (AdminError, OSError, ValueError, KeyError, http.client.HTTPException)
AT_ONCE = 2  # of four nodes two pairs can move at a time
LOOK_S = 0.02
LOOK_CLOSELY_S = 0.002  # somebody waits for a phase, and a fence lasts some milliseconds


class Mover(threading.Thread):
    def __init__(self, fleet, seed):
        super().__init__(daemon=True)
        self.fleet = fleet
        self.random = random.Random(seed)
        self.names = [server.node for server in fleet.servers]
        self.condition = threading.Condition()
        self.phases = ()  # of the moves that were open at the last look
        self.wanted = None
        self.ordering = True
        self.ended = threading.Event()
        self.router = None  # the last that answered
        self.open = {}      # id -> (first token, destination)
        # Ranges as they were at the start. Neighbours that meet on one node become one range, so
        # moves of whatever ranges there are would soon move the whole ring to and fro.
        self.pieces = []
        self.done = self.aborted = self.refused = 0
        self.refusal = ""   # the last one
        self.reasons = {}   # why moves were aborted -> how often

    def run(self):
        while not self.ended.is_set():
            try:
                self.turn()
            except TROUBLE:
                self.show(())
                self.router = None
                time.sleep(0.1)
            time.sleep(LOOK_CLOSELY_S if self.wanted else LOOK_S)

    def turn(self):
        if self.router is None or not self.router.alive() or self.router.frozen:
            self.router = self.random.choice(self.fleet.routers)
        told = self.router.get("/moves", timeout=1.0)  # the leader's, by way of a redirect
        # "clean": what a move left behind is being cleaned.
        cleaning = ("clean",) if told.get("leftovers") else ()
        self.show(tuple(move["phase"] for move in told["moves"]) + cleaning)
        self.count(told)
        if self.ordering and len(told["moves"]) < AT_ONCE:
            self.order()

    def show(self, phases):
        with self.condition:
            self.phases = phases
            self.condition.notify_all()

    def wait_for(self, phase, seconds):
        """Returns as soon as a move is in the phase, or when there was none for so long: the phases
        that were seen then."""
        with self.condition:
            self.wanted = phase
            self.condition.wait_for(lambda: phase in self.phases, seconds)
            self.wanted = None
            return "+".join(sorted(self.phases)) or "none"

    def count(self, told):
        running = {move["id"] for move in told["moves"]}
        ended = {record["id"]: record for record in told["ended"]}
        gone = [move for move in self.open if move not in running]
        if not gone:
            return
        ring = self.router.get("/ring")["entries"]
        for move in gone:
            first, target = self.open.pop(move)
            if move in ended:
                committed, why = ended[move]["end"] == "committed", ended[move]["why"]
            else:
                # Its leader is gone, and what it remembered: the ring tells.
                committed = any(entry["first"] <= first <= entry["last"] and entry["node"] == target
                                for entry in ring)
                why = "its leader was lost"
            if committed:
                self.done += 1
            else:
                self.aborted += 1
                self.reasons[why] = self.reasons.get(why, 0) + 1

    def order(self):
        entries = self.router.get("/ring", timeout=1.0)["entries"]
        self.pieces = self.pieces or [{"first": e["first"], "last": e["last"]} for e in entries]
        source = self.random.choice(self.names)
        owned = self.owned_by(source, entries)
        if not owned:
            return
        wanted = self.random.randint(1, 30)
        at = self.random.randrange(len(owned))
        ranges = owned[at:at + wanted]
        if self.random.random() < 0.1:
            ranges = self.cut_in_two(ranges[0])[:1]
        target = self.random.choice([name for name in self.names if name != source])
        try:
            begun = self.router.request("POST", "/moves", {"ranges": ranges, "to": target,
                                                           "reason": "faults"}, timeout=2.0)
        except AdminError as error:
            self.refused += 1
            self.refusal = str(error)
            time.sleep(0.05)
            return
        self.open[begun["move"]] = (ranges[0]["first"], target)

    def owned_by(self, node, entries):
        """The pieces that lie in one range of the node, which does not move."""
        starts = [entry["first"] for entry in entries]
        owned = []
        for piece in self.pieces:
            entry = entries[bisect.bisect_right(starts, piece["first"]) - 1]
            inside = piece["last"] <= entry["last"]
            if entry["node"] == node and entry["move"] is None and inside:
                owned.append(piece)
        return owned

    def cut_in_two(self, piece):
        first, last = int(piece["first"], 16), int(piece["last"], 16)
        middle = (first + last) // 2
        if middle == last:
            return [piece]
        halves = [{"first": piece["first"], "last": f"{middle:016x}"},
                  {"first": f"{middle + 1:016x}", "last": piece["last"]}]
        at = self.pieces.index(piece)
        self.pieces[at:at + 1] = halves
        return halves
