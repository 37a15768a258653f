#!/usr/bin/env python3
"""Three routers, one pool: each takes orders and serves all keys, and none is needed.

With etcd on 127.0.0.1. What takes partitions, and longer, is `make faults` (tests/fleet/)."""

import http.client
import json
import os
import sys
import threading
import time
import unittest

import harness

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "fleet"))
from fleet import TOKEN, Fleet  # noqa: E402
from moves import Mover  # noqa: E402

HOLD_CAP_MS = 200
# A loaded machine of few cores; a request that waited for the stopped router would take seconds.
SLACK_MS = 300
LEADERLESS_S_MAX = 5.0


class Prober(threading.Thread):
    """Writes through some routers in turn; the slowest answer, and every error."""

    def __init__(self, routers):
        super().__init__(daemon=True)
        self.routers = routers
        self.slowest_ms = 0.0
        self.requests = 0
        self.errors = []
        self.stopping = threading.Event()
        self.start()

    def run(self):
        clients = [router.client() for router in self.routers]
        number = 0
        while not self.stopping.is_set():
            number += 1
            began = time.monotonic()
            try:
                clients[number % len(clients)].call("SET", f"probe{number % 997}", str(number))
            except (harness.Redis.ReplyError, OSError) as error:
                self.errors.append(str(error))
            self.slowest_ms = max(self.slowest_ms, (time.monotonic() - began) * 1e3)
            self.requests += 1
            time.sleep(0.001)
        for client in clients:
            client.close()

    def finish(self):
        self.stopping.set()
        self.join()


class FleetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()
        cls.fleet = Fleet("etcd", servers=3)
        try:
            cls.fleet.start()
        except BaseException:
            cls.fleet.close()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.fleet.close()

    def setUp(self):
        self.fleet.settled()

    def mover(self):
        """Moves without end, until the test does."""
        mover = Mover(self.fleet, seed=1)
        mover.start()

        def end():
            mover.ordering = False
            mover.ended.set()
            mover.join()

        self.addCleanup(end)
        return mover

    def moves_go_on(self, mover, wanted, seconds=15):
        before = mover.done
        harness.wait_for(f"{wanted} moves more", lambda: mover.done >= before + wanted, seconds)

    def test_any_router_takes_orders(self):
        leader = self.fleet.leader()
        for router in self.fleet.routers:
            entry = router.get("/ring")["entries"][0]
            other = next(s.node for s in self.fleet.servers if s.node != entry["node"])
            piece = {"first": entry["first"], "last": entry["last"]}
            begun = router.post("/moves", {"ranges": [piece], "to": other})
            self.assertIn("move", begun)
            self.fleet.settled()
            for told in self.fleet.routers:
                self.assertEqual(told.get("/ring")["entries"][0]["node"], other)
        follower = next(r for r in self.fleet.routers if r is not leader)
        connection = http.client.HTTPConnection(follower.admin, timeout=5)
        connection.request("GET", "/moves", headers={"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200, "passed on with the caller's own token")
        self.assertEqual(json.loads(answer.read()), leader.get("/moves"))
        connection.close()

    def test_nothing_is_lost_while_ranges_move(self):
        mover = self.mover()
        load = harness.Load(self.fleet.routers[1], seconds=6, keys=3000)
        try:
            result = load.result()
        finally:
            load.kill()
        numbers = (f"{result['writes_acked']} writes acknowledged, {result['writes_lost']} lost, "
                   f"{result['reads_wrong']} wrong, {mover.done} moves, {mover.aborted} aborted")
        self.assertEqual((result["writes_lost"], result["reads_wrong"]), (0, 0), numbers)
        self.assertGreater(result["writes_acked"], 1000, numbers)
        self.assertGreater(mover.done, 5, numbers)

    def test_every_router_counts_a_key_once_while_it_moves(self):
        clients = [router.client() for router in self.fleet.routers]
        for client in clients:
            self.addCleanup(client.close)
        clients[0].pipeline([["SET", f"counted{i}", "x" * 500] for i in range(5000)])
        size = clients[0].call("DBSIZE")
        mover = self.mover()
        self.moves_go_on(mover, 1)
        ends, seen = time.monotonic() + 4, []
        while time.monotonic() < ends:
            seen += [client.call("DBSIZE") for client in clients]
        self.assertEqual(set(seen), {size}, f"{len(seen)} answers, {mover.done} moves")
        self.assertGreater(mover.done, 3)

    def test_another_leads_when_the_leader_is_killed(self):
        mover = self.mover()
        self.moves_go_on(mover, 2)
        leader = self.fleet.leader()
        others = [router for router in self.fleet.routers if router is not leader]
        decided = leader.get("/decisions")["decisions"][:20]
        time.sleep(2.5)  # the others ask for them every two seconds
        prober = Prober(others)
        leader.kill()
        began = time.monotonic()
        try:
            harness.wait_for("another leader", self.fleet.find_leader, 20)
            took = time.monotonic() - began
            self.moves_go_on(mover, 3)
        finally:
            leader.start()
            prober.finish()
        self.assertLess(took, LEADERLESS_S_MAX, f"another led after {took:.2f} s")
        told = self.fleet.leader().get("/decisions")["decisions"]
        self.assertGreater(len(decided), 1)
        self.assertEqual([each for each in decided if each not in told], [],
                         "the new leader knows what the one before it decided")
        self.assertEqual(prober.errors, [], f"of {prober.requests} requests through the others")
        harness.wait_for("the killed router", lambda: leader.why_not_ready() is None, 20)

    def test_a_new_leader_goes_on_with_a_flatten(self):
        leader = self.fleet.leader()
        entries = leader.get("/ring")["entries"]
        names = [server.node for server in self.fleet.servers]
        # Some pieces, so that it is not over before the leader is.
        for number, entry in enumerate(entries[:: max(1, len(entries) // 6)][:6]):
            other = names[(names.index(entry["node"]) + 1 + number % 2) % len(names)]
            leader.post("/moves", {"ranges": [{"first": entry["first"], "last": entry["last"]}],
                                   "to": other})
            self.fleet.settled()
        wanted = leader.post("/flatten")["ranges"]
        self.assertGreaterEqual(wanted, 3)
        leader.kill()
        try:
            harness.wait_for("another leader", self.fleet.find_leader, 20)
            now = self.fleet.leader()
            self.assertIsNot(now, leader)
            self.assertTrue(now.get("/status")["flatten"])
            self.assertEqual(now.get("/status")["mode"], "observe")
            harness.wait_for("no cut any more", lambda: now.get("/status")["cuts"] == 0, 60, 0.2)
            now.post("/resume")
            self.assertFalse(now.get("/status")["flatten"])
        finally:
            leader.start()
        harness.wait_for("the killed router", lambda: leader.why_not_ready() is None, 20)

    def test_routers_serve_without_the_coordinator(self):
        coordinator, last = self.fleet.coordinator, self.fleet.routers[2]
        stay = self.fleet.routers[:2]
        last.end()
        harness.wait_for("a leader among the rest", self.fleet.find_leader, 20)
        coordinator.kill()
        prober = Prober(stay)
        try:
            last.start()
            harness.wait_for("the router to listen", lambda: "HTTP" in (last.why_not_ready() or ""))
            # Longer than a lease, and than the five seconds after which a call to it has failed.
            until = time.monotonic() + 9.0
            while time.monotonic() < until:
                self.assertEqual([router.why_not_ready() for router in stay], [None, None])
                time.sleep(0.2)
            why = last.why_not_ready()
        finally:
            self.fleet.start_coordinator()
            prober.finish()
        self.assertEqual(prober.errors, [], f"of {prober.requests} requests without a coordinator")
        self.assertIsNotNone(why, "a router that has never read the ring must not be ready")
        self.assertRegex(why, "503.*(document|coordinator)", "it says why")
        took = self.fleet.settled()
        mover = self.mover()
        self.moves_go_on(mover, 3)
        self.assertLess(took, 20.0, f"everything was as before after {took:.2f} s")
        # Whoever asked it meanwhile: one that only follows asks every few seconds.
        for line in ("the coordinator is away", "the coordinator is back"):
            harness.wait_for(f"'{line}' in a log", lambda line=line: any(
                line in router.log_text(1_000_000) for router in stay), 10)

    def test_a_stopped_router_does_not_hold_the_others_requests(self):
        mover = self.mover()
        self.moves_go_on(mover, 2)
        leader = self.fleet.leader()
        victim = next(router for router in self.fleet.routers if router is not leader)
        prober = Prober([router for router in self.fleet.routers if router is not victim])
        try:
            for phase in ("copying", "fenced", "fenced", "clean"):
                mover.wait_for(phase, 3.0)
                victim.freeze()
                time.sleep(1.2)
                victim.thaw()
                time.sleep(0.5)
        finally:
            victim.thaw()
            prober.finish()
        self.assertEqual(prober.errors, [], f"of {prober.requests} requests through the others")
        self.assertLess(prober.slowest_ms, HOLD_CAP_MS + SLACK_MS,
                        f"the slowest of {prober.requests} took {prober.slowest_ms:.0f} ms; "
                        f"moves: {mover.done} done, {mover.aborted} aborted")


if __name__ == "__main__":
    unittest.main()
