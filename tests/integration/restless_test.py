#!/usr/bin/env python3
"""A big key that is written all the time moves all the same, element by element (protocol rule 27),
and is what its writers made of it."""

import json
import random
import subprocess
import threading
import time
import unittest

import harness

FIELDS = 200_000
WRITES_A_SECOND = 2_000


class Writer(threading.Thread):
    """Changes elements of its own of each key, and remembers what they are."""

    KINDS = ("huge", "sorted")

    def __init__(self, port, number, of, rate):
        super().__init__(daemon=True)
        self.port, self.number, self.of, self.rate = port, number, of, rate
        self.random = random.Random(number)
        self.fields = {}    # of the hash; None: removed
        self.scores = {}    # of the sorted set
        self.counters = {}  # of the hash, by HINCRBY
        self.writes = 0
        self.slowest = 0.0
        self.errors = []
        self.ending = threading.Event()

    def element(self):
        return f"f{self.random.randrange(FIELDS // self.of) * self.of + self.number}"

    def command(self):
        what = self.random.randrange(100)
        name = self.element()
        if what < 40:
            value = f"v{self.number}.{self.writes}"
            self.fields[name] = value
            return "HSET", "huge", name, value
        if what < 55:
            self.fields[name] = None
            return "HDEL", "huge", name
        if what < 75:
            counter = f"n{self.number}.{self.random.randrange(200)}"
            self.counters[counter] = self.counters.get(counter, 0) + 1
            return "HINCRBY", "huge", counter, 1
        if what < 90:
            self.scores[name] = self.writes
            return "ZADD", "sorted", self.writes, name
        self.scores[name] = None
        return "ZREM", "sorted", name

    def run(self):
        batch = 20
        with harness.Redis(self.port) as client:
            due = time.monotonic()
            while not self.ending.is_set():
                commands = []
                for _ in range(batch):
                    commands.append(self.command())
                    self.writes += 1
                began = time.monotonic()
                try:
                    client.pipeline(commands)
                except Exception as error:  # pylint: disable=broad-except
                    self.errors.append(repr(error))
                    return
                self.slowest = max(self.slowest, time.monotonic() - began)
                due = max(due + batch / self.rate, time.monotonic() - 0.5)
                time.sleep(max(0.0, due - time.monotonic()))

    def stop(self):
        self.ending.set()
        self.join()


def pairs(flat):
    return dict(zip(flat[0::2], flat[1::2]))


class Restless(harness.UpTest):
    def cleave(self, *arguments):
        program = subprocess.run(
            [harness.CLEAVE, *arguments, "--admin", f"127.0.0.1:{self.up.admin_port}", "--json"],
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(program.returncode, 0, program.stderr)
        return json.loads(program.stdout.splitlines()[-1])

    def owner(self, key):
        return self.cleave("locate", key)["keys"][0]["node"]

    def fill(self):
        """Both keys on one node."""
        with harness.Redis(self.up.port, timeout=60) as client:
            for begin in range(0, FIELDS, 2000):
                names = [f"f{n}" for n in range(begin, begin + 2000)]
                client.pipeline([
                    ["HSET", "huge", *[w for name in names for w in (name, "z" * 40)]],
                    ["ZADD", "sorted", *[w for name in names for w in ("0.5", name)]]])
        if self.owner("huge") != self.owner("sorted"):
            self.cleave("move", "--key", "sorted", "--to", self.owner("huge"))
            self.up.settled()

    def test_huge_keys_that_are_written_all_the_time_move(self):
        self.cleave("mode", "observe")
        self.fill()
        source = self.owner("huge")
        target = next(name for name in sorted(self.up.node_ports()) if name != source)
        writers = [Writer(self.up.port, n, 2, WRITES_A_SECOND / 2) for n in range(2)]
        for writer in writers:
            writer.start()
        began = time.monotonic()
        time.sleep(0.3)
        for key in ("huge", "sorted"):
            self.cleave("move", "--key", key, "--to", target)
            self.up.settled()
            self.assertEqual(self.owner(key), target, self.up.get("/moves")["ended"])
        time.sleep(0.2)
        for writer in writers:
            writer.stop()
        seconds = time.monotonic() - began
        self.assertEqual([writer.errors for writer in writers], [[], []])
        ended = [m for m in self.up.get("/moves")["ended"] if m["destination"] == target]
        self.assertEqual({m["end"] for m in ended}, {"committed"}, ended)
        fence = max(m["fenced_us"] for m in ended)
        self.assertLess(fence, 250_000, ended)
        self.compare(writers)
        harness.say(f"{sum(w.writes for w in writers) / seconds:.0f} writes/s, longest fence "
                    f"{fence / 1000:.1f} ms, slowest batch of 20 "
                    f"{max(w.slowest for w in writers) * 1000:.1f} ms")

    def compare(self, writers):
        fields = {f"f{n}": "z" * 40 for n in range(FIELDS)}
        scores = {f"f{n}": 0.5 for n in range(FIELDS)}
        for writer in writers:
            fields.update(writer.fields)
            fields.update({name: str(n) for name, n in writer.counters.items()})
            scores.update(writer.scores)
        with harness.Redis(self.up.port, timeout=60) as client:
            stored = {name.decode(): value.decode()
                      for name, value in pairs(client.call("HGETALL", "huge")).items()}
            ranked = {name.decode(): float(score) for name, score in
                      pairs(client.call("ZRANGE", "sorted", 0, -1, "WITHSCORES")).items()}
        for want, have in ((fields, stored), (scores, ranked)):
            want = {name: value for name, value in want.items() if value is not None}
            wrong = [name for name in want.keys() | have.keys()
                     if want.get(name) != have.get(name)]
            self.assertEqual(wrong, [], f"{len(wrong)} elements")


if __name__ == "__main__":
    unittest.main()
