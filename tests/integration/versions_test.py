#!/usr/bin/env python3
"""A router that is too old for what newer ones have written: it says so, takes no part, changes
nothing, and a request through it reaches no server. The newer one is played: a ring document with
a `min_reader` that this program does not reach (docs/formats/ring-document.md, "Versions")."""

import json
import os
import sqlite3
import unittest

import harness
from serve_test import Serve, Servers

WHY = r"min_reader: want at most \d+, got \d+: written by a newer cleave, upgrade this one"


class NewerDocuments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def setUp(self):
        self.servers = Servers(2)
        self.addCleanup(self.servers.close)

    def write_newer(self, serve):
        """The next document, as a newer router writes it when the older ones are out; its text."""
        document = serve.document()
        document["epoch"] += 1
        document["min_reader"] += 100
        document["routers"] = []
        document["leader"]["session"] = ""
        text = json.dumps(document)
        database = sqlite3.connect(serve.register_file(), timeout=5)
        with database:
            database.execute("UPDATE register SET epoch=?, text=?", (document["epoch"], text))
        database.close()
        return text

    def stored(self, serve):
        database = sqlite3.connect(f"file:{serve.register_file()}?mode=ro", uri=True, timeout=5)
        try:
            return database.execute("SELECT text FROM register").fetchone()[0]
        finally:
            database.close()

    def values(self, key):
        found = []
        for port in self.servers.ports:
            with harness.Redis(port) as server:
                found.append(server.call("GET", key))
        return found

    def ask(self, serve, path):
        """The refusal; empty when there is an answer, or nobody listens yet."""
        try:
            serve.get(path)
            return ""
        except harness.AdminError as error:
            return str(error)
        except OSError:
            return ""

    def why_not_ready(self, serve):
        return self.ask(serve, "/ready")

    def test_a_router_that_starts_says_what_to_do_and_serves_nobody(self):
        serve = Serve(self.servers)
        self.addCleanup(serve.close)
        with serve:
            serve.leading()
        newer = self.write_newer(serve)
        serve.start(ready=False)
        harness.wait_for("the reason", lambda: "upgrade" in self.why_not_ready(serve))
        self.assertRegex(self.why_not_ready(serve), WHY)
        self.assertRegex(serve.get("/status")["coordinator"], WHY)
        harness.wait_for("the log", lambda: "upgrade this one" in serve.log_text())
        self.assertEqual(len(serve.log_text().split("upgrade this one")), 2, "told once")
        with self.assertRaises(OSError):
            harness.Redis(serve.port)
        # No question ends it, as /status once did before there was a ring.
        for path in ("/metrics", "/ring", "/moves", "/decisions", "/heat", "/plan", "/adopt",
                     "/locate?key=x"):
            self.ask(serve, path)
        self.assertRegex(self.why_not_ready(serve), WHY)
        self.assertEqual(self.stored(serve), newer)

    def test_a_router_that_was_removed_meanwhile_serves_nobody(self):
        """Nobody writes a newer document while an older router is a member: it was taken for dead
        and removed, and the leader's sweep closed its connections to the servers."""
        with Serve(self.servers) as serve:
            serve.leading()
            with harness.Redis(serve.port) as client:
                client.call("SET", "x", "before")
            newer = self.write_newer(serve)
            for port in self.servers.ports:
                with harness.Redis(port) as server:
                    server.call("CLIENT", "KILL", "TYPE", "normal")
            harness.wait_for("the reason",
                             lambda: "upgrade" in serve.get("/status")["coordinator"])
            for command in (["SET", "x", "after"], ["GET", "x"]):
                with harness.Redis(serve.port) as client, \
                        self.assertRaisesRegex(harness.Redis.ReplyError, f"{WHY}.*not sent"):
                    client.call(*command)
            self.assertCountEqual(self.values("x"), [b"before", None])
            self.assertEqual(self.stored(serve), newer)


if __name__ == "__main__":
    unittest.main()
