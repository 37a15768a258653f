#!/usr/bin/env python3
"""Keys that lie where the ring does not look for them: told at adoption and all the time, never
deleted, and never forgotten with a node."""

import json
import os
import subprocess
import threading
import time
import unittest
import zlib

import harness
from operator_test import HotKeys
from serve_test import Serve, Servers

KEYS = 3_000


def run(serve, *words):
    return subprocess.run([harness.CLEAVE, *words, "--admin", f"127.0.0.1:{serve.admin_port}"],
                          capture_output=True, text=True, timeout=60, check=False)


class Strays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def pool(self, count):
        self.servers = Servers(count)
        self.addCleanup(self.servers.close)
        serve = Serve(self.servers)
        self.addCleanup(serve.close)
        return serve

    def on(self, index, *command):
        with harness.Redis(self.servers.ports[index]) as server:
            return server.call(*command)

    def keys_on(self, index):
        return {key for key in self.on(index, "KEYS", "*") if not key.startswith(b"cleave:{")}

    @staticmethod
    def key_of(serve, node, prefix="k"):
        """A key that the ring gives to the node."""
        for number in range(1_000):
            key = f"{prefix}{number}"
            if serve.get(f"/locate?key={key}")["node"] == node:
                return key
        raise AssertionError("no key of that node")

    @staticmethod
    def strays_of(serve, node):
        found = next(each for each in serve.get("/status")["nodes"] if each["name"] == node)
        return found.get("strays", {"seen": None, "whole": False})

    def test_a_ring_that_does_not_fit_the_data_is_not_adopted(self):
        serve = self.pool(3)
        for index in range(3):
            keys = [f"user:{i}" for i in range(KEYS) if zlib.crc32(b"user:%d" % i) % 3 == index]
            with harness.Redis(self.servers.ports[index]) as server:
                server.pipeline([["SET", key, "x"] for key in keys])
        serve.start()
        serve.leading()
        survey = serve.get("/adopt")
        seen = sum(node["strays"]["seen"] for node in survey["nodes"])
        self.assertTrue(all(node["strays"]["whole"] for node in survey["nodes"]))
        self.assertEqual(seen, sum(
            serve.get(f"/locate?key=user:{i}")["node"] != f"n{zlib.crc32(b'user:%d' % i) % 3}"
            for i in range(KEYS)))
        self.assertEqual(survey["fits"]["scheme"], "modulo")
        self.assertEqual(survey["fits"]["scheme_options"], {"hash": "crc32"})
        self.assertEqual(survey["fits"]["elsewhere"], 0)
        with self.assertRaisesRegex(harness.AdminError, "HTTP 409.*not where this ring looks.*"
                                    "modulo with hash crc32"):
            serve.post("/adopt")
        told = run(serve, "adopt", "--yes")
        self.assertEqual(told.returncode, 1)
        self.assertIn("ring: {scheme: modulo, hash: crc32}", told.stdout)
        self.assertEqual(self.on(0, "EXISTS", "cleave:{owner}"), 0)
        # A person may know better; then they are counted, and stay.
        self.assertEqual(run(serve, "adopt", "--yes", "--force").returncode, 0)
        self.assertEqual(sum(self.strays_of(serve, f"n{i}")["seen"] for i in range(3)), seen)
        listed = json.loads(run(serve, "strays", "--json").stdout)
        self.assertEqual(sum(node["strays"] for node in listed["nodes"]), seen)
        metric = [line for line in serve.get("/metrics").splitlines()
                  if line.startswith("cleave_node_strays{")]
        self.assertEqual(sum(int(line.split()[-1]) for line in metric), seen)
        self.assertEqual(sum(len(self.keys_on(i)) for i in range(3)), KEYS)

    def test_keys_of_other_databases_are_told_before_adoption(self):
        serve = self.pool(2)
        with harness.Redis(self.servers.ports[1]) as server:
            server.call("SELECT", 2)
            server.call("SET", "session", "x")
        serve.start()
        serve.leading()
        with self.assertRaisesRegex(harness.AdminError, r"node n1.*in database 2 \(1 key\)"):
            serve.post("/adopt")
        serve.post("/adopt", {"nodes": ["n0"]})
        serve.post("/adopt", {"force": True})
        self.assertEqual(self.on(1, "EXISTS", "cleave:{owner}"), 1)

    def test_a_pool_that_serves_names_the_scheme_that_fits_and_other_databases(self):
        serve = self.pool(3)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        self.assertIsNone(serve.get("/status")["fits"])
        harness.wait_for("a look at every node", lambda: all(
            self.strays_of(serve, f"n{i}")["whole"] for i in range(3)), 10)
        for index in range(3):
            with harness.Redis(self.servers.ports[index]) as server:
                server.pipeline([["SET", f"user:{i}", "x"] for i in range(KEYS)
                                 if zlib.crc32(b"user:%d" % i) % 3 == index])
        with harness.Redis(self.servers.ports[0]) as server:
            server.call("SELECT", 3)
            server.pipeline([["SET", f"d{i}", "x"] for i in range(500)])
        fits = harness.wait_for("the scheme", lambda: serve.get("/status")["fits"], 20)
        self.assertEqual((fits["scheme"], fits["scheme_options"]), ("modulo", {"hash": "crc32"}))
        status = serve.get("/status")
        n0 = next(node for node in status["nodes"] if node["name"] == "n0")
        self.assertEqual(n0["other_databases"], [{"database": 3, "keys": 500}])
        harness.wait_for("the trouble", lambda: any(
            "database 3" in trouble["text"] for trouble in serve.get("/status")["troubles"]), 20)
        shown = run(serve, "status").stdout
        self.assertIn("ring: {scheme: modulo, hash: crc32}", shown)
        self.assertIn("in database 3 (500 keys)", " ".join(shown.split()))
        told = [d["reason"] for d in serve.get("/decisions")["decisions"] if d["kind"] == "strays"]
        self.assertTrue(any("modulo with hash crc32" in reason for reason in told), told)
        self.assertFalse(any(" of 0 keys" in reason for reason in told), told)
        log = serve.log_text()
        self.assertIn("modulo with hash crc32", log)
        self.assertIn("in database 3 (500 keys)", log)

    def test_adoption_warns_of_scripts(self):
        serve = self.pool(2)
        serve.start()
        serve.leading()
        self.on(1, "EVAL", "return redis.call('SET', KEYS[1], 1)", 1, "k")
        self.on(1, "FLUSHALL")
        harness.wait_for("the count", lambda: serve.get("/adopt")["nodes"][1]["scripts"], 10)
        told = run(serve, "adopt", "--yes")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("node n1: scripts or functions were run here since the server's start: "
                      "eval once\n", told.stdout)
        self.assertNotIn("node n0: scripts", told.stdout)
        self.assertIn("Scripts must name every key", told.stdout)

    def test_strays_that_appear_are_told_until_they_are_gone(self):
        serve = self.pool(2)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        stray = self.key_of(serve, "n0")
        self.on(1, "SET", stray, "bypassed")
        harness.wait_for("the stray", lambda: self.strays_of(serve, "n1")["seen"] == 1, 10)
        strays = self.strays_of(serve, "n1")
        self.assertEqual(strays["examples"][0], {"key": stray, "key_hex": stray.encode().hex(),
                                                 "owner": "n0"})
        self.assertGreater(strays["since_ms"], 0)
        status = " ".join(run(serve, "status").stdout.split())  # it is folded at 80 columns
        self.assertIn(f'"{stray}" (it looks at n0)', status)
        told = [d for d in serve.get("/decisions")["decisions"] if d["kind"] == "strays"]
        self.assertEqual(told[0]["subject"], "node n1")
        self.on(1, "DEL", stray)
        harness.wait_for("nothing", lambda: self.strays_of(serve, "n1")["seen"] == 0, 10)

    def test_a_node_is_not_forgotten_with_keys_on_its_server(self):
        serve = self.pool(2)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        stray = self.key_of(serve, "n0")
        self.on(1, "SET", stray, "only here")
        owned = [{"first": each["first"], "last": each["last"]}
                 for each in serve.get("/ring")["entries"] if each["node"] == "n1"]
        serve.post("/moves", {"ranges": owned, "to": "n0"})
        serve.settled()
        refused = run(serve, "node", "remove", "n1")
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"1 keys are left at node 'n1', e.g. \"{stray}\"", refused.stderr)
        self.assertEqual(self.keys_on(1), {stray.encode()})
        self.assertEqual(run(serve, "node", "remove", "n1", "--force").returncode, 0)
        self.assertEqual([node["name"] for node in serve.get("/status")["nodes"]], ["n0"])

    def strays_at(self, serve, *commands):
        """Writes at n1 what the ring looks for at n0; the keys."""
        keys = []
        for number, command in enumerate(commands):
            keys.append(self.key_of(serve, "n0", prefix=f"s{number}:"))
            self.on(1, command[0], keys[-1], *command[1:])
        return keys

    def test_strays_go_to_their_owner_and_never_over_a_key(self):
        serve = self.pool(2)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        text, hash_key, short, taken = self.strays_at(
            serve, ["SET", "one"], ["HSET", "f", "v"], ["SET", "short", "PX", 600_000],
            ["SET", "old"])
        with harness.Redis(serve.port) as client:
            client.call("SET", taken, "a client's")
        told = run(serve, "strays", "--to-owner")
        self.assertEqual(told.returncode, 1, "one stays")
        self.assertIn("3 strays moved to their owners", told.stdout)
        self.assertIn(f'stays: "{taken}": its owner has a key of that name', told.stdout)
        with harness.Redis(serve.port) as client:
            self.assertEqual(client.call("GET", text), b"one")
            self.assertEqual(client.call("HGET", hash_key, "f"), b"v")
            self.assertGreater(client.call("PTTL", short), 500_000)
            self.assertEqual(client.call("GET", taken), b"a client's")
        self.assertEqual(self.keys_on(1), {taken.encode()})
        self.assertEqual(self.on(1, "GET", taken), b"old")
        self.assertEqual(self.strays_of(serve, "n1")["seen"], 1)
        # A copy that is there already, of an order that broke off, is no obstacle.
        self.on(1, "SET", text, "one")
        self.assertIn("1 strays moved", run(serve, "strays", "--to-owner").stdout)

    def test_strays_are_set_aside_into_a_file(self):
        serve = self.pool(2)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        plain, timed = self.strays_at(serve, ["SET", b"\x00\xff"], ["SET", "t", "PX", 600_000])
        mine = self.key_of(serve, "n1")
        self.on(1, "SET", mine, "where it belongs")
        path = os.path.join(self.servers.base, "aside")
        told = run(serve, "strays", "--set-aside", path, "--json")
        self.assertEqual(json.loads(told.stdout.splitlines()[-1])["handled"], 2)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(self.keys_on(1), {mine.encode()})
        with open(path, encoding="ascii") as file:
            lines = [json.loads(line) for line in file]
        by_key = {bytes.fromhex(line["key_hex"]).decode(): line for line in lines}
        self.assertEqual(set(by_key), {plain, timed})
        self.assertEqual(by_key[plain]["expires_at_ms"], 0)
        self.assertGreater(by_key[timed]["expires_at_ms"], 0)
        self.on(1, "RESTORE", plain, 0, bytes.fromhex(by_key[plain]["dump_hex"]))
        self.assertEqual(self.on(1, "GET", plain), b"\x00\xff")
        # Never over a file that is there.
        again = run(serve, "strays", "--set-aside", path)
        self.assertEqual(again.returncode, 1)
        self.assertIn("name a new file", again.stderr)
        self.assertEqual(self.on(1, "EXISTS", plain), 1)

    def test_where_scripts_make_up_keys_the_balancer_waits_for_a_person(self):
        self.servers = Servers(2)
        self.addCleanup(self.servers.close)
        serve = Serve(self.servers, balance="{mode: auto, constants: {hot_capacity_ppm: 5000}}")
        self.addCleanup(serve.close)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        hot = HotKeys(serve, "n0")
        self.addCleanup(hot.stop)
        script = "return redis.call('INCR', KEYS[1] .. ':made-up')"
        with harness.Redis(serve.port) as client:
            for key in hot.keys:
                client.call("EVAL", script, 1, key)
        harness.wait_for("strays", lambda: self.strays_of(serve, "n0").get("grew_ms"), 10)
        told = harness.wait_for("a move that waits", lambda: [
            d for d in serve.get("/decisions")["decisions"]
            if d["kind"] == "nothing" and d["reason"].startswith("scripts: ")], 40, 0.2)
        self.assertIn("it would be: ", told[0]["reason"])
        self.assertEqual(serve.get("/moves")["ended"], [])
        # Which ranges those were is forgotten with the router, that they may be named is not.
        hot.stop()
        serve.stop()
        serve.start()
        serve.leading()
        hot = HotKeys(serve, "n0")
        self.addCleanup(hot.stop)
        harness.wait_for("strays", lambda: self.strays_of(serve, "n0").get("grew_ms"), 10)
        self.assertFalse(self.strays_of(serve, "n0")["since_exact"])
        told = harness.wait_for("a move that waits again", lambda: [
            d for d in serve.get("/decisions")["decisions"]
            if "before this leader's time" in d["reason"]], 40, 0.2)
        self.assertTrue(told[0]["reason"].startswith("scripts: "), told)
        self.assertEqual(serve.get("/moves")["ended"], [])
        self.assertIn("strays are known now", run(serve, "strays", "--accept").stdout)
        harness.wait_for("the move", lambda: serve.get("/moves")["ended"], 40, 0.2)
        strays = self.strays_of(serve, "n0")
        self.assertGreater(strays["accepted"], 0)
        self.assertEqual(strays["grew_ms"], 0)

    def warned(self, serve, number):
        """Whether an order to move that key's place is warned of."""
        key = f"limit{number}"
        owner = serve.get(f"/locate?key={key}")["node"]
        before = self.warnings(serve)
        serve.post("/moves", {"key": key, "to": "n1" if owner == "n0" else "n0"})
        serve.settled()
        return len(self.warnings(serve)) - len(before)

    @staticmethod
    def warnings(serve):
        return [d for d in serve.get("/decisions")["decisions"]
                if d["kind"] == "warning" and d["reason"].startswith("scripts: ")]

    def test_an_order_is_warned_of_also_after_a_restart(self):
        serve = self.pool(2)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        script = "return redis.call('INCR', KEYS[1] .. ':' .. ARGV[1])"
        with harness.Redis(serve.port) as client:
            for number in range(60):
                client.call("EVAL", script, 1, f"limit{number}", "w1")

        def seen():
            return sum(self.strays_of(serve, node)["seen"] or 0 for node in ("n0", "n1"))

        harness.wait_for("strays", lambda: seen() > 10, 10)
        self.assertEqual(self.warned(serve, 1), 1)
        serve.stop()
        serve.start()
        serve.leading()
        harness.wait_for("strays", lambda: seen() > 10, 10)
        self.assertEqual(self.warned(serve, 2), 1)
        self.assertIn("strays are known now", run(serve, "strays", "--accept").stdout)
        serve.stop()
        serve.start()
        serve.leading()
        harness.wait_for("strays", lambda: seen() > 10, 10)
        # What the two moves left behind is accepted too; that a move makes more strays is not.
        self.assertEqual(self.warned(serve, 3), 0)

    def test_assess_looks_at_the_keys_of_servers(self):
        serve = self.pool(2)
        for index in range(2):
            with harness.Redis(self.servers.ports[index]) as server:
                server.pipeline([["SET", f"key:{i}", "x"] for i in range(400)
                                 if zlib.crc32(b"key:%d" % i) % 2 == index])
        self.on(0, "EVAL", "return 1", 0)

        def assess(*more):
            told = subprocess.run([harness.CLEAVE, "assess", "--config", serve.config, "--servers",
                                   "--seconds", "1", *more],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(told.returncode, 0, told.stderr)
            return told

        def look(answer):
            keys = answer["servers_keys"]
            self.assertEqual(keys["looked"], 400)
            self.assertGreater(keys["elsewhere"], 100)
            self.assertEqual(keys["fits"]["scheme"], "modulo")
            self.assertEqual(keys["nodes"][0]["scripts"], [{"command": "eval", "calls": 1}])
            self.assertEqual(keys["nodes"][1]["scripts"], [])

        # Nobody asks for a key.
        told = assess("--json")
        look(json.loads(told.stdout))
        self.assertIn("no server was asked for a key", told.stderr)
        told = assess()
        self.assertIn("are not where this ring looks", told.stdout)
        self.assertIn("the scheme modulo", told.stdout)
        self.assertIn("node n0: scripts or functions were run here since the server's start: "
                      "eval once\n", told.stdout)
        self.assertIn("Scripts must name every key", told.stdout)

        # Nobody may watch.
        self.on(1, "ACL", "SETUSER", "default", "-monitor")
        told = subprocess.run([harness.CLEAVE, "assess", "--config", serve.config, "--servers",
                               "--json"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(told.returncode, 3)
        refused = json.loads(told.stdout)
        look(refused)
        self.assertRegex(refused["error"]["message"], "^server 'n1': it refused: NOPERM.*command$")
        self.on(1, "ACL", "SETUSER", "default", "+monitor")

        ends = threading.Event()

        def ask():
            with harness.Redis(self.servers.ports[0]) as server:
                while not ends.is_set():
                    server.call("GET", "key:1")
                    time.sleep(0.01)

        asking = threading.Thread(target=ask)
        asking.start()
        told = assess("--json")
        ends.set()
        asking.join()
        answer = json.loads(told.stdout)
        look(answer)
        self.assertGreater(answer["requests"], 10)


if __name__ == "__main__":
    unittest.main()
