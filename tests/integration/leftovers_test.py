#!/usr/bin/env python3
"""What moves leave behind, on real servers: what a person reads of it and does about it, and that
the last copy of a key is never deleted unasked."""

import json
import os
import re
import subprocess
import time
import unittest

import harness
from recovery_test import Router
from serve_test import Servers

KEYS = 500


class Pool(unittest.TestCase):
    """Two servers and a router, with what the tests ask and order."""

    def setUp(self):
        self.servers = Servers(2)
        self.addCleanup(self.servers.close)
        self.router = Router(self.servers, os.path.join(self.servers.base, "router"))
        self.addCleanup(self.router.close)
        with open(self.router.config, "a", encoding="utf-8") as config:
            config.write("limits: {copy_bytes_per_second: 200000}\n")

    def begin(self):
        self.router.start()
        self.router.leading()
        self.router.post("/adopt")

    def at(self, index, *command):
        with harness.Redis(self.servers.ports[index]) as server:
            return server.call(*command)

    def ranges(self, node):
        return [{"first": entry["first"], "last": entry["last"]}
                for entry in self.router.get("/ring")["entries"] if entry["node"] == node]

    def order(self, ranges, target):
        return self.order_move({"ranges": ranges, "to": target})

    def order_move(self, what):
        """Ordered again where a busy disk kept the coordinator from taking it in time."""
        def ordered():
            try:
                return self.router.post("/moves", what)["move"]
            except harness.AdminError as error:
                if error.status != 503 or "coordinator: it does not answer" not in str(error):
                    raise
                return None
        return harness.wait_for("the order", ordered, 60)

    def fill(self, keys=KEYS, size=2_000):
        """Values that DUMP cannot compress: the limit of the copies is one of real bytes."""
        with harness.Redis(self.router.port) as client:
            for first in range(0, keys, 2_000):
                client.pipeline([("SET", f"k{i}", os.urandom((size + 1) // 2).hex())
                                 for i in range(first, min(first + 2_000, keys))])

    def readable(self):
        with harness.Redis(self.router.port) as client:
            found = client.pipeline([("GET", f"k{i}") for i in range(KEYS)])
        return sum(value is not None for value in found)

    def restart_empty(self, index):
        process = self.servers.processes[index]
        process.kill()
        process.wait()
        port = self.servers.ports[index]
        self.servers.processes[index] = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
             "--appendonly", "no", "--dir", self.servers.base],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        harness.wait_for("redis", lambda: Servers.answers(port))

    def troubles(self, code):
        return [t for t in self.router.get("/status")["troubles"] if t["code"] == code]

    def status(self):
        """`cleave status`, which is never wider than a terminal."""
        text = self.router.cleave("status")
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        return text

    def metric(self, sample):
        found = re.search(rf"(?m)^{re.escape(sample)} (\d+)$", self.router.get("/metrics"))
        return int(found[1]) if found else None


class Leftovers(Pool):
    """The server that a range was moved to is lost before the source is cleaned, or the source says
    no to that."""

    def all_on_n0(self):
        self.begin()
        self.order(self.ranges("n1"), "n0")
        self.router.settled()
        self.fill()

    def committed_uncleaned(self):
        """All keys have moved from n0 to n1, and n0 does not let itself be cleaned."""
        self.all_on_n0()
        for _ in range(8):
            move = self.order(self.ranges("n0"), "n1")
            harness.wait_for("copies", lambda: self.at(1, "DBSIZE") > 10)
            self.at(0, "ACL", "SETUSER", "default", "-unlink", "-client|list")
            harness.wait_for("the commit", lambda: not self.ranges("n0"))
            time.sleep(0.3)
            if self.router.get("/moves")["leftovers"] and len(self.at(0, "KEYS", "k*")) == KEYS:
                return move
            # The cleaning was faster than we were.
            self.at(0, "ACL", "SETUSER", "default", "+unlink", "+client|list")
            self.router.settled()
            self.order(self.ranges("n1"), "n0")
            self.router.settled()
        raise AssertionError("every move was cleaned before that could be forbidden")

    def test_a_cleaning_that_is_refused_is_told_where_one_looks(self):
        move = self.committed_uncleaned()
        trouble = harness.wait_for("the trouble", lambda: self.troubles("leftover-waits"), 25)[0]
        self.assertEqual((trouble["node"], trouble["move"]), ("n0", move))
        self.assertIn("NOPERM", trouble["text"])
        self.assertIn(f"! node n0: what move {move} left there cannot be cleaned", self.status())
        self.assertIn("left there cannot be cleaned: ", self.router.log_text())
        self.assertEqual(self.metric('cleave_trouble{kind="leftover-waits"}'), 1)
        self.at(0, "ACL", "SETUSER", "default", "+unlink", "+client|list")
        harness.wait_for("its end", lambda: not self.troubles("leftover-waits"), 25)
        self.router.settled()
        self.assertEqual(self.at(0, "KEYS", "k*"), [])
        self.assertEqual(self.readable(), KEYS)
        self.assertIn("left there is being cleaned, or is gone", self.router.log_text())

    def kept(self):
        move = self.committed_uncleaned()
        self.restart_empty(1)
        self.at(0, "ACL", "SETUSER", "default", "+unlink", "+client|list")
        harness.wait_for("the trouble", lambda: self.troubles("leftover-kept"), 25)
        return move

    def test_a_range_is_taken_back_from_a_server_that_came_back_empty(self):
        move = self.kept()
        self.assertEqual(self.readable(), 0)
        told = self.status()
        self.assertIn(f"! node n0 keeps its copy of move {move}", told)
        for command in ("cleave adopt", f"cleave leftovers --take-back {move}",
                        f"cleave leftovers --clean {move}"):
            self.assertIn(f"`{command}`", told)
        self.assertIn(f"warning node n0 keeps its copy of move {move}", self.router.log_text())
        self.assertEqual(self.metric('cleave_leftovers{state="kept"}'), 1)
        self.assertEqual(self.metric('cleave_trouble{kind="leftover-kept"}'), 1)
        self.router.cleave("adopt", "--yes")
        self.router.cleave("leftovers", "--take-back", str(move))
        harness.wait_for("no leftover", lambda: not self.router.get("/moves")["leftovers"])
        self.assertEqual(self.readable(), KEYS)
        self.assertEqual(self.at(1, "KEYS", "k*"), [])
        self.assertEqual(self.ranges("n1"), [])
        record = self.router.get("/moves")["ended"][0]
        self.assertEqual((record["end"], record["destination"]), ("committed", "n0"))
        self.assertLess(record["took_ms"], 60_000)
        harness.wait_for("its end", lambda: not self.troubles("leftover-kept"))
        self.assertNotIn("keeps its copy", self.status())

    def test_what_is_given_up_is_deleted_but_for_last_copies(self):
        move = self.kept()
        self.router.post("/adopt")
        with harness.Redis(self.router.port) as client:
            client.pipeline([("SET", f"k{i}", "new") for i in range(KEYS - 3)])
        self.router.cleave("leftovers", "--clean", str(move))
        harness.wait_for("no leftover", lambda: not self.router.get("/moves")["leftovers"])
        self.assertEqual(sorted(self.at(0, "KEYS", "k*")),
                         sorted(f"k{i}".encode() for i in range(KEYS - 3, KEYS)))
        cleaned = [d["reason"] for d in self.router.get("/decisions")["decisions"]
                   if d["kind"] == "cleaned"][0]
        self.assertIn("3 keys stay where they are, as strays", cleaned)
        self.assertIn(f"'k{KEYS - 1}'", cleaned)
        self.router.cleave("strays", "--to-owner")
        self.assertEqual(self.readable(), KEYS)

    def test_last_copies_go_where_a_person_says_so(self):
        move = self.kept()
        self.router.cleave("leftovers", "--also-last-copies", code=2)
        self.router.cleave("leftovers", "--clean", str(move), "--also-last-copies")
        harness.wait_for("no leftover", lambda: not self.router.get("/moves")["leftovers"])
        self.assertEqual(self.at(0, "KEYS", "k*"), [])


class Restored(Pool):
    """A ring that was saved while a move was under way which was committed afterwards."""

    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.servers.base, "saved")

    def late_key(self, keys):
        """One that a walk over the first 20,000 keys of n1 does not meet."""
        seen, cursor = set(), b"0"
        with harness.Redis(self.servers.ports[1]) as server:
            while len(seen) < 26_000:
                cursor, page = server.call("SCAN", cursor, "COUNT", 1_000)
                seen.update(page)
        late = [key for key in keys if key.encode() not in seen]
        self.assertTrue(late)
        return late[0]

    def test_the_last_copy_of_an_acknowledged_write_stays(self):
        router = self.router
        with open(router.config, encoding="utf-8") as config:
            text = config.read()
        with open(router.config, "w", encoding="utf-8") as config:
            config.write(text[: text.index("limits:")])
        self.begin()
        self.fill(160_000, 1)
        router.cleave("ring", "save", self.file)
        names = [f"k{i}" for i in range(60)]
        keys = [key for key in names if router.get(f"/locate?key={key}")["node"] == "n0"][:12]
        tokens = {key: router.get(f"/locate?key={key}")["token"] for key in keys}
        for key in keys:
            self.order_move({"key": key, "to": "n1"})
            router.settled()
        key = self.late_key(keys)
        back = [{"first": tokens[k], "last": tokens[k]} for k in keys if k != key]
        self.order(back, "n0")
        router.settled()
        with harness.Redis(router.port) as client:
            client.call("SET", key, "acknowledged")
        router.stop()
        self.edit(tokens[key])
        for end in ("", "-wal", "-shm"):
            if os.path.exists(router.ring_file + end):
                os.remove(router.ring_file + end)
        router.start(ready=False)
        router.held()
        looked = router.cleave("ring", "restore", self.file, "--dry-run")
        self.assertIn("1 of them not at their owner", looked)
        self.assertIn(f"are not at their owner ({key})", looked)
        self.assertIn("--force", router.cleave("ring", "restore", self.file, code=1))
        router.cleave("ring", "restore", self.file, "--force")
        router.wait_ready()
        router.leading()
        router.post("/resume")
        move = router.get("/moves")["leftovers"][0]["move"]
        harness.wait_for("the trouble", lambda: self.troubles("leftover-kept"), 25)
        self.assertIn(f"`cleave leftovers --clean {move}`", self.status())
        router.cleave("leftovers", "--clean", str(move))
        harness.wait_for("no leftover", lambda: not router.get("/moves")["leftovers"])
        self.assertEqual([self.at(0, "GET", key), self.at(1, "GET", key)], [None, b"acknowledged"])
        router.cleave("strays", "--to-owner")
        with harness.Redis(router.port) as client:
            self.assertEqual(client.call("GET", key), b"acknowledged")

    def edit(self, token):
        """A move of that token from n0 to n1 is under way in the saved ring."""
        with open(self.file, encoding="utf-8") as saved:
            ring = json.load(saved)
        document = ring["document"]
        numbers = {node["name"]: node["id"] for node in document["nodes"]}
        document["moves"] = [
            {"id": document["epoch"], "ranges": [[token, token]], "source": numbers["n0"],
             "destination": numbers["n1"], "phase": "copying", "phase_epoch": document["epoch"],
             "reason": "hot", "started": 1_760_000_000_000}]
        with open(self.file, "w", encoding="utf-8") as saved:
            json.dump(ring, saved)


if __name__ == "__main__":
    harness.require_binary()
    unittest.main()
