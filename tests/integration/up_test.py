#!/usr/bin/env python3
"""`cleave up` on real servers: a real client's session, kill -9 and adoption, orders by the command
line under load, a node that is down, and input that must harm nobody."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

import redis

import harness


def cleave(up, *args):
    """Runs a command against a running router; (exit code, its JSON object)."""
    done = subprocess.run([harness.CLEAVE, *args, "--admin", f"127.0.0.1:{up.admin_port}", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    lines = done.stdout.decode().strip().splitlines()
    return done.returncode, json.loads(lines[-1]) if lines else None


class RealClient(unittest.TestCase):
    """redis-py, as an application would use it."""

    @classmethod
    def setUpClass(cls):
        cls.up = harness.Up(nodes=4)
        cls.up.start()
        cls.client = redis.Redis(port=cls.up.port)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.up.close()

    def setUp(self):
        self.client.flushall()

    def test_strings_hashes_lists_sets(self):
        self.assertTrue(self.client.set("s", b"\x00\r\n$5\r\n\xff"))
        self.assertEqual(self.client.get("s"), b"\x00\r\n$5\r\n\xff")
        self.client.hset("h", mapping={"a": "1", "b": ""})
        self.assertEqual(self.client.hgetall("h"), {b"a": b"1", b"b": b""})
        self.client.rpush("l", *range(100))
        self.assertEqual(len(self.client.lrange("l", 0, -1)), 100)
        self.client.zadd("z", {"one": 1.5, "two": 2})
        self.assertEqual(self.client.zscore("z", "one"), 1.5)
        self.assertEqual(self.client.incrby("n", 41), 41)
        self.assertEqual(self.client.incr("n"), 42)

    def test_expiry(self):
        self.client.set("t", "v", px=80)
        self.assertGreater(self.client.pttl("t"), 0)
        time.sleep(0.15)
        self.assertIsNone(self.client.get("t"))

    def test_many_keys_in_order(self):
        keys = [f"k{i}" for i in range(1000)]
        self.assertTrue(self.client.mset({key: f"v{key}" for key in keys}))
        self.assertEqual(self.client.mget(keys), [f"v{key}".encode() for key in keys])
        self.assertEqual(self.client.dbsize(), 1000)
        self.assertEqual(self.client.exists(*keys, "none"), 1000)
        self.assertEqual(self.client.delete(*keys[:500]), 500)
        self.assertEqual(self.client.unlink(*keys), 500)
        self.assertEqual(self.client.dbsize(), 0)

    def test_pipeline_keeps_its_order(self):
        with self.client.pipeline(transaction=False) as pipe:
            for i in range(500):
                pipe.zadd("p", {"m": i})
                pipe.zremrangebyscore("p", i, i)
            replies = pipe.execute()
        self.assertEqual(replies[1::2], [1] * 500)
        self.assertEqual(self.client.exists("p"), 0)

    def test_hash_tags_go_together(self):
        self.client.sadd("{u}a", 1, 2, 3)
        self.client.sadd("{u}b", 2, 3, 4)
        self.assertEqual(self.client.sinterstore("{u}c", "{u}a", "{u}b"), 2)
        self.assertEqual(self.client.rename("{u}c", "{u}d"), True)
        with self.assertRaisesRegex(redis.ResponseError, "(?i)crossslot|hash"):
            self.client.sinter("a", "b")

    def test_scripts_by_their_declared_keys(self):
        self.assertEqual(self.client.eval("return redis.call('INCR', KEYS[1])", 1, "n"), 1)
        with self.assertRaises(redis.ResponseError):
            self.client.eval("return 1", 0)

    def test_refusals_name_the_command(self):
        for command in (("KEYS", "*"), ("BLPOP", "l", "0"), ("CONFIG", "GET", "*"),
                        ("SUBSCRIBE", "c"), ("SWAPDB", "0", "1"), ("SELECT", "1")):
            with self.assertRaisesRegex(redis.ResponseError, f"(?i){command[0]}|DB index|database"):
                self.client.execute_command(*command)
        self.assertTrue(self.client.ping())

    def test_flushall_leaves_the_marker(self):
        self.client.set("x", 1)
        self.client.flushall()
        self.assertEqual(self.client.dbsize(), 0)
        for port in self.up.node_ports().values():
            with harness.Redis(port) as server:
                self.assertIsNotNone(server.call("GET", "cleave:{owner}"))
        with self.assertRaises(redis.ResponseError):
            self.client.get("cleave:{owner}")

    def test_info_and_command(self):
        self.assertIn("redis_version", self.client.info())
        self.assertGreater(self.client.command_count(), 100)


class Life(unittest.TestCase):
    """Kill, adopt, stop, second start."""

    def test_children_outlive_a_killed_router_and_are_adopted(self):
        with harness.Up(nodes=3) as up:
            with redis.Redis(port=up.port) as client:
                client.mset({f"k{i}": i for i in range(100)})
            pids = [up.server_pid(port) for port in up.node_ports().values()]
            up.kill(signal.SIGKILL)
            for pid in pids:
                os.kill(pid, 0)
            began = time.monotonic()
            up.start()
            self.assertLess(time.monotonic() - began, 5.0)
            self.assertEqual([up.server_pid(port) for port in up.node_ports().values()], pids)
            with redis.Redis(port=up.port) as client:
                self.assertEqual(client.mget(f"k{i}" for i in range(100)),
                                 [str(i).encode() for i in range(100)])

    def test_a_clean_stop_ends_the_children_and_keeps_the_data(self):
        with harness.Up(nodes=2) as up:
            with redis.Redis(port=up.port) as client:
                client.set("kept", "yes")
            pids = [up.server_pid(port) for port in up.node_ports().values()]
            self.assertEqual(up.stop(), 0)
            for pid in pids:
                with self.assertRaises(ProcessLookupError):
                    os.kill(pid, 0)
            up.start()
            with redis.Redis(port=up.port) as client:
                self.assertEqual(client.get("kept"), b"yes")

    def test_a_second_up_on_the_directory_is_refused(self):
        with harness.Up(nodes=2) as up:
            second = subprocess.run(
                [harness.CLEAVE, "up", "--nodes", "2", "--dir", up.directory, "--port",
                 str(harness.free_port()), "--admin-port", str(harness.free_port())],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30, check=False)
            self.assertEqual(second.returncode, 2)
            self.assertIn(str(up.process.pid), second.stdout.decode())
            with redis.Redis(port=up.port) as client:
                self.assertTrue(client.ping())


class Moves(unittest.TestCase):
    """A person's orders, under verified load."""

    def test_moves_by_order_lose_nothing(self):
        with harness.Up(nodes=3) as up:
            up.leading()
            self.assertEqual(cleave(up, "mode", "observe")[0], 0)
            load = harness.Load(up, seconds=6, keys=3000)
            try:
                time.sleep(1.0)
                names = sorted(up.node_ports())
                for number in range(6):
                    key = f"key:{number}"
                    owner = cleave(up, "locate", key)[1]
                    owner = owner["keys"][0] if "keys" in owner else owner
                    target = next(name for name in names if name != owner["node"])
                    code, _ = cleave(up, "move", "--key", key, "--to", target)
                    self.assertEqual(code, 0)
                    up.settled()
                result = load.result()
            finally:
                load.kill()
            self.assertEqual(result["writes_lost"], 0)
            self.assertEqual(result["reads_wrong"], 0)
            ended = up.get("/moves")["ended"]
            self.assertEqual([record["end"] for record in ended], ["committed"] * 6)
            # And back again: flatten takes every cut back.
            self.assertEqual(cleave(up, "flatten")[0], 0)
            up.settled()

    def test_a_frozen_pool_moves_nothing(self):
        with harness.Up(nodes=2) as up:
            up.leading()
            self.assertEqual(cleave(up, "freeze")[0], 0)
            owner = up.get("/locate?key=x")["node"]
            target = next(name for name in up.node_ports() if name != owner)
            self.assertNotEqual(cleave(up, "move", "--key", "x", "--to", target)[0], 0)
            self.assertEqual(cleave(up, "resume")[0], 0)
            self.assertEqual(cleave(up, "move", "--key", "x", "--to", target)[0], 0)

    def test_a_deleted_key_does_not_come_back(self):
        with harness.Up(nodes=2) as up, redis.Redis(port=up.port) as client:
            up.leading()
            up.post("/mode", {"mode": "observe"})
            doomed = [f"doomed:{i}" for i in range(2000)]
            client.mset({key: "x" * 100 for key in doomed})
            stop = threading.Event()

            def delete():
                with redis.Redis(port=up.port) as other:
                    for key in doomed:
                        other.delete(key)
                        if stop.is_set():
                            return

            thread = threading.Thread(target=delete)
            thread.start()
            entries = up.get("/ring")["entries"]
            names = sorted(up.node_ports())
            owned = [{"first": e["first"], "last": e["last"]}
                     for e in entries if e["node"] == names[0]]
            up.post("/moves", {"ranges": owned, "to": names[1]})
            up.settled()
            thread.join(60)
            stop.set()
            self.assertEqual(client.exists(*doomed), 0)


class Faults(unittest.TestCase):
    """What breaks must not break others."""

    def test_a_node_that_is_down_fails_fast_and_alone(self):
        with harness.Up(nodes=3) as up:
            up.leading()
            keys = {}
            for i in range(200):
                keys.setdefault(up.get(f"/locate?key=k{i}")["node"], f"k{i}")
                if len(keys) == 3:
                    break
            victim, port = next(iter(up.node_ports().items()))
            pid = up.server_pid(port)
            os.kill(pid, signal.SIGSTOP)
            try:
                with harness.Redis(up.port, timeout=15) as client:
                    began = time.monotonic()
                    with self.assertRaises(harness.Redis.ReplyError):
                        client.call("GET", keys[victim])
                    self.assertLess(time.monotonic() - began, 5.0)
                    for name, key in keys.items():
                        if name != victim:
                            began = time.monotonic()
                            client.call("GET", key)
                            self.assertLess(time.monotonic() - began, 0.5)
            finally:
                os.kill(pid, signal.SIGCONT)

            def recovered():
                try:
                    with harness.Redis(up.port) as client:
                        client.call("SET", keys[victim], "again")
                        return client.call("GET", keys[victim]) == b"again"
                except harness.Redis.ReplyError:
                    return False

            harness.wait_for("the node to be back", recovered, 15)

    def test_broken_input_closes_only_its_client(self):
        with harness.Up(nodes=2) as up, redis.Redis(port=up.port) as good:
            for bad in (b"*1\r\n$99999999999\r\n", b"*x\r\n", b"*2\r\n+GET\r\n", b"\xff" * 70000):
                with socket.create_connection(("127.0.0.1", up.port), timeout=10) as client:
                    try:
                        client.sendall(bad)
                        answer = client.recv(200)
                    except ConnectionError:
                        answer = b"-ERR"
                    self.assertTrue(answer.startswith(b"-ERR"), (bad[:20], answer))
                self.assertTrue(good.ping())

    def test_empty_frames_are_passed_over(self):
        with harness.Up(nodes=2) as up, \
                socket.create_connection(("127.0.0.1", up.port), timeout=10) as client:
            client.sendall(b"*0\r\n*-1\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$0\r\n\r\n"
                           b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n")
            got = b""
            while len(got) < 11:
                got += client.recv(100)
            self.assertEqual(got, b"+OK\r\n$0\r\n\r\n")


if __name__ == "__main__":
    unittest.main()
