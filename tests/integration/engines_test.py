#!/usr/bin/env python3
"""Moves between servers of different makes: Redis 6.2 and 7.0, Valkey 9. Values go from older
formats to newer ones only, and expiry of hash fields goes along where both know it."""

import time
import unittest

import harness
from serve_test import Serve, Servers


class Engines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def begin(self, *programs, limits=""):
        if None in programs:
            self.skipTest("the server's package is not installed")
        self.servers = Servers(2, programs=programs)
        self.addCleanup(self.servers.close)
        self.serve = Serve(self.servers, limits=limits)
        self.addCleanup(self.serve.close)
        self.serve.start()
        self.serve.leading()
        self.serve.post("/adopt")

    def server(self, name, *command):
        with harness.Redis(self.serve.node_ports()[name]) as server:
            return server.call(*command)

    def order(self, source, target):
        owned = [{"first": e["first"], "last": e["last"]}
                 for e in self.serve.get("/ring")["entries"] if e["node"] == source]
        move = self.serve.post("/moves", {"ranges": owned, "to": target})["move"]
        self.serve.settled()
        return next(m for m in self.serve.get("/moves")["ended"] if m["id"] == move)

    def check_one_way(self, newer, older):
        """n0 is the newer one."""
        with harness.Redis(self.serve.port) as client:
            client.pipeline([["SET", f"k{i}", f"v{i}"] for i in range(1000)])
            cuts = self.serve.document()["cuts"]
            with self.assertRaisesRegex(harness.AdminError,
                                        f"n0 .*RDB version {newer}.*n1 .*it writes {older}"):
                self.order("n0", "n1")
            self.assertEqual(self.serve.document()["cuts"], cuts)
            self.assertEqual(self.server("n1", "KEYS", "cleave:{move}*"), [])
            record = self.order("n1", "n0")
            self.assertEqual(record["end"], "committed", record["why"])
            self.assertEqual(client.pipeline([["GET", f"k{i}"] for i in range(1000)]),
                             [f"v{i}".encode() for i in range(1000)])
        # The leader looks at the servers every ten seconds.
        harness.wait_for("the versions", lambda: {
            n["name"]: n["rdb_version"] for n in self.serve.get("/status")["nodes"]}
            == {"n0": newer, "n1": older}, 15)

    def test_valkey_9_to_redis_7_is_refused_the_other_way_works(self):
        self.begin(harness.valkey_9(), "redis-server")
        self.check_one_way(80, 10)

    def test_redis_7_to_redis_62_is_refused_the_other_way_works(self):
        self.begin("redis-server", harness.redis_62())
        self.check_one_way(10, 9)

    def test_expiry_of_hash_fields_goes_along_with_big_and_small_hashes(self):
        self.begin(harness.valkey_9(), harness.valkey_9(),
                   limits="limits: {big_value_bytes: 200000}\n")
        with harness.Redis(self.serve.port) as client:
            for key, fields in (("small", 50), ("listed", 5_000), ("scanned", 20_000)):
                key = "{x}" + key
                for first in range(0, fields, 1000):
                    client.call("HSET", key, *[x for i in range(first, min(first + 1000, fields))
                                               for x in (f"f{i}", b"v" * 80)])
            source = self.serve.get("/locate?key=%7Bx%7D")["node"]
            keys = ["{x}small", "{x}listed", "{x}scanned"]
            for key in keys:
                self.server(source, "HEXPIRE", key, 3600, "FIELDS", 2, "f1", "f2")
                self.server(source, "HPEXPIRE", key, 2500, "FIELDS", 1, "f3")
            before = [self.server(source, "HPEXPIRETIME", key, "FIELDS", 4, "f1", "f2", "f3", "f4")
                      for key in keys]
            target = "n1" if source == "n0" else "n0"
            record = self.order(source, target)
            self.assertEqual(record["end"], "committed", record["why"])
            after = [self.server(target, "HPEXPIRETIME", key, "FIELDS", 4, "f1", "f2", "f3", "f4")
                     for key in keys]
            self.assertEqual(after, before)
            time.sleep(2.6)
            for key in keys:
                self.assertEqual(client.call("HGET", key, "f3"), None)
                self.assertEqual(client.call("HGET", key, "f4"), b"v" * 80)


if __name__ == "__main__":
    unittest.main(verbosity=2)
