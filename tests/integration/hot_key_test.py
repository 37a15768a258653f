#!/usr/bin/env python3
"""One key is nearly all of the load: no cut can help, and that is what is said, with its name, for
as long as it lasts."""

import threading
import time
import unittest

import harness

KEY = "the-one"


class Clients:
    """Asks for one key as fast as it can until it is stopped."""

    def __init__(self, port, count=4):
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(port,), daemon=True)
                        for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, port):
        with harness.Redis(port) as client:
            while not self.ends.is_set():
                client.pipeline([["GET", KEY]] * 200)

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


class HotKey(harness.UpTest):
    def verdicts(self):
        owner = self.up.get(f"/locate?key={KEY}")["node"]
        return [v for v in self.up.get("/plan").get("verdicts", []) if v["node"] == owner]

    def test_is_named_for_as_long_as_it_is_hot(self):
        with harness.Redis(self.up.port) as client:
            client.call("SET", KEY, "x" * 100)
        clients = Clients(self.up.port)
        self.addCleanup(clients.stop)
        named = lambda: [v for v in self.verdicts()
                         if v["why"] == "unsplittable" and v["key"] == KEY]
        harness.wait_for("the hot key to be named", named, 40.0, 0.5)
        end = time.monotonic() + 6.0
        while time.monotonic() < end:
            for verdict in self.verdicts():
                self.assertNotEqual(verdict["why"], "not-long-enough", verdict)
                if verdict["why"] == "unsplittable":
                    self.assertTrue(verdict["text"].startswith(KEY + " is "), verdict)
            time.sleep(0.5)
        told = [d for d in self.up.get("/decisions")["decisions"] if d["kind"] == "unsplittable"]
        self.assertTrue(any(d["reason"].startswith(f"unsplittable: {KEY} is ") for d in told), told)


if __name__ == "__main__":
    unittest.main(verbosity=2)
