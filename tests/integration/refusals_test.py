#!/usr/bin/env python3
"""Servers that say no to a move: it ends once, with their words, and leaves cuts, keys and counts
as they were. What is said of a value keeps that key behind, and nothing else."""

import os
import re
import threading
import time
import unittest

import harness
from serve_test import Serve, Servers

KEYS = 4000


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def setUp(self):
        self.servers = Servers(2)
        self.addCleanup(self.servers.close)
        self.serve = Serve(self.servers, limits=self.limits())
        self.addCleanup(self.serve.close)
        self.serve.start()
        self.serve.leading()
        self.serve.post("/adopt")

    def limits(self):
        # Slow enough that something can happen while it copies.
        # How long a fence is held on a busy machine is not what these tests are about.
        return ("limits: {copy_bytes_per_second: 300000, big_value_bytes: 200000, "
                "fence_hold_max_ms: 3000}\n")

    def server(self, name, *command):
        with harness.Redis(self.serve.node_ports()[name]) as server:
            return server.call(*command)

    def fill(self, size=200):
        with harness.Redis(self.serve.port) as client:
            for first in range(0, KEYS, 500):
                client.pipeline([["SET", f"k{i}", b"v" * size]
                                 for i in range(first, min(first + 500, KEYS))])

    def owned(self, node):
        return [{"first": e["first"], "last": e["last"]}
                for e in self.serve.get("/ring")["entries"] if e["node"] == node]

    def order(self, source="n0", target="n1"):
        return self.serve.post("/moves", {"ranges": self.owned(source), "to": target})["move"]

    def ended(self, move):
        return next(m for m in self.serve.get("/moves")["ended"] if m["id"] == move)

    def state(self):
        """What a refused move must leave as it was."""
        document = self.serve.document()
        return (document["cuts"], self.serve.get("/ring")["entries"],
                [self.server(name, "DBSIZE") for name in ("n0",)])

    def refused(self, words):
        decisions = self.serve.get("/decisions")["decisions"]
        self.assertEqual([d for d in decisions if d["kind"] == "unsplittable"], [])
        told = [d for d in decisions if d["kind"] == "refused" and "ranges" not in d]
        self.assertEqual(len(told), 1, told)
        self.assertIn(words, told[0]["reason"])
        node = told[0]["subject"].split()[-1]
        shown = next(n for n in self.serve.get("/status")["nodes"] if n["name"] == node)
        self.assertIn(words, shown["refuses"])

    def check_abort(self, spoil, words):
        """The order begins, `spoil` happens while it copies, and it ends once with those words."""
        self.fill()
        before = self.state()
        move = self.order()
        harness.wait_for("copies", lambda: self.server("n1", "DBSIZE") > 200)
        spoil()
        self.serve.settled()
        record = self.ended(move)
        self.assertEqual(record["end"], "aborted")
        self.assertIn(words, record["why"])
        self.assertIn("n1", record["why"])
        time.sleep(0.5)
        self.assertEqual(len(self.serve.get("/moves")["ended"]), 1, "one order, one move")
        self.assertEqual(self.state(), before)
        self.refused(words)

    def test_out_of_memory(self):
        def fill_up():
            used = re.search(rb"used_memory:(\d+)", self.server("n1", "INFO", "memory")).group(1)
            self.server("n1", "CONFIG", "SET", "maxmemory", str(int(used) + 20_000))

        self.check_abort(fill_up, "OOM")
        # Known before a copy is made, the next time; good again when there is room again.
        with self.assertRaisesRegex(harness.AdminError, "OOM"):
            self.order()
        self.server("n1", "CONFIG", "SET", "maxmemory", "0")
        self.assertEqual(self.server("n0", "DBSIZE") > 1000, True)
        move = self.order()
        self.serve.settled(60)
        self.assertEqual(self.ended(move)["end"], "committed")
        with harness.Redis(self.serve.port) as client:
            self.assertEqual(client.call("EXISTS", *[f"k{i}" for i in range(KEYS)]), KEYS)

    def test_a_right_is_taken_away(self):
        self.check_abort(lambda: self.server("n1", "ACL", "SETUSER", "default", "-restore"),
                         "NOPERM")
        with self.assertRaisesRegex(harness.AdminError, r"ACL SETUSER default \+restore"):
            self.order()
        self.server("n1", "ACL", "SETUSER", "default", "+restore", "-exists")
        with self.assertRaisesRegex(harness.AdminError, r"ACL SETUSER default \+exists"):
            self.order()

    def test_too_few_replicas(self):
        self.check_abort(lambda: self.server("n1", "CONFIG", "SET", "min-replicas-to-write", "1"),
                         "NOREPLICAS")

    def test_a_script_that_runs_long(self):
        def busy():
            self.server("n1", "CONFIG", "SET", "busy-reply-threshold", "50")
            script = ("local t = redis.call('TIME') local e = t[1] + t[2] / 1e6 + 1 "
                      "while true do t = redis.call('TIME') "
                      "if t[1] + t[2] / 1e6 > e then break end end")
            self.thread = threading.Thread(target=self.server, args=("n1", "EVAL", script, "0"))
            self.thread.start()

        self.check_abort(busy, "BUSY")
        self.thread.join()

    def test_rights_are_looked_at_before_anything_is_copied(self):
        self.fill(10)
        for rights, missing in (("-dump", r"\+dump"), ("-unlink -zscan", r"\+unlink \+zscan"),
                                ("-client|kill", r"\+client\|kill")):
            self.server("n0", "ACL", "SETUSER", "default", *rights.split())
            with self.assertRaisesRegex(harness.AdminError, "n0.*ACL SETUSER default " + missing):
                self.order()
            self.server("n0", "ACL", "SETUSER", "default", "+@all")
        self.server("n1", "ACL", "SETUSER", "default", "resetkeys", "~k*", "~cleave:{owner}")
        with self.assertRaisesRegex(harness.AdminError, r"n1.*ACL SETUSER default ~cleave:{\*"):
            self.order()
        self.server("n1", "ACL", "SETUSER", "default", "~*")
        move = self.order()
        self.serve.settled()
        self.assertEqual(self.ended(move)["end"], "committed")
        self.assertEqual(self.server("n1", "KEYS", "cleave:{move}*"), [])


class Restless(Refusals):
    """Big keys that are written, or whose time comes, while they are copied."""

    test_out_of_memory = test_a_right_is_taken_away = test_too_few_replicas = None
    test_a_script_that_runs_long = test_rights_are_looked_at_before_anything_is_copied = None

    def limits(self):
        rate = 0 if "never_at_rest" in self.id() else 8_000_000
        return f"limits: {{copy_bytes_per_second: {rate}, fence_hold_max_ms: 3000}}\n"

    def big(self, key, fields=10000, size=1000):
        with harness.Redis(self.serve.port) as client:
            for first in range(0, fields, 500):
                client.call("HSET", key, *[x for i in range(first, first + 500)
                                           for x in (f"f{i}", b"v" * size)])

    def on_n0(self):
        """A key of n0."""
        return next(f"big{i}" for i in range(100)
                    if self.serve.get(f"/locate?key=big{i}")["node"] == "n0")

    def test_a_big_key_that_is_written_now_and_then_moves(self):
        key = self.on_n0()
        self.big(key)
        move = self.order()
        harness.wait_for("pieces", lambda: any(
            m["bytes_copied"] > 2_000_000 for m in self.serve.get("/moves")["moves"]))
        with harness.Redis(self.serve.port) as client:
            client.call("HSET", key, "late", "1")
            self.serve.settled(60)
            record = self.ended(move)
            self.assertEqual(record["end"], "committed", record["why"])
            self.assertEqual(client.call("HGET", key, "late"), b"1")
            self.assertEqual(client.call("HLEN", key), 10001)

    def test_a_big_list_that_is_never_at_rest_stays_and_the_others_move(self):
        """Of a list nobody can tell which elements were touched: restless_test has the others."""
        key = self.on_n0()
        with harness.Redis(self.serve.port) as client:
            for _ in range(20):
                client.call("RPUSH", key, *[b"v" * 1000] * 500)
            client.pipeline([["SET", f"k{i}", "v"] for i in range(1000)])
        stop = threading.Event()

        def write():
            with harness.Redis(self.serve.port) as client:
                while not stop.is_set():
                    client.call("LSET", key, "0", "x")

        writer = threading.Thread(target=write)
        writer.start()
        self.addCleanup(writer.join)
        self.addCleanup(stop.set)
        self.order()
        harness.wait_for("the move around it", lambda: any(
            m["end"] == "committed" for m in self.serve.get("/moves")["ended"]), 60)
        self.assertEqual(self.serve.get(f"/locate?key={key}")["node"], "n0")
        named = [d for d in self.serve.get("/decisions")["decisions"]
                 if d["kind"] == "unsplittable"]
        self.assertEqual([d["subject"] for d in named], [key])
        self.assertIn("written", named[0]["reason"])

    def test_a_big_key_whose_time_comes_in_its_copy(self):
        key = self.on_n0()
        self.big(key)
        with harness.Redis(self.serve.port) as client:
            client.call("PEXPIRE", key, "700")
            move = self.order()
            self.serve.settled()
            self.assertEqual(self.ended(move)["end"], "committed")
            self.assertEqual(client.call("EXISTS", key), 0)
        self.assertEqual(self.server("n1", "KEYS", "cleave:{move}*"), [])


class Rights(unittest.TestCase):
    """The user that OPERATIONS.md tells to make is denied nothing of what cleave does."""

    def line(self):
        path = os.path.join(harness.ROOT, "docs", "OPERATIONS.md")
        with open(path, encoding="utf-8") as page:
            return re.search(r"^ACL SETUSER cleave on >SECRET (.*)$", page.read(), re.M).group(1)

    def test_the_documented_rights_are_enough(self):
        harness.require_binary()
        servers = Servers(2)
        self.addCleanup(servers.close)
        for port in servers.ports:
            with harness.Redis(port) as server:
                server.call("ACL", "SETUSER", "cleave", "on", ">SECRET", *self.line().split())
        serve = Serve(servers, limits="limits: {big_value_bytes: 100000}\n",
                      user="{user: cleave, password: SECRET}")
        self.addCleanup(serve.close)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        self.use(serve)
        self.assertEqual([denied for port in servers.ports for denied in self.denied(port)], [])

    def use(self, serve):
        """Clients of all kinds, moves of all types, a flush, strays."""
        ranges = [{"first": e["first"], "last": e["last"]}
                  for e in serve.get("/ring")["entries"] if e["node"] == "n0"]
        with harness.Redis(serve.port) as client:
            for kind, command in (("l", "RPUSH"), ("s", "SADD"), ("t", "APPEND")):
                for i in range(20):
                    client.call(command, f"{kind}{i}", "x" * 300_000)
            for i in range(20):
                client.call("HSET", f"h{i}", *[w for n in range(100) for w in (n, "x" * 2000)])
                client.call("ZADD", f"z{i}",
                            *[w for n in range(100) for w in (n, f"{n}" + "x" * 2000)])
                client.call("XADD", f"x{i}", "*", "f", "x" * 300_000)
                client.call("EXPIRE", f"h{i}", "1000")
            client.call("SET", "large", "x" * 2_000_000)
            client.call("EVAL", "return redis.call('SET', KEYS[1], 1)", "1", "made")
            whole = client.call("DBSIZE")
            serve.post("/moves", {"ranges": ranges, "to": "n1"})
            serve.settled()
            self.assertEqual([m["end"] for m in serve.get("/moves")["ended"]], ["committed"])
            self.assertEqual(client.call("DBSIZE"), whole)
            self.assertEqual(serve.get("/strays")["nodes"][0]["strays"], 0)
            self.assertEqual(client.call("FLUSHALL"), b"OK")
            self.assertEqual(client.call("DBSIZE"), 0)

    @staticmethod
    def denied(port):
        with harness.Redis(port) as server:
            return server.call("ACL", "LOG")


if __name__ == "__main__":
    unittest.main(verbosity=2)
