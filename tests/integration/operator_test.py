#!/usr/bin/env python3
"""What an operator sets and is told: windows for moves, advice by webhook, and a look at servers
before cleave is adopted."""

import http.server
import json
import subprocess
import threading
import time
import unittest

import harness
from serve_test import Serve, Servers


def closed_window():
    """An hour that is six hours away, in UTC."""
    hour = (time.gmtime().tm_hour + 6) % 24
    return f"{hour:02}:00-{(hour + 1) % 24:02}:00"


HOUR_MS = 3_600_000


class Listener:
    """A small HTTP server that remembers what was posted to it."""

    def __init__(self):
        self.posts = []
        self.hosts = []
        listener = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802, the name is the library's
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.hosts.append(self.headers.get_all("Host"))
                listener.posts.append((self.path, json.loads(body)))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Operated(unittest.TestCase):
    def serve(self, balance):
        servers = Servers(3)
        self.addCleanup(servers.close)
        serve = Serve(servers, balance=balance)
        self.addCleanup(serve.close)
        serve.start()
        serve.leading()
        serve.post("/adopt")
        return serve

    def begin_load(self, serve, seconds):
        load = harness.Load(serve, seconds=seconds, clients=8, keys=4000, zipf=0.0,
                            extra=["--rate", "10000", "--pipeline", "8"])
        self.addCleanup(load.kill)


class HotKeys:
    """Asks for some keys of one node, each as often, until it is stopped: load that can be cut."""

    def __init__(self, serve, node, count=60):
        self.keys = []
        number = 0
        while len(self.keys) < count:
            key = f"hot:{number}"
            number += 1
            if serve.get(f"/locate?key={key}")["node"] == node:
                self.keys.append(key)
        self.port = serve.port
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with harness.Redis(self.port) as client:
            client.pipeline([["SET", key, "x"] for key in self.keys])
            while not self.ends.is_set():
                client.pipeline([["GET", key] for key in self.keys])
                time.sleep(0.01)

    def stop(self):
        self.ends.set()
        self.thread.join()


class Windows(Operated):
    def test_outside_of_them_only_what_a_person_orders_moves(self):
        serve = self.serve(f"{{mode: auto, windows: ['{closed_window()}'], "
                           "constants: {hot_capacity_ppm: 5000}}")
        hot = HotKeys(serve, "n0")
        self.addCleanup(hot.stop)
        waits = harness.wait_for("a plan that waits for its window", lambda: [
            d for d in serve.get("/decisions")["decisions"]
            if d["kind"] == "nothing" and d["reason"].startswith("window: waits ")], 40.0, 0.5)
        self.assertAlmostEqual(waits[0]["until_ms"] - waits[0]["at_ms"], 5.5 * HOUR_MS,
                               delta=0.6 * HOUR_MS)
        time.sleep(6)
        moves = serve.get("/moves")
        self.assertEqual(moves["moves"] + moves["ended"], [])

        serve.post("/moves", {"key": hot.keys[0], "to": "n1"})
        harness.wait_for("the ordered move", lambda: serve.get("/moves")["ended"], 20.0, 0.2)

        # A plan may be empty for a moment; a person asks again.
        def approved():
            try:
                return serve.post("/approve", {"plan": serve.get("/plan")["id"]})["moves"]
            except harness.AdminError:
                return 0
        harness.wait_for("something to approve", approved, 20.0, 0.5)
        harness.wait_for("the approved move", lambda: [
            m for m in serve.get("/moves")["ended"]
            if m["end"] == "committed" and not m["reason"].startswith("ordered")], 20.0, 0.2)


class Webhook(Operated):
    def test_advice_is_posted(self):
        listener = Listener()
        self.addCleanup(listener.close)
        serve = self.serve(f"{{mode: observe, webhook: 'http://127.0.0.1:{listener.port}/advice', "
                           "constants: {advise_ppm: 2000, advise_to_ppm: 1000}}")
        self.begin_load(serve, seconds=40)
        path, told = harness.wait_for("a post", lambda: listener.posts and listener.posts[0],
                                      40.0, 0.2)
        self.assertEqual(path, "/advice")
        self.assertEqual([len(hosts) for hosts in listener.hosts[:1]], [1], "one Host header")
        self.assertEqual(told["kind"], "advice")
        self.assertRegex(told["reason"], r"add \d+ nodes?")
        self.assertGreater(serve.get("/plan")["advice_nodes"], 0)
        self.assertRegex(serve.get("/metrics"), r"cleave_advice_nodes [1-9]")
        time.sleep(4)
        self.assertEqual(len(listener.posts), 1, "it is told once, while it holds")


class Assess(unittest.TestCase):
    SECRET = "s3cret"

    def ask(self, port, password, ends):
        with harness.Redis(port) as client:
            if password:
                client.call("AUTH", password)
            number = 0
            while not ends.is_set():
                number += 1
                client.call("GET", f"key:{number % 500}")

    def assess(self, servers, password):
        serve = Serve(servers)
        with open(serve.config, encoding="utf-8") as file:
            text = file.read()
        with open(serve.config, "w", encoding="utf-8") as file:
            file.write(text.replace("    nodes:\n",
                                    f"    servers: {{password: '{password}'}}\n    nodes:\n"))
        program = subprocess.run(
            [harness.CLEAVE, "assess", "--config", serve.config, "--servers", "--seconds", "3",
             "--json"], capture_output=True, text=True, timeout=90, stdin=subprocess.DEVNULL,
            check=False)
        return program.returncode, json.loads(program.stdout.splitlines()[-1])

    def test_watches_servers_with_and_without_a_password(self):
        servers = Servers(2, passwords=[self.SECRET])
        self.addCleanup(servers.close)
        ends = threading.Event()
        clients = [threading.Thread(target=self.ask, args=(port, password, ends), daemon=True)
                   for port, password in zip(servers.ports, (self.SECRET, ""))]
        for client in clients:
            client.start()
        try:
            code, found = self.assess(servers, self.SECRET)
            refused, told = self.assess(servers, "wrong")
        finally:
            ends.set()
            for client in clients:
                client.join()
        self.assertEqual(code, 0, found)
        self.assertEqual(found["keys"], 500)
        for node in found["nodes"]:
            self.assertGreater(node["requests_seen"], 100, node)
        self.assertGreaterEqual(found["peak_over_mean_seen"], 1.0)
        self.assertEqual(refused, 3)
        self.assertIn("server 'n0': it refused: WRONGPASS", told["error"]["message"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
