#!/usr/bin/env python3
"""`cleave serve` over servers that are not its own children: ownership, two names for one server,
keys that cannot be moved, bad configurations, a full disk."""

import os
import signal
import subprocess
import tempfile
import time
import unittest

import harness


class Servers:
    """Plain redis-servers and a configuration over them. `passwords`: of the first ones;
    `programs`: what the first ones are, where not redis-server."""

    def __init__(self, count, passwords=(), programs=()):
        self.base = tempfile.mkdtemp(prefix="cleave-serve-")
        self.ports = [harness.free_port() for _ in range(count)]
        self.processes = []
        secrets = dict(zip(self.ports, passwords))
        kinds = dict(zip(self.ports, programs))
        for port in self.ports:
            self.processes.append(subprocess.Popen(
                [kinds.get(port, "redis-server"), "--port", str(port), "--bind", "127.0.0.1",
                 "--save", "", "--appendonly", "no", "--dir", self.base,
                 *(["--requirepass", secrets[port]] if port in secrets else [])],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL))
        for port in self.ports:
            harness.wait_for("redis", lambda p=port: self.answers(p))

    @staticmethod
    def answers(port):
        try:
            with harness.Redis(port) as client:
                return client.call("PING") == b"PONG"
        except harness.Redis.ReplyError as refused:
            return str(refused).startswith("NOAUTH")
        except (OSError, ConnectionError):
            return False

    def close(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait(timeout=10)
        subprocess.run(["rm", "-rf", self.base], check=False)


class Serve(harness.Up):
    """`cleave serve` with the same face as `cleave up`."""

    def __init__(self, servers, addresses=None, limits="", name="cleave",
                 balance="{mode: observe}", user=""):
        super().__init__(nodes=len(servers.ports), directory=servers.base)
        self.directory = servers.base
        self.config = os.path.join(servers.base, f"{name}.yaml")
        addresses = addresses or [f"127.0.0.1:{port}" for port in servers.ports]
        nodes = "".join(f"      - {{name: n{i}, members: [{{address: '{address}'}}]}}\n"
                        for i, address in enumerate(addresses))
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(f"listeners: [{{address: 127.0.0.1:{self.port}, protocol: redis,"
                      " pool: main}]\n"
                      f"admin: {{address: 127.0.0.1:{self.admin_port}}}\n"
                      "pools:\n  - name: main\n    ring: {scheme: vnode}\n" +
                      (f"    servers: {user}\n" if user else "") + "    nodes:\n" + nodes +
                      f"coordination: {{kind: sqlite, path: {servers.base}/{name}.db}}\n"
                      f"balance: {balance}\n" + limits)

    def start(self, ready=True):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([harness.CLEAVE, "serve", "--config", self.config],
                                            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        if ready:
            self.wait_ready()

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.stop()


class Ownership(unittest.TestCase):
    def setUp(self):
        self.servers = Servers(2)
        self.addCleanup(self.servers.close)

    def order_move(self, serve, key="x"):
        owner = serve.get(f"/locate?key={key}")["node"]
        target = "n1" if owner == "n0" else "n0"
        return serve.post("/moves", {"key": key, "to": target})

    def test_nothing_moves_between_servers_that_nobody_adopted(self):
        with harness.Redis(self.servers.ports[0]) as server:
            server.call("SET", "foreign", "data")
        with Serve(self.servers) as serve:
            serve.leading()
            with self.assertRaisesRegex(harness.AdminError, "marker"):
                self.order_move(serve)
            survey = serve.get("/adopt")["nodes"]
            self.assertEqual(sum(node["keys"] for node in survey), 1)
            serve.post("/adopt", {"force": True})  # it may be on the wrong server
            self.order_move(serve)
            serve.settled()
        with harness.Redis(self.servers.ports[0]) as server:
            self.assertEqual(server.call("GET", "foreign"), b"data")

    def test_another_pools_server_is_never_taken(self):
        with Serve(self.servers) as serve:
            serve.leading()
            with harness.Redis(self.servers.ports[1]) as server:
                server.call("SET", "cleave:{owner}", "somebody else")
            with self.assertRaises(harness.AdminError):
                serve.post("/adopt")
            with self.assertRaisesRegex(harness.AdminError, "marker"):
                self.order_move(serve)
        with harness.Redis(self.servers.ports[1]) as server:
            self.assertEqual(server.call("GET", "cleave:{owner}"), b"somebody else")

    def test_one_server_under_two_names_is_found_out(self):
        port = self.servers.ports[0]
        with self.assertRaisesRegex(RuntimeError, "is there twice"):
            with Serve(self.servers, [f"127.0.0.1:{port}", f"localhost:{port}"]):
                pass
        # A spelling that only the server itself gives away.
        with Serve(self.servers, [f"127.0.0.1:{port}", f"127.1:{port}"]) as serve:
            serve.leading()
            serve.post("/adopt")
            with harness.Redis(serve.port) as client:
                client.call("SET", "x", "precious")
                with self.assertRaisesRegex(harness.AdminError, "two names"):
                    self.order_move(serve)
                self.assertEqual(client.call("GET", "x"), b"precious")

    def test_a_key_too_big_to_move_stays_with_a_reason(self):
        limits = "limits: {big_value_bytes: 100000, value_bytes_max: 1000000}\n"
        with Serve(self.servers, limits=limits) as serve:
            serve.leading()
            serve.post("/adopt")
            with harness.Redis(serve.port) as client:
                client.call("SET", "huge", b"x" * 3_000_000)
                client.call("MSET", *[v for i in range(200) for v in (f"k{i}", "v")])
                entries = serve.get("/ring")["entries"]
                owner = serve.get("/locate?key=huge")["node"]
                target = "n1" if owner == "n0" else "n0"
                owned = [{"first": e["first"], "last": e["last"]}
                         for e in entries if e["node"] == owner]
                serve.post("/moves", {"ranges": owned, "to": target})
                harness.wait_for("the move around it", lambda: any(
                    record["end"] == "committed" for record in serve.get("/moves")["ended"]))
                serve.settled()
                self.assertEqual(serve.get("/locate?key=huge")["node"], owner)
                self.assertEqual(client.call("STRLEN", "huge"), 3_000_000)
                self.assertEqual(client.call("EXISTS", *[f"k{i}" for i in range(200)]), 200)
            reasons = [d for d in serve.get("/decisions")["decisions"] if d["subject"] == "huge"]
            self.assertTrue(reasons and "bytes" in reasons[0]["reason"])


class Configuration(unittest.TestCase):
    def refuse(self, text, *words):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "cleave.yaml")
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
            done = subprocess.run([harness.CLEAVE, "serve", "--config", path], cwd=directory,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20,
                                  check=False)
        self.assertEqual(done.returncode, 2, done.stdout.decode())
        for word in words:
            self.assertIn(word, done.stdout.decode())

    def test_what_is_unknown_twice_or_wide_open_is_refused_with_its_line(self):
        good = ("listeners: [{address: 127.0.0.1:0, protocol: redis, pool: main}]\n"
                "pools: [{name: main, ring: {scheme: vnode}, nodes: "
                "[{name: a, members: [{address: 127.0.0.1:1}]}]}]\n")
        self.refuse(good + "wrokers: 2\n", ":3:", "wrokers")
        self.refuse(good + "workers: 1\nworkers: 2\n", ":4:", "workers")
        self.refuse(good + "workers: 010\n", ":3:")
        self.refuse(good.replace("127.0.0.1:0", "0.0.0.0:6380"), "password")
        self.refuse("listeners: [", ":1:")

    def test_a_directory_that_cannot_be_written_is_said(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "cleave.yaml")
            with open(path, "w", encoding="utf-8") as out:
                out.write("listeners: [{address: 127.0.0.1:0, protocol: redis, pool: main}]\n"
                          "pools: [{name: main, ring: {scheme: vnode}, nodes: "
                          "[{name: a, members: [{address: 127.0.0.1:1}]}]}]\n"
                          f"coordination: {{kind: sqlite, path: {directory}/none/here.db}}\n")
            done = subprocess.run([harness.CLEAVE, "serve", "--config", path],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20,
                                  check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("here.db", done.stdout.decode())


if __name__ == "__main__":
    unittest.main()
