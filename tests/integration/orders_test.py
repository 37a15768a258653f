#!/usr/bin/env python3
"""Orders while the coordinator is away or takes no writes: done, refused, or known later; never
carried out when nobody thinks of them any more. And who may give them."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
import unittest

import harness
from serve_test import Serve, Servers

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "fleet"))
from fleet import TOKEN, Fleet  # noqa: E402

ANSWER_S_MAX = 2.6  # two seconds and a slow machine


def run(*words, token=TOKEN):
    return subprocess.run([harness.CLEAVE, *words], capture_output=True, text=True, timeout=30,
                          check=False, env={**os.environ, "CLEAVE_TOKEN": token})


class Away(unittest.TestCase):
    """etcd, and two routers."""

    def setUp(self):
        self.fleet = Fleet("etcd", routers=2, servers=2)
        self.addCleanup(self.fleet.close)
        self.fleet.start()
        self.leader = self.fleet.leader()
        self.follower = next(r for r in self.fleet.routers if r is not self.leader)

    def refused(self, router, method, path, body=None):
        """(status, what was said) of an order that is not carried out; in time."""
        began = time.monotonic()
        with self.assertRaises(harness.AdminError) as told:
            router.request(method, path, {} if body is None else body, timeout=8)
        self.assertLess(time.monotonic() - began, ANSWER_S_MAX, f"{method} {path}")
        return told.exception.status, told.exception.body

    def test_an_order_is_carried_out_soon_or_never(self):
        key = "k"
        other = next(n["name"] for n in self.leader.get("/status")["nodes"]
                     if n["name"] != self.leader.get(f"/locate?key={key}")["node"])
        epoch = self.leader.get("/status")["epoch"]
        self.fleet.coordinator.freeze()
        orders = [(self.leader, "/freeze", None), (self.follower, "/mode", {"mode": "auto"}),
                  (self.leader, "/moves", {"key": key, "to": other}),
                  (self.follower, "/moves", {"key": key, "to": other}),
                  (self.leader, "/cuts", {"key": "c"}),
                  (self.leader, "/nodes",
                   {"name": "x", "members": ["127.0.0.1:1"], "force": True})]
        unknown = 0
        try:
            for router, path, body in orders:
                status, said = self.refused(router, "POST", path, body)
                self.assertIn(status, (503, 504), said)
                unknown += status == 504
                if status == 504:
                    self.assertIn("cleave orders", said)
            said = run("freeze", "--admin", self.follower.admin)
            self.assertIn(said.returncode, (4, 5), said.stderr)
            self.assertIn("etcd", said.stderr)
        finally:
            self.fleet.coordinator.thaw()
        harness.wait_for("the coordinator",
                         lambda: self.leader.get("/status")["coordinator"] == "ok")

        def fates():
            return {order["id"]: (order["order"], order["fate"]) for order in
                    self.leader.get("/orders")["orders"]
                    if "adopt" not in order["order"] and "observe" not in order["order"]}

        def known():
            now = fates()
            return all(fate not in ("unknown", "waiting") for _, fate in now.values()) and now

        # Those whose write was on its way when etcd stopped may have landed; each is known now.
        settled = harness.wait_for("fates", known, 20)
        time.sleep(2.5)
        self.assertEqual(fates(), settled)
        self.assertEqual(len(settled), len(orders) + 1, settled)
        document = self.leader.get("/status")
        done = [order for order, fate in settled.values() if fate == "done"]
        self.assertLessEqual(len(done), unknown + 1, settled)
        self.assertEqual(document["frozen"], any("freeze" in order for order in done), settled)
        self.assertEqual(document["mode"] == "auto", any("mode" in order for order in done))
        self.assertEqual([n["name"] for n in document["nodes"] if n["name"] == "x"] != [],
                         any("nodes" in order for order in done), settled)
        self.assertGreaterEqual(document["epoch"], epoch)
        listed = run("orders", "--admin", self.follower.admin)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("POST /mode", listed.stdout)

    def test_an_order_is_known_after_its_router_was_removed_and_joined_again(self):
        self.follower.post("/freeze")
        session = self.follower.get("/status")["session"]
        ordered = self.follower.get("/orders?here")["orders"]
        self.follower.freeze()
        try:
            harness.wait_for("its removal", lambda: session not in
                             [r["session"] for r in self.leader.get("/status")["routers"]], 30)
        finally:
            self.follower.thaw()
        harness.wait_for("a new session", lambda: (self.follower.status() or {}).get(
            "session", session) != session and self.follower.why_not_ready() is None, 30)
        again = self.follower.get("/orders?here")["orders"]
        self.assertEqual([(o["id"], o["order"], o["fate"]) for o in again],
                         [(o["id"], o["order"], o["fate"]) for o in ordered])
        listed = [o["id"] for o in self.leader.get("/orders", 5.0)["orders"]]
        self.assertEqual(len(set(listed)), len(listed))
        self.assertIn(ordered[0]["id"], listed)
        self.follower.post("/resume")

    def test_a_stopped_coordinator_is_503_with_its_reason(self):
        self.fleet.coordinator.kill()
        try:
            for router in (self.leader, self.follower, self.leader):
                status, said = self.refused(router, "POST", "/freeze")
                self.assertEqual(status, 503, said)
                self.assertIn("etcd", said)
            self.assertNotEqual(self.leader.get("/status")["coordinator"], "ok")
        finally:
            self.fleet.start_coordinator()
        self.fleet.settled()
        time.sleep(2)
        self.assertFalse(self.leader.get("/status")["frozen"])

    def test_many_who_ask_and_go_do_not_keep_out_the_others(self):
        self.fleet.coordinator.freeze()
        held = []
        try:
            for _ in range(100):
                client = socket.create_connection((self.leader.address, self.leader.admin_port))
                client.sendall(b"POST /freeze HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n"
                               b"content-type: application/json\r\n"
                               b"authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n")
                held.append(client)
            for client in held[::2]:
                client.close()
            self.assertIsNone(self.leader.why_not_ready(2.0))
            time.sleep(2.5)
            self.assertIsNotNone(self.leader.status(2.0))
        finally:
            self.fleet.coordinator.thaw()
            for client in held:
                client.close()

    def test_a_follower_passes_on_with_the_callers_token(self):
        connection = http.client.HTTPConnection(self.follower.admin, timeout=5)
        for token, wanted in ((TOKEN, 200), ("wrong", 401)):
            connection.request("GET", "/plan", headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            said = answer.read()
            self.assertEqual(answer.status, wanted, said)
        connection.close()
        orders = self.follower.get("/orders")
        self.assertEqual(orders["missing"], [])
        self.assertTrue(any(o["order"].startswith("POST /adopt") for o in orders["orders"]))


class Full(unittest.TestCase):
    """The coordinator answers, and takes no writes."""

    def test_etcd_without_space(self):
        fleet = Fleet("etcd", routers=1, servers=1)
        fleet.coordinator.argv.append("--quota-backend-bytes=2000000")
        self.addCleanup(fleet.close)
        fleet.start()
        router = fleet.leader()
        self.fill(fleet)
        trouble = harness.wait_for(
            "status to tell", lambda: "space" in router.get("/status")["coordinator"] and
            router.get("/status")["coordinator"], 20)
        self.assertRegex(trouble, r"takes no writes since 20.*space exceeded")
        began = time.monotonic()
        with self.assertRaises(harness.AdminError) as told:
            router.request("POST", "/freeze", {}, timeout=8)
        self.assertLess(time.monotonic() - began, ANSWER_S_MAX)
        self.assertEqual(told.exception.status, 503)
        self.assertIn("space exceeded", told.exception.body)
        self.assertIsNone(router.why_not_ready(), "clients are served")
        self.make_room(fleet)
        harness.wait_for("it to go on", lambda: router.get("/status")["coordinator"] == "ok", 30)
        time.sleep(1)
        self.assertFalse(router.get("/status")["frozen"], "what was refused stays undone")
        router.post("/freeze")
        self.assertTrue(router.get("/status")["frozen"])

    @staticmethod
    def call(fleet, path, body):
        where = fleet.endpoint.removeprefix("http://")
        connection = http.client.HTTPConnection(where, timeout=10)
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        said = json.loads(answer.read())
        connection.close()
        return answer.status, said

    def fill(self, fleet):
        value = "eHh4" * 100_000
        for number in range(100):
            key = f"ZmlsbC{number % 10}{number // 10}"
            status, said = self.call(fleet, "/v3/kv/put", {"key": key, "value": value})
            if status != 200:
                self.assertIn("space", said["message"])
                return
        self.fail("etcd took everything")

    def make_room(self, fleet):
        _, there = self.call(fleet, "/v3/kv/deleterange",
                             {"key": "ZmlsbAAA", "range_end": "ZmlsbP//"})
        _, there = self.call(fleet, "/v3/kv/range", {"key": "eA=="})
        self.call(fleet, "/v3/kv/compaction", {"revision": there["header"]["revision"],
                                               "physical": True})
        self.call(fleet, "/v3/maintenance/defragment", {})
        _, alarms = self.call(fleet, "/v3/maintenance/alarm", {"action": "GET"})
        for alarm in alarms.get("alarms", []):
            self.call(fleet, "/v3/maintenance/alarm", {"action": "DEACTIVATE", **alarm})


class DiskFull(unittest.TestCase):
    """The file of SQLite lies on a disk without room."""

    def setUp(self):
        self.servers = Servers(2)
        self.addCleanup(self.servers.close)
        self.disk = os.path.join(self.servers.base, "disk")
        os.mkdir(self.disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", self.disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("a small disk cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=False)
        self.serve = Serve(self.servers, name="disk/cleave")
        self.serve.directory = self.disk
        self.addCleanup(self.serve.close)
        self.serve.start()
        self.serve.leading()
        self.serve.post("/adopt")

    def refused(self, path, body):
        began = time.monotonic()
        with self.assertRaises(harness.AdminError) as told:
            self.serve.request("POST", path, body, timeout=8)
        self.assertLess(time.monotonic() - began, ANSWER_S_MAX)
        self.assertEqual(told.exception.status, 503, told.exception.body)
        self.assertRegex(told.exception.body, "full|free space")

    def test_orders_are_refused_with_the_reason_and_stay_undone(self):
        key = "k1"
        owner = self.serve.get(f"/locate?key={key}")["node"]
        other = "n1" if owner == "n0" else "n0"
        cuts = self.serve.get("/status")["cuts"]
        filler = os.path.join(self.disk, "filler")
        with self.assertRaises(OSError), open(filler, "wb", buffering=0) as out:
            while True:
                out.write(bytes(4096))
        self.refused("/freeze", {})
        self.refused("/moves", {"key": key, "to": other})
        self.refused("/cuts", {"key": key})
        told = [trouble["code"] for trouble in self.serve.get("/status")["troubles"]]
        self.assertIn("coordinator-read-only", told)
        with harness.Redis(self.serve.port) as client:
            self.assertEqual(client.call("SET", key, "v"), b"OK", "clients are served")
        os.remove(filler)
        harness.wait_for("it to go on",
                         lambda: self.serve.get("/status")["coordinator"] == "ok", 20)
        time.sleep(2)
        status = self.serve.get("/status")
        self.assertEqual((status["frozen"], status["cuts"], status["moves"]),
                         (False, cuts, []))
        self.assertEqual(self.serve.get(f"/locate?key={key}")["node"], owner)
        self.serve.post("/moves", {"key": key, "to": other})
        self.serve.settled()
        self.assertEqual(self.serve.get(f"/locate?key={key}")["node"], other)


class Door(unittest.TestCase):
    """Who may order."""

    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def setUp(self):
        self.servers = Servers(1)
        self.addCleanup(self.servers.close)
        self.serve = Serve(self.servers)
        self.addCleanup(self.serve.close)
        with open(self.serve.config, encoding="utf-8") as config:
            text = config.read()
        with open(self.serve.config, "w", encoding="utf-8") as config:
            config.write(text.replace("admin: {", "admin: {hosts: [cleave.example], "))
        self.serve.start()
        self.serve.leading()

    def ask(self, method, path, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.serve.admin_port, timeout=5)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in {"Content-Length": "0", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        return answer.status, said

    def test_a_web_page_cannot_order(self):
        json_type = {"Content-Type": "application/json"}
        for headers, wanted in (({"Content-Type": "text/plain"}, 415), ({}, 415),
                                ({"Origin": "http://evil.example", **json_type}, 403),
                                ({"Host": "evil.example", **json_type}, 421),
                                ({"Host": "cleave.example", **json_type}, 200)):
            status, said = self.ask("POST", "/freeze", headers)
            self.assertEqual(status, wanted, said)
        status, said = self.ask("GET", "/status", {"Host": "evil.example"})
        self.assertEqual(status, 421)
        self.assertIn("admin.hosts", said)
        for path in ("/ready", "/metrics"):
            self.assertEqual(self.ask("GET", path, {"Host": "anything.example"})[0], 200)
            self.assertEqual(self.ask("HEAD", path, {}), (200, ""))


class Stopped(unittest.TestCase):
    """What a person stops stays stopped; what he takes back is taken back."""

    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def setUp(self):
        self.servers = Servers(2)
        self.addCleanup(self.servers.close)
        self.serve = Serve(self.servers, limits="limits: {copy_bytes_per_second: 1048576}\n")
        self.addCleanup(self.serve.close)
        self.serve.start()
        self.serve.leading()
        self.serve.post("/adopt")
        with harness.Redis(self.serve.port) as client:
            for begin in range(0, 20_000, 500):
                # Random: what compresses well is copied in no time.
                client.pipeline([["SET", f"k{i}", os.urandom(500)]
                                 for i in range(begin, begin + 500)])

    def cleave(self, *words, code=0):
        told = subprocess.run([harness.CLEAVE, *words, "--admin",
                               f"127.0.0.1:{self.serve.admin_port}"],
                              capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(told.returncode, code, told.stdout + told.stderr)
        return told.stdout + told.stderr

    def ranges(self, node):
        return [{"first": e["first"], "last": e["last"]} for e in self.serve.get("/ring")["entries"]
                if e["node"] == node]

    def first(self, node):
        return "{first}-{last}".format(**self.ranges(node)[0])

    def move_all(self, source, target):
        """Ten seconds' work."""
        self.serve.post("/moves", {"ranges": self.ranges(source), "to": target})

    def test_moves_are_stopped_listed_and_taken_back(self):
        self.move_all("n0", "n1")
        self.assertIn("one move at a time",
                      self.cleave("move", "--range", self.first("n0"), "--to", "n1", code=4))
        self.assertIn("1 moves aborted", self.cleave("abort", "--all"))
        self.serve.settled()
        self.assertRegex(self.cleave("moves"), r"aborted\s+aborted by order\n")
        self.cleave("abort", "--all", code=1)

        self.move_all("n0", "n1")
        self.assertIn("1 aborted", self.cleave("freeze", "--abort"))
        self.assertEqual(self.serve.get("/status")["frozen"], True)
        self.assertEqual(self.serve.document()["moves"], [])
        self.cleave("resume")

        key = "k7"
        owner = self.serve.get(f"/locate?key={key}")["node"]
        other = "n1" if owner == "n0" else "n0"
        self.cleave("move", "--key", key, "--to", other)
        self.serve.settled()
        token = self.serve.get(f"/locate?key={key}")["token"]
        self.assertIn(f"{token}-{token}", self.cleave("moves"))
        self.cleave("undo", "--range", f"[{token},{token}]")
        self.serve.settled()
        self.assertEqual(self.serve.get(f"/locate?key={key}")["node"], owner)

    def test_an_aborted_drain_waits_for_a_person(self):
        self.serve.post("/mode", {"mode": "auto"})
        self.cleave("node", "drain", "n0")
        move = harness.wait_for("a move of the drain", lambda: self.serve.document()["moves"])
        self.cleave("abort", str(move[0]["id"]))
        self.serve.settled()
        time.sleep(5)
        self.assertEqual(self.serve.get("/moves")["moves"], [])
        held = [verdict for verdict in self.serve.get("/plan")["verdicts"]
                if verdict["why"] == "held"]
        self.assertEqual([verdict["node"] for verdict in held], ["n0"])
        self.assertIn("cleave node drain", held[0]["remedy"])
        self.cleave("node", "drain", "n0")
        harness.wait_for("the drain to go on", lambda: self.serve.get("/moves")["moves"])
        self.cleave("node", "undrain", "n0")
        self.cleave("abort", "--all")
        self.cleave("node", "weight", "n0", "2")
        node = next(n for n in self.serve.get("/status")["nodes"] if n["name"] == "n0")
        self.assertEqual((node["state"], node["weight"]), ("active", 2))

    def test_flatten_begins_in_mode_observe_and_ends_with_resume(self):
        self.serve.post("/mode", {"mode": "auto"})
        key = "k7"
        home = self.serve.get(f"/locate?key={key}")["node"]
        self.cleave("move", "--key", key, "--to", "n1" if home == "n0" else "n0")
        self.serve.settled()
        self.cleave("flatten")
        harness.wait_for("no cut", lambda: self.serve.get("/status")["cuts"] == 0
                         and not self.serve.document()["moves"], 60)
        self.assertEqual(self.serve.get("/status")["mode"], "observe")
        self.assertEqual(self.serve.get(f"/locate?key={key}")["node"], home)

    def test_nobody_approves_in_mode_observe_or_what_he_has_not_seen(self):
        self.assertIn("mode is observe", self.cleave("approve", "00000000", code=1))
        self.cleave("mode", "approve")
        self.assertIn("cleave plan", self.cleave("approve", "00000000", code=1))


if __name__ == "__main__":
    unittest.main()
