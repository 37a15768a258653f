#!/usr/bin/env python3
"""A real client, redis-py, runs a session against `cleave up` as if it were one Redis."""

import time
import unittest

import redis

import harness


class ClientSession(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()
        cls.up = harness.Up(nodes=4)
        cls.addClassCleanup(cls.up.close)
        cls.up.start()
        cls.client = redis.Redis(port=cls.up.port, decode_responses=True)
        cls.addClassCleanup(cls.client.close)

    def setUp(self):
        self.client.flushall()

    def test_strings_and_expiry(self):
        self.assertTrue(self.client.set("a", "1", ex=100))
        self.assertEqual(self.client.get("a"), "1")
        self.assertEqual(self.client.incr("a", 41), 42)
        self.assertGreater(self.client.ttl("a"), 90)
        self.assertIsNone(self.client.get("missing"))
        self.assertTrue(self.client.set("gone", "1", px=30))
        time.sleep(0.1)
        self.assertIsNone(self.client.get("gone"))

    def test_binary_values_are_untouched(self):
        raw = redis.Redis(port=self.up.port)
        value = bytes(range(256)) * 300
        raw.set(b"key\r\n\x00", value)
        self.assertEqual(raw.get(b"key\r\n\x00"), value)
        raw.close()

    def test_collections(self):
        self.client.rpush("list", "a", "b", "c")
        self.assertEqual(self.client.lrange("list", 0, -1), ["a", "b", "c"])
        self.client.hset("hash", mapping={"f": "1", "g": "2"})
        self.assertEqual(self.client.hgetall("hash"), {"f": "1", "g": "2"})
        self.client.sadd("set", "x", "y")
        self.assertEqual(self.client.smembers("set"), {"x", "y"})
        self.client.zadd("sorted", {"low": 1, "high": 2})
        self.assertEqual(self.client.zrange("sorted", 0, -1, withscores=True),
                         [("low", 1.0), ("high", 2.0)])
        self.client.xadd("stream", {"field": "value"})
        self.assertEqual(self.client.xlen("stream"), 1)

    def test_many_keys_over_all_nodes(self):
        keys = {f"many:{i}": str(i) for i in range(200)}
        self.client.mset(keys)
        self.assertEqual(self.client.mget(list(keys) + ["missing"]), [*keys.values(), None])
        self.assertEqual(self.client.exists(*keys), 200)
        self.assertEqual(self.client.dbsize(), 200)
        self.assertEqual(self.client.delete(*list(keys)[:150], "missing"), 150)
        self.assertEqual(self.client.unlink(*list(keys)[150:]), 50)
        self.assertEqual(self.client.dbsize(), 0)

    def test_keys_are_on_several_nodes(self):
        for i in range(200):
            self.client.set(f"spread:{i}", i)
        counts = []
        for port in self.up.node_ports().values():
            with harness.Redis(port) as server:
                counts.append(server.call("DBSIZE"))
        self.assertEqual(len(counts), 4)
        for count in counts:  # the ownership marker is one more
            self.assertGreater(count, 20)

    def test_one_hash_tag_works_together(self):
        self.client.set("{user7}:a", "1")
        self.client.set("{user7}:b", "2")
        self.assertTrue(self.client.renamenx("{user7}:a", "{user7}:c"))
        self.client.sadd("{s}1", "x", "y")
        self.client.sadd("{s}2", "y", "z")
        self.assertEqual(self.client.sinter("{s}1", "{s}2"), {"y"})

    def test_keys_of_several_tokens_are_refused_with_a_reason(self):
        self.client.sadd("s1", "x")
        with self.assertRaises(redis.ResponseError) as raised:
            self.client.sinter(*(f"s{i}" for i in range(20)))
        self.assertIn("sinter", str(raised.exception).lower())

    def test_what_cannot_be_routed_is_refused_by_name(self):
        for command in (["KEYS", "*"], ["SCRIPT", "FLUSH"], ["CONFIG", "SET", "save", ""],
                        ["NOSUCHCOMMAND", "x"], ["SHUTDOWN"], ["SELECT", "1"]):
            with self.subTest(command), self.assertRaises(redis.ResponseError) as raised:
                self.client.execute_command(*command)
            self.assertIn(command[0].lower(), str(raised.exception).lower())
        self.assertTrue(self.client.ping(), "the connection goes on working")

    def test_the_ownership_marker_is_out_of_reach(self):
        self.client.flushall()
        for command in (["GET", "cleave:{owner}"], ["DEL", "cleave:{owner}"],
                        ["SET", "cleave:{owner}", "x"]):
            with self.subTest(command), self.assertRaises(redis.ResponseError):
                self.client.execute_command(*command)
        for port in self.up.node_ports().values():
            with harness.Redis(port) as server:
                self.assertEqual(server.call("EXISTS", "cleave:{owner}"), 1)

    def test_pipeline_keeps_order(self):
        with self.client.pipeline(transaction=False) as pipe:
            for i in range(500):
                pipe.set(f"p:{i}", i)
                pipe.get(f"p:{i}")
            answers = pipe.execute()
        self.assertEqual(answers[1::2], [str(i) for i in range(500)])

    def test_an_error_reply_is_the_servers_own(self):
        self.client.set("text", "x")
        with self.assertRaises(redis.ResponseError) as raised:
            self.client.incr("text")
        self.assertIn("not an integer", str(raised.exception))

    def test_help_names_what_the_router_answers(self):
        self.assertIn("CLEAVE.HELP", self.client.execute_command("CLEAVE.HELP"))
        self.assertIn("cleave.help", self.client.command())

    def test_where_tells_the_node_that_has_the_key(self):
        ports = self.up.node_ports()
        for key in ("where:1", "where:2", "where:3"):
            self.client.set(key, "v")
            told = self.client.execute_command("CLEAVE.WHERE", key)
            where = dict(zip(told[::2], told[1::2]))
            with harness.Redis(ports[where["owner"]]) as server:
                self.assertEqual(server.call("GET", key), b"v")
            self.assertEqual(where["address"].rpartition(":")[2], str(ports[where["owner"]]))
            self.assertEqual(where["token"], self.up.get(f"/locate?key={key}")["token"])
            self.assertEqual((where["moving"], where["to"]), ("no", ""))
        with self.assertRaises(redis.ResponseError):
            self.client.execute_command("CLEAVE.WHERE")

    def test_basics_of_a_connection(self):
        self.assertTrue(self.client.ping())
        self.assertEqual(self.client.echo("hello"), "hello")
        self.assertIn("get", self.client.command())
        self.assertIsInstance(self.client.info(), dict)


class Malformed(unittest.TestCase):
    def test_one_bad_client_hurts_nobody_else(self):
        with harness.Up(nodes=2) as up, harness.Redis(up.port) as good:
            good.call("SET", "a", "1")
            for bytes_sent in (b"*1\r\n$-5\r\n", b"*9999999999\r\n", b"*2\r\n$3\r\nGET\r\n:1\r\n",
                               b"*1\r\n$x\r\n"):
                with self.subTest(bytes_sent):
                    bad = harness.Redis(up.port)
                    bad.socket.sendall(bytes_sent)
                    with self.assertRaises(harness.Redis.ReplyError):
                        bad.read()
                    self.assertEqual(bad.file.read(1), b"", "the connection is closed")
                    bad.close()
                    self.assertEqual(good.call("GET", "a"), b"1")


if __name__ == "__main__":
    unittest.main()
