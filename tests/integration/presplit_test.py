#!/usr/bin/env python3
"""Load that is announced: it is spread before it is there, its cuts stay until its end, a rehearsal
changes nothing, and a pool that is too small is told so."""

import json
import os
import subprocess
import time
import unittest

import harness

# One node's: at 50 ms of server time a second each they are 3 times a node's fair share.
KEYS = 9
KEY_LOAD_NS = 50_000_000


class Presplit(harness.UpTest):
    def setUp(self):
        super().setUp()
        harness.wait_for("heat", lambda: self.up.get("/heat").get("observed_ms"))
        self.keys = self.keys_of_one_node(KEYS)
        with harness.Redis(self.up.port) as client:
            for key in self.keys:
                client.call("SET", key, "x" * 100)

    def owner(self, key):
        return self.up.get(f"/locate?key={key}")["node"]

    def keys_of_one_node(self, count):
        found, node, number = [], None, 0
        while len(found) < count:
            key = f"product:{number}"
            number += 1
            node = node or self.owner(key)
            if self.owner(key) == node:
                found.append(key)
        return found

    def cleave(self, *arguments):
        """The exit code, and the object that --json ends with."""
        program = subprocess.run(
            [harness.CLEAVE, *arguments, "--admin", f"127.0.0.1:{self.up.admin_port}", "--json"],
            capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL, check=False)
        lines = program.stdout.splitlines()
        return program.returncode, json.loads(lines[-1]) if lines else {"said": program.stderr}

    def event_file(self, start, length, load="load_ns: %d" % KEY_LOAD_NS, keys=None,
                   lead="1d"):
        path = os.path.join(self.up.base, "event.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"events:\n  - name: sale\n    start: {start}\n    for: {length}\n"
                      f"    lead: {lead}\n    expect:\n"
                      f"      - keys: {json.dumps(keys or self.keys)}\n        {load}\n")
        return path

    def pinned(self):
        now = time.time() * 1000
        return [c for c in self.up.get("/ring")["cuts"] if c["pinned_until_ms"] > now]

    def test_is_spread_before_it_is_there(self):
        code, told = self.cleave("presplit", self.event_file("+20s", "8s"), "--apply")
        self.assertEqual(code, 0, told)
        event = told["events"][0]
        self.assertEqual(event["state"], "preparing")
        self.assertEqual(event["ranges"], KEYS)
        self.assertEqual(event["load_ns"], KEYS * KEY_LOAD_NS)
        self.assertLess(told["predicted_ppm"], 1_200_000)

        # Three keys each, all of it before the load: there never was a request for them.
        def spread():
            owners = [self.owner(key) for key in self.keys]
            return max(owners.count(node) for node in set(owners)) == KEYS // 3
        harness.wait_for("the keys to be spread", spread, 18.0, 0.2)
        self.up.settled()
        self.assertLess(time.time() * 1000, event["start_ms"])
        with harness.Redis(self.up.port) as client:
            for key in self.keys:
                self.assertEqual(client.call("GET", key), b"x" * 100)

        pinned = self.pinned()
        self.assertGreaterEqual(len(pinned), 2)
        self.assertEqual({c["pinned_until_ms"] for c in pinned}, {event["end_ms"]})
        _, explained = self.cleave("explain", "--last", "50")
        reasons = [d["reason"] for d in explained["decisions"] if d["kind"] == "move"]
        self.assertTrue(reasons)
        self.assertTrue(all("presplit: " in r and "expected: sale" in r for r in reasons), reasons)
        _, listed = self.cleave("presplit", "--list")
        self.assertEqual([e["name"] for e in listed["events"]], ["sale"])
        _, status = self.cleave("status", "--ranges")
        self.assertEqual(len([c for c in status["ring"]["cuts"] if c["pinned_until_ms"]]),
                         len(pinned))

        harness.wait_for("the event to be on",
                         lambda: self.up.get("/presplit")["events"][0]["state"] == "on", 25.0, 0.2)
        harness.wait_for("the event to be forgotten",
                         lambda: not self.up.get("/presplit")["events"], 25.0, 0.2)
        self.assertEqual(self.pinned(), [])
        self.assertNotIn("expected", self.up.document())

    def test_outlives_the_router_that_was_told(self):
        code, told = self.cleave("presplit", self.event_file("+40s", "10s", lead="30s"), "--apply")
        self.assertEqual(code, 0, told)
        self.assertEqual(told["events"][0]["state"], "waiting")
        self.up.kill()
        self.up.start()
        self.assertEqual(len({self.owner(key) for key in self.keys}), 1, "it is not time yet")
        harness.wait_for("the keys to be spread",
                         lambda: len({self.owner(key) for key in self.keys}) == 3, 39.0, 0.2)

    def test_a_rehearsal_changes_nothing(self):
        before = self.up.document()
        code, told = self.cleave("presplit", self.event_file("+1h", "1h"), "--dry-run")
        self.assertEqual(code, 0, told)
        self.assertTrue(told["dry_run"])
        self.assertEqual({m["cause"] for m in told["moves"]}, {"presplit"})
        self.assertEqual(told["keys"], sum(m["keys"] for m in told["moves"]))
        self.assertGreater(told["keys"], 0)
        self.assertGreater(told["bytes"], 0)
        self.assertEqual(told["expected_ns"], KEYS * KEY_LOAD_NS)
        time.sleep(5)
        self.assertEqual(self.up.document(), before)

    def test_what_no_cut_can_help_is_said(self):
        code, told = self.cleave(
            "presplit", self.event_file("+1h", "1h", load="load_ns: 900000000",
                                        keys=self.keys[:1]), "--dry-run")
        self.assertEqual(code, 0, told)
        self.assertEqual(told["moves"], [])
        heavy = told["heavy"][0]
        self.assertEqual(heavy["key"], self.keys[0])
        self.assertEqual(heavy["load_ns"], 900_000_000)
        self.assertGreater(heavy["ppm"], 1_000_000, "more than a node's fair share")

    def test_a_pool_that_is_too_small_is_refused(self):
        path = self.event_file("+1h", "1h", load="rate: 100000")
        for what in ("--dry-run", "--apply"):
            code, told = self.cleave("presplit", path, what)
            self.assertEqual(code, 1, told)
            self.assertEqual(told["error"]["code"], "conflict")
            self.assertRegex(told["error"]["message"], r"add \d+ nodes?")
        self.assertEqual(self.up.get("/presplit")["events"], [])
        code, told = self.cleave("presplit", path, "--apply", "--force")
        self.assertEqual(code, 0, told)
        self.assertGreater(told["advice_nodes"], 0)
        self.assertEqual(self.cleave("presplit", "--forget", "sale")[0], 0)
        self.assertEqual(self.up.get("/presplit")["events"], [])
        self.assertEqual(self.cleave("presplit", "--forget", "sale")[0], 1)

    def test_a_file_with_a_mistake_names_its_line(self):
        path = self.event_file("friday", "1h")
        code, told = self.cleave("presplit", path, "--apply")
        self.assertEqual(code, 2)
        self.assertIn("event.yaml:3:12: events[0].start: want a time in UTC",
                      told["error"]["message"])
        self.assertEqual(self.cleave("presplit", path)[0], 2)
        self.assertEqual(self.cleave("presplit", path, "--apply", "--dry-run")[0], 2)
        self.assertEqual(self.cleave("presplit", path, "--list")[0], 2)

    def test_recorded_heat_is_announced_again(self):
        load = harness.Load(self.up, seconds=25, clients=8, keys=2000, zipf=0.0)
        self.addCleanup(load.kill)
        load.result()
        code, told = self.cleave("presplit", "--from-history", "--days-ago", "0", "--hours",
                                 "0-24", "--scale", "1.5", "--dry-run")
        self.assertEqual(code, 0, told)
        event = told["events"][0]
        self.assertEqual(event["state"], "on")
        self.assertRegex(event["name"], r"^replay-\d{4}-\d\d-\d\d-0h$")
        most = {}
        for point in self.up.get("/heat?from=0")["points"]:
            for strip in point["strips"]:
                most[strip["first"]] = max(most.get(strip["first"], 0), strip["load_ns"])
        self.assertEqual(event["load_ns"], sum(load * 3 // 2 for load in most.values()))
        code, told = self.cleave("presplit", "--from-history", "--days-ago", "3", "--hours",
                                 "0-24", "--dry-run")
        self.assertEqual(code, 1)
        self.assertEqual(told["error"]["code"], "not-found")

    def test_a_cut_may_be_pinned(self):
        self.assertEqual(self.cleave("cut", "--at", self.keys[0], "--pin", "1h")[0], 0)
        self.assertEqual(len(self.pinned()), 1)
        whole = {"range": {"first": "0", "last": "ffffffffffffffff"}}
        with self.assertRaises(harness.AdminError):
            self.up.post("/merges", whole)
            self.up.post("/merges", whole)
        self.assertEqual(len(self.pinned()), 1)
        self.assertEqual(self.cleave("cut", "--at", self.keys[1], "--pin", "long")[0], 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
