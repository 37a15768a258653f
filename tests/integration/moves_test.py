#!/usr/bin/env python3
"""Moves ordered on the command line while verified load runs: nothing is lost, and every order does
what its help says."""

import json
import os
import subprocess
import time
import unittest

import harness
from serve_test import Serve, Servers


def own_keys(port):
    """What lies on a server, without the hidden keys."""
    with harness.Redis(port) as server:
        return server.call("DBSIZE") - server.call("EXISTS", "cleave:{owner}", "cleave:{ring}")


class Moves(harness.UpTest):
    def cleave(self, *arguments, code=0):
        """The object that a command ends with."""
        program = subprocess.run(
            [harness.CLEAVE, *arguments, "--admin", f"127.0.0.1:{self.up.admin_port}", "--json"],
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(program.returncode, code, program.stderr)
        return json.loads(program.stdout.splitlines()[-1])

    def owner(self, key):
        return self.cleave("locate", key)["keys"][0]["node"]

    def other(self, node):
        return next(name for name in sorted(self.up.node_ports()) if name != node)

    def wide_range(self, node):
        """The node's widest entry as FIRST-LAST."""
        entries = [e for e in self.up.get("/ring")["entries"] if e["node"] == node]
        widest = max(entries, key=lambda e: int(e["last"], 16) - int(e["first"], 16))
        return f"{widest['first']}-{widest['last']}"

    def test_moves_under_load_lose_nothing(self):
        self.cleave("mode", "observe")
        load = harness.Load(self.up, seconds=12, keys=4000)
        self.addCleanup(load.kill)
        time.sleep(2.0)
        names = sorted(self.up.node_ports())
        moved = 0
        for number in range(9):
            source = names[number % 3]
            target = names[(number + 1) % 3]
            self.cleave("move", "--range", self.wide_range(source), "--to", target)
            self.up.settled()
            moved += 1
        result = load.result()
        self.assertEqual(result["writes_lost"], 0, result)
        self.assertEqual(result["reads_wrong"], 0, result)
        self.assertEqual(result["unchecked"], 0, result)
        self.assertGreater(result["writes_acked"], 1000)
        ended = self.up.get("/moves")["ended"]
        self.assertEqual([m["end"] for m in ended if m["reason"] != "undo"].count("committed"),
                         moved, ended)

    def test_keys_are_where_the_ring_says_and_nowhere_else(self):
        self.cleave("mode", "observe")
        with harness.Redis(self.up.port) as client:
            client.pipeline([["SET", f"k{i}", i] for i in range(2000)])
            names = sorted(self.up.node_ports())
            for number in range(4):
                self.cleave("move", "--range", self.wide_range(names[number % 3]), "--to",
                            names[(number + 2) % 3])
                self.up.settled()
            total = sum(own_keys(port) for port in self.up.node_ports().values())
            self.assertEqual(total, 2000, "a key is on two nodes, or on none")
            self.assertEqual(client.pipeline([["GET", f"k{i}"] for i in range(2000)]),
                             [str(i).encode() for i in range(2000)])

    def test_move_of_a_key_and_undo(self):
        with harness.Redis(self.up.port) as client:
            client.call("SET", "{tag}x", "1")
            client.call("SET", "{tag}y", "2")
            client.call("PEXPIRE", "{tag}y", "60000")
            source = self.owner("{tag}x")
            target = self.other(source)
            move = self.cleave("move", "--key", "{tag}x", "--to", target)["move"]
            self.up.settled()
            self.assertEqual(self.owner("{tag}y"), target, "a hash tag moves as one")
            self.assertEqual(client.call("MGET", "{tag}x", "{tag}y"), [b"1", b"2"])
            self.assertGreater(client.call("PTTL", "{tag}y"), 50_000)
            self.cleave("undo", str(move))
            self.up.settled()
            self.assertEqual(self.owner("{tag}x"), source)
            self.assertEqual(client.call("MGET", "{tag}x", "{tag}y"), [b"1", b"2"])

    def test_freeze_refuses_and_resume_allows(self):
        source = self.owner("k")
        target = self.other(source)
        self.cleave("freeze")
        self.assertEqual(self.cleave("move", "--key", "k", "--to", target, code=1)["error"]["code"],
                         "conflict")
        self.cleave("resume")
        self.cleave("move", "--key", "k", "--to", target)
        self.up.settled()
        self.assertEqual(self.owner("k"), target)

    def test_cut_merge_and_flatten_move_no_key_needlessly(self):
        before = self.up.get("/status")["cuts"]
        self.cleave("cut", "--at", "some-key", "--reason", "test")
        self.assertGreater(self.up.get("/status")["cuts"], before)
        self.cleave("move", "--key", "some-key", "--to", self.other(self.owner("some-key")))
        self.up.settled()
        with harness.Redis(self.up.port) as client:
            client.call("SET", "some-key", "1")
            self.cleave("flatten")
            harness.wait_for("no cut", lambda: self.up.get("/status")["cuts"] == 0
                             and not self.up.document()["moves"], 60)
            self.assertEqual(client.call("GET", "some-key"), b"1")

    def test_wrong_orders_say_why(self):
        source = self.owner("k")
        for arguments, code in ((["move", "--key", "k", "--to", "nowhere"], "not-found"),
                                (["move", "--key", "k", "--to", source], "conflict"),
                                (["move", "--range", "0-ffffffffffffffff", "--to", source],
                                 "invalid"),
                                (["abort", "999999"], "not-found"),
                                (["undo", "999999"], "not-found"),
                                (["node", "drain", "nobody"], "not-found"),
                                (["node", "remove", source], "conflict")):
            with self.subTest(arguments):
                error = self.cleave(*arguments, code=1)["error"]
                self.assertTrue(error["message"])
                self.assertEqual(error["code"], code, error)
                if arguments[-1] == source and code == "conflict" and arguments[0] == "move":
                    self.assertIn(f"node {source} owns that already", error["message"])

    def test_node_drain_and_remove(self):
        with harness.Redis(self.up.port) as client:
            client.pipeline([["SET", f"k{i}", i] for i in range(1000)])
            self.cleave("node", "drain", "c")

            def empty():
                nodes = {n["name"]: n for n in self.up.get("/status")["nodes"]}
                return nodes["c"]["share_ppm"] == 0 and not self.up.document()["moves"]

            harness.wait_for("node c to own nothing", empty, 90, pause=0.2)
            self.cleave("node", "remove", "c")
            self.assertEqual(sorted(self.up.node_ports()), ["a", "b"])
            self.assertEqual(client.pipeline([["GET", f"k{i}"] for i in range(1000)]),
                             [str(i).encode() for i in range(1000)])


class Counting(unittest.TestCase):
    """DBSIZE through a router at every moment of a move, slow enough to be looked at."""

    KEYS = 8_000

    def setUp(self):
        harness.require_binary()
        self.servers = Servers(2)
        self.addCleanup(self.servers.close)
        self.serve = Serve(self.servers, limits="limits: {copy_bytes_per_second: 1500000}\n")
        self.addCleanup(self.serve.close)
        self.serve.start()
        self.serve.leading()
        self.serve.post("/adopt")
        self.client = harness.Redis(self.serve.port)
        self.addCleanup(self.client.close)
        for begin in range(0, self.KEYS, 500):
            self.client.pipeline([["SET", f"k{i}", os.urandom(200)]
                                  for i in range(begin, begin + 500)])

    def begin(self, source, target):
        ranges = [{"first": e["first"], "last": e["last"]}
                  for e in self.serve.get("/ring")["entries"] if e["node"] == source]
        return self.serve.post("/moves", {"ranges": ranges, "to": target})["move"]

    def sizes(self, abort=None):
        """All that are seen until the move is over and what it left is cleaned. Keys are written
        again, made and deleted meanwhile."""
        seen = set()
        for turn in range(100_000):
            key = f"k{turn * 7 % self.KEYS}"
            self.client.pipeline([["SET", key, "again"], ["SET", "new", "x"], ["DEL", "new"]])
            seen.add(self.client.call("DBSIZE"))
            now = self.serve.get("/moves")
            shown = sum(node["keys"] for node in self.serve.get("/status")["nodes"])
            self.assertIn(shown, (self.KEYS, self.KEYS + 1), "a look may meet the new key")
            if abort and sum(move["keys_copied"] for move in now["moves"]) > 500:
                self.serve.post(f"/moves/{abort}/abort")
                abort = None
            if not now["moves"] and not now["leftovers"]:
                return seen
        raise AssertionError("it does not end")

    def test_a_key_is_counted_once(self):
        self.assertEqual(self.client.call("DBSIZE"), self.KEYS)
        harness.wait_for("a look", lambda: sum(
            node.get("keys", 0) for node in self.serve.get("/status")["nodes"]) == self.KEYS)
        move = self.begin("n0", "n1")
        self.assertEqual(self.sizes(), {self.KEYS})
        self.assertEqual(self.serve.get("/moves")["ended"][0]["end"], "committed")
        move = self.begin("n1", "n0")
        self.assertEqual(self.sizes(abort=move), {self.KEYS})
        self.assertEqual(self.serve.get("/moves")["ended"][0]["end"], "aborted")
        self.assertEqual(sum(own_keys(port) for port in self.servers.ports), self.KEYS,
                         "nothing is left behind")

    def test_after_a_flush_new_keys_are_counted(self):
        self.begin("n0", "n1")
        harness.wait_for("copies", lambda: sum(
            move["keys_copied"] for move in self.serve.get("/moves")["moves"]) > 500)
        self.assertEqual(self.client.call("FLUSHALL"), b"OK")
        self.client.pipeline([["SET", f"new{i}", "x"] for i in range(100)])
        harness.wait_for("the new keys", lambda: self.client.call("DBSIZE") == 100, 3)
        self.serve.settled()
        self.assertEqual(self.client.call("DBSIZE"), 100)
        self.assertEqual(sum(own_keys(port) for port in self.servers.ports), 100)


if __name__ == "__main__":
    unittest.main()
