#!/usr/bin/env python3
"""A ring that the coordinator has forgotten: another folder, a lost file, a renamed pool. A new one
is never begun in silence over servers that belong to a ring, and a saved ring comes back whole."""

import json
import os
import shutil
import subprocess
import unittest

import harness
from serve_test import Servers

KEYS = 3_000


class Router(harness.Up):
    """`cleave serve` of a configuration with relative paths, started from any folder."""

    def __init__(self, servers, folder, pool="main", path="cleave.db", ports=None):
        super().__init__(nodes=len(servers.ports), directory=servers.base)
        self.folder = folder
        self.pool = pool
        self.config = os.path.join(folder, "cleave.yaml")
        self.ring_file = os.path.join(folder, path)
        self.log = os.path.join(folder, "serve.log")
        os.makedirs(folder, exist_ok=True)
        nodes = "".join(f"      - {{name: n{i}, members: [{{address: '127.0.0.1:{port}'}}]}}\n"
                        for i, port in enumerate(ports or servers.ports))
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(f"listeners: [{{address: 127.0.0.1:{self.port}, pool: {pool}}}]\n"
                      f"admin: {{address: 127.0.0.1:{self.admin_port}}}\n"
                      f"pools:\n  - name: {pool}\n    nodes:\n{nodes}"
                      f"coordination: {{kind: sqlite, path: {path}}}\n"
                      "balance: {mode: observe}\n")

    def start(self, ready=True, cwd=None):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([harness.CLEAVE, "serve", "--config", self.config],
                                            stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            cwd=cwd or self.folder)
        if ready:
            self.wait_ready()

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.stop()

    def register_file(self):
        return self.ring_file

    def held(self):
        """What /ready says while the router waits for a person."""
        def told():
            if self.process.poll() is not None:
                raise RuntimeError(f"serve ended:\n{self.log_text()}")
            try:
                return self.get("/recovery")["held"]
            except (OSError, harness.AdminError):
                return None

        text = harness.wait_for("the router to say why it waits", told)
        try:
            self.get("/ready")
        except harness.AdminError as refused:
            assert refused.status == 503, refused
            assert json.loads(refused.body)["error"]["message"], refused.body
            return text
        raise AssertionError("it is ready")

    def cleave(self, *args, code=0):
        done = subprocess.run([harness.CLEAVE, *args, "--admin", f"127.0.0.1:{self.admin_port}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                              stdin=subprocess.DEVNULL, cwd=self.folder, check=False)
        text = done.stdout.decode()
        assert done.returncode == code, f"{args}: {done.returncode}\n{text}"
        return text

    def saved_rings(self):
        folder = self.ring_file + ".rings"
        return sorted(os.path.join(folder, name) for name in os.listdir(folder))


class Recovery(unittest.TestCase):
    def setUp(self):
        self.servers = Servers(3)
        self.addCleanup(self.servers.close)

    def router(self, folder, **more):
        router = Router(self.servers, os.path.join(self.servers.base, folder), **more)
        self.addCleanup(router.close)
        return router

    def adopt_and_fill(self, router):
        """KEYS keys, of which a third has moved to where no ring but this one looks."""
        router.leading()
        router.post("/adopt")
        self.write(router, "old")
        for source, target in (("n0", "n1"), ("n1", "n2")):
            ranges = [{"first": e["first"], "last": e["last"]}
                      for e in router.get("/ring")["entries"] if e["node"] == source]
            router.post("/moves", {"ranges": ranges[: len(ranges) // 3], "to": target})
            harness.wait_for("the move", lambda: router.get("/moves")["ended"])
            router.settled()

    @staticmethod
    def write(router, value, keys=range(KEYS)):
        with harness.Redis(router.port) as client:
            client.pipeline([("SET", f"k{i}", f"{value}{i}") for i in keys])

    def lost(self, router, value="old"):
        with harness.Redis(router.port) as client:
            found = client.pipeline([("GET", f"k{i}") for i in range(KEYS)])
        return sum(text != f"{value}{i}".encode() for i, text in enumerate(found))

    def markers(self):
        found = []
        for port in self.servers.ports:
            with harness.Redis(port) as server:
                found.append((server.call("GET", "cleave:{owner}"),
                              server.call("GET", "cleave:{ring}")))
        return found

    def test_another_folder_finds_the_same_ring(self):
        first = self.router("first")
        elsewhere = os.path.join(self.servers.base, "elsewhere")
        os.makedirs(elsewhere)
        first.start()
        self.adopt_and_fill(first)
        self.assertEqual(first.stop(), 0)
        # Relative paths begin at the file, wherever the program was started.
        first.start(cwd=elsewhere)
        self.assertEqual(self.lost(first), 0)
        self.assertEqual(os.listdir(elsewhere), [])
        self.assertEqual(first.stop(), 0)
        # The same file in another folder has no ring: none is made, and nothing is written.
        before = self.markers()
        second = self.router("second")
        second.start(ready=False)
        told = second.held()
        for word in (second.ring_file, "pool 'main'", "cleave ring restore", "--new-ring"):
            self.assertIn(word, told)
        self.assertIn("No new ring is made", second.log_text())
        second.stop()
        self.assertEqual(self.markers(), before)
        first.start()
        self.assertEqual(self.lost(first), 0)

    def test_a_lost_ring_comes_back_from_what_was_saved(self):
        router = self.router("first")
        router.start()
        self.adopt_and_fill(router)
        by_hand = os.path.join(router.folder, "main.ring")
        self.assertIn("epoch", router.cleave("ring", "save", by_hand))
        self.assertIn("--force", router.cleave("ring", "save", by_hand, code=2))
        epoch = router.document()["epoch"]
        entries = router.get("/ring")["entries"]
        self.assertEqual(router.stop(), 0)
        by_itself = router.saved_rings()[-1]
        notes = [dict(line.split(" ", 1) for line in note.decode().splitlines())
                 for _, note in self.markers()]
        self.assertEqual([note["node"] for note in notes], ["n0", "n1", "n2"])
        self.assertEqual(len({note["server"] for note in notes}), 3)
        for file in (by_itself, by_hand):
            for end in ("", "-wal", "-shm"):
                if os.path.exists(router.ring_file + end):
                    os.remove(router.ring_file + end)
            router.start(ready=False)
            self.assertIn(router.ring_file + ".rings", router.held())
            looked = router.cleave("ring", "restore", file, "--dry-run")
            self.assertIn("nothing was written", looked)
            router.held()
            told = router.cleave("ring", "restore", file, *(["--force"] if file == by_hand else []))
            self.assertIn("frozen", told)
            router.wait_ready()
            self.assertEqual(self.lost(router), 0)
            self.assertGreater(router.document()["epoch"], epoch + 1_000_000)
            self.assertEqual([(e["first"], e["last"], e["node"])
                              for e in router.get("/ring")["entries"]],
                             [(e["first"], e["last"], e["node"]) for e in entries])
            # The servers are its own, with the ids that they had, and moves go on once it is told.
            router.leading()
            owner = router.get("/locate?key=k1")["node"]
            target = "n1" if owner == "n0" else "n0"
            with self.assertRaisesRegex(harness.AdminError, "frozen"):
                router.post("/moves", {"key": "k1", "to": target})
            router.post("/resume")
            moves = len(router.get("/moves")["ended"])
            router.post("/moves", {"key": "k1", "to": target})
            harness.wait_for("a move", lambda n=moves: len(router.get("/moves")["ended"]) > n)
            router.settled()
            router.post(f"/moves/{router.get('/moves')['ended'][0]['id']}/undo")
            harness.wait_for("it back", lambda n=moves: len(router.get("/moves")["ended"]) > n + 1)
            router.settled()
            self.assertEqual(self.lost(router), 0)
            for note, (_, now) in zip(notes, self.markers()):
                self.assertIn(f"server {note['server']}\n", now.decode())
            self.assertEqual(router.stop(), 0)

    def test_copies_of_moves_of_a_restored_ring_wait_for_a_person(self):
        """The file is of a moment at which a move was under way: where it wrote, nothing is deleted
        and nothing moves to, before a person has decided."""
        router = self.router("first")
        router.start()
        self.adopt_and_fill(router)
        file = os.path.join(router.folder, "main.ring")
        router.cleave("ring", "save", file)
        self.assertEqual(router.stop(), 0)
        with open(file, encoding="utf-8") as saved:
            ring = json.load(saved)
        document = ring["document"]
        numbers = {node["name"]: node["id"] for node in document["nodes"]}
        ranges = self.under_way(router, document, numbers)
        with open(file, "w", encoding="utf-8") as saved:
            json.dump(ring, saved)
        os.remove(router.ring_file)
        router.start(ready=False)
        router.held()
        self.assertIn("copies of move", router.cleave("ring", "restore", file))
        router.wait_ready()
        router.leading()
        router.post("/resume")
        kept = router.get("/moves")["leftovers"]
        self.assertEqual([(left["node"], left["state"]) for left in kept], [("n2", "kept")] * 2)
        for left in kept:
            self.assertIn("restored from a saved one", left["why"])
        with self.assertRaisesRegex(harness.AdminError, "cleave leftovers"):
            router.post("/moves", {"ranges": [ranges[0]], "to": "n2"})
        self.assertIn("restored", router.cleave("leftovers"))
        with harness.Redis(self.servers.ports[2]) as server:
            self.assertEqual(server.call("EXISTS", *self.copies), 2, "nothing was deleted")
            router.cleave("leftovers", "--clean", str(kept[0]["move"]))
            router.cleave("leftovers", "--forget", str(kept[1]["move"]))
            harness.wait_for("no leftover", lambda: not router.get("/moves")["leftovers"])
            self.assertEqual([server.call("EXISTS", key) for key in self.copies], [0, 1])
        self.assertEqual(self.lost(router), 0)

    def under_way(self, router, document, numbers):
        """Puts two moves from n0 to n2 into the document, with a copy of each at n2."""
        ranges, self.copies = [], []
        router.start()
        for i in range(KEYS):
            if len(ranges) == 2:
                break
            found = router.get(f"/locate?key=k{i}")
            if found["node"] != "n0":
                continue
            token = found["token"]
            ranges.append({"first": token, "last": token})
            self.copies.append(f"k{i}")
            with harness.Redis(self.servers.ports[2]) as server:
                server.call("SET", f"k{i}", "an old copy")
        self.assertEqual(router.stop(), 0)
        document["moves"] = [
            {"id": document["epoch"] - i, "ranges": [[each["first"], each["last"]]],
             "source": numbers["n0"], "destination": numbers["n2"], "phase": "copying",
             "phase_epoch": document["epoch"] - i, "reason": "hot", "started": 1_760_000_000_000}
            for i, each in ((1, ranges[0]), (0, ranges[1]))]
        return ranges

    def test_a_ring_that_is_not_that_of_the_keys_is_refused(self):
        router = self.router("first")
        router.start()
        router.leading()
        early = os.path.join(router.folder, "early.ring")
        router.cleave("ring", "save", early)
        self.adopt_and_fill(router)
        self.assertEqual(router.stop(), 0)
        os.remove(router.ring_file)
        router.start(ready=False)
        router.held()
        told = router.cleave("ring", "restore", early, code=1)
        self.assertIn("lie where this ring does not look", told)
        router.held()

    def test_a_renamed_pool_is_told_its_old_name(self):
        router = self.router("first")
        router.start()
        self.adopt_and_fill(router)
        self.assertEqual(router.stop(), 0)
        saved = router.saved_rings()[-1]
        renamed = self.router("first", pool="shop")
        renamed.start(ready=False)
        self.assertIn("the pool by its name, 'main'", renamed.held())
        self.assertIn("--rename", renamed.cleave("ring", "restore", saved, code=1))
        renamed.cleave("ring", "restore", saved, "--rename")
        renamed.wait_ready()
        self.assertEqual(self.lost(renamed), 0)
        harness.wait_for("the servers to be told", lambda: all(
            b"pool shop\n" in note for _, note in self.markers()))

    def test_a_person_may_begin_a_new_ring(self):
        first = self.router("first")
        first.start()
        self.adopt_and_fill(first)
        second = self.router("second")
        second.start(ready=False)
        second.held()
        # Not while a router of the old ring is at work.
        self.assertIn("at work", second.cleave("adopt", "--new-ring", "--yes", code=1))
        self.assertEqual(first.stop(), 0)
        self.assertIn("nothing was changed", second.cleave("adopt", "--new-ring", code=1))
        # Nor in silence where it would not find what is there.
        with harness.Redis(self.servers.ports[0]) as server:
            server.call("SELECT", 3)
            server.call("SET", "other", "1")
        before = self.markers()
        refused = second.cleave("adopt", "--new-ring", "--yes", code=1)
        for word in ("are not where this ring looks", "e.g. ", "database 3 (1 key)", "--force"):
            self.assertIn(word, refused)
        self.assertEqual(self.markers(), before)
        second.held()
        self.assertIn("marked", second.cleave("adopt", "--new-ring", "--yes", "--force"))
        second.wait_ready()
        mark = second.document()["mark"].encode()
        for owner, note in self.markers():
            self.assertEqual(owner, mark)
            self.assertIn(b"ring " + mark + b"\n", note)
        self.write(second, "new")
        self.assertEqual(self.lost(second, "new"), 0)

    def test_a_first_ring_waits_until_every_server_was_asked(self):
        missing = harness.free_port()
        router = self.router("first", ports=[*self.servers.ports[:2], missing])
        router.start(ready=False)
        self.assertIn(f"n2 (127.0.0.1:{missing})", router.held())
        late = subprocess.Popen(["redis-server", "--port", str(missing), "--bind", "127.0.0.1",
                                 "--save", "", "--dir", self.servers.base],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                stdin=subprocess.DEVNULL)
        self.addCleanup(late.wait)
        self.addCleanup(late.terminate)
        router.wait_ready()
        self.assertEqual(router.stop(), 0)
        # With a ring, one server of many may be away at the start.
        late.terminate()
        late.wait()
        router.start()

    def test_up_does_not_begin_anew_over_its_own_data(self):
        with harness.Up(nodes=2) as pool:
            pool.leading()
            with harness.Redis(pool.port) as client:
                client.pipeline([("SET", f"k{i}", i) for i in range(100)])
            ring = pool.register_file()
            pool.kill()
            saved = sorted(os.listdir(ring + ".rings"))[-1]
            for end in ("", "-wal", "-shm"):
                if os.path.exists(ring + end):
                    shutil.move(ring + end, ring + end + ".gone")
            pool.start(ready=False)
            harness.wait_for("it to say why", lambda: "No new ring" in pool.log_text())
            done = subprocess.run([harness.CLEAVE, "ring", "restore", f"{ring}.rings/{saved}",
                                   "--admin", f"127.0.0.1:{pool.admin_port}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stdout.decode())
            pool.wait_ready()
            with harness.Redis(pool.port) as client:
                self.assertEqual(client.pipeline([("GET", f"k{i}") for i in range(100)]),
                                 [str(i).encode() for i in range(100)])


if __name__ == "__main__":
    harness.require_binary()
    unittest.main()
