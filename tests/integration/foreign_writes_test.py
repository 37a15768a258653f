#!/usr/bin/env python3
"""Somebody writes to one server past the router while clients use it: it is seen, said, and no
planned move touches that node. Traffic through the router alone never looks like that."""

import threading
import time
import unittest

import harness

# The router believes its eyes after two intervals of 10 s, and needs one to begin with.
SEEN_WITHIN = 60.0


class Bypass:
    """Writes straight to a server until it is stopped."""

    def __init__(self, port):
        self.port = port
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with harness.Redis(self.port) as server:
            while not self.ends.is_set():
                server.pipeline([["SET", f"foreign:{i}", "x"] for i in range(500)])
                time.sleep(0.02)

    def stop(self):
        self.ends.set()
        self.thread.join()


class ForeignWrites(harness.UpTest):
    def setUp(self):
        super().setUp()
        self.up.post("/mode", {"mode": "observe"})

    def node(self, name):
        return next(n for n in self.up.get("/status")["nodes"] if n["name"] == name)

    def begin_load(self, seconds):
        load = harness.Load(self.up, seconds=seconds, clients=8, keys=4000, zipf=0.0,
                            extra=["--rate", "20000", "--pipeline", "8"])
        self.addCleanup(load.kill)
        return load

    def crowd(self, name):
        """Gives the node most of the ring, so that it is hot and should be relieved."""
        for other in sorted(self.up.node_ports()):
            if other == name:
                continue
            ranges = [{"first": e["first"], "last": e["last"]}
                      for e in self.up.get("/ring")["entries"] if e["node"] == other]
            self.up.post("/moves", {"ranges": ranges[: len(ranges) * 3 // 4], "to": name})
            self.up.settled()

    def expect_warning(self, bypassed):
        """A person may order a move of the node all the same, and is told what that can cost."""
        entry = next(e for e in self.up.get("/ring")["entries"] if e["node"] == bypassed)
        other = next(n for n in sorted(self.up.node_ports()) if n != bypassed)
        answer = self.up.post("/moves", {"ranges": [{"first": entry["first"],
                                                     "last": entry["last"]}], "to": other})
        self.assertIn("past the routers", answer["warnings"][0])
        self.assertIn("warning", [d["kind"] for d in self.up.get("/decisions")["decisions"]])
        self.up.settled()

    def test_are_seen_and_stop_planned_moves(self):
        bypassed = sorted(self.up.node_ports())[0]
        self.crowd(bypassed)
        self.begin_load(seconds=150)
        harness.wait_for("a plan that relieves the crowded node", lambda: [
            m for m in self.up.get("/plan").get("moves", []) if m["source"] == bypassed], 40.0, 0.5)
        self.assertFalse(self.node(bypassed)["foreign_writes"])

        bypass = Bypass(self.up.node_ports()[bypassed])
        self.addCleanup(bypass.stop)
        harness.wait_for("the foreign writes to be seen",
                         lambda: self.node(bypassed)["foreign_writes"], SEEN_WITHIN, 0.5)
        self.assertGreater(self.node(bypassed)["unattributed_writes"], 1000)
        self.assertGreater(self.node(bypassed)["unattributed_requests"], 1000)
        for other in sorted(self.up.node_ports()):
            if other != bypassed:
                self.assertFalse(self.node(other)["foreign_writes"], other)
        told = [d["reason"] for d in self.up.get("/decisions")["decisions"]
                if d["subject"] == f"node {bypassed}"]
        self.assertTrue(any("past the routers" in reason for reason in told), told)

        self.expect_warning(bypassed)
        before = {m["id"] for m in self.up.get("/moves")["ended"]}
        time.sleep(2.5)  # a plan that was made without knowing it
        self.up.post("/mode", {"mode": "auto"})
        end = time.monotonic() + 12.0
        while time.monotonic() < end:
            moves = self.up.get("/moves")
            begun = [m for m in moves["moves"] + moves["ended"] if m["id"] not in before
                     and bypassed in (m["source"], m["destination"])]
            self.assertEqual(begun, [])
            time.sleep(0.2)

    def test_are_never_seen_in_routed_traffic(self):
        self.up.post("/mode", {"mode": "auto"})
        load = self.begin_load(seconds=45)
        end = time.monotonic() + 42.0
        while time.monotonic() < end:
            for node in self.up.get("/status")["nodes"]:
                self.assertFalse(node.get("foreign_writes", False), node)
            time.sleep(0.5)
        self.assertEqual(load.result()["writes_lost"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
