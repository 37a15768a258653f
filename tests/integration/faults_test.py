#!/usr/bin/env python3
"""Servers that die, hang, or are not what they seem."""

import os
import signal
import subprocess
import tempfile
import time
import unittest

import harness


def key_on(up, node):
    """A key that lives on the node."""
    for i in range(10_000):
        if up.get(f"/locate?key=probe{i}")["node"] == node:
            return f"probe{i}"
    raise AssertionError(f"no key on {node}")


class NodeDown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def test_hanging_node_fails_fast_and_alone_and_recovers(self):
        with harness.Up(nodes=3) as up, harness.Redis(up.port) as client:
            lost, kept = key_on(up, "a"), key_on(up, "b")
            client.call("SET", lost, "1")
            client.call("SET", kept, "2")
            pid = up.server_pid(up.node_ports()["a"])
            os.kill(pid, signal.SIGSTOP)
            try:
                harness.wait_for("node a to be down", lambda: not next(
                    n for n in up.get("/status")["nodes"] if n["name"] == "a")["up"], 20)
                began = time.monotonic()
                with self.assertRaises(harness.Redis.ReplyError) as raised:
                    client.call("GET", lost)
                self.assertLess(time.monotonic() - began, 3.0, "its keys fail fast")
                self.assertIn("a", str(raised.exception))
                self.assertEqual(client.call("GET", kept), b"2", "others are not affected")
            finally:
                os.kill(pid, signal.SIGCONT)

            def back():
                try:
                    return client.call("GET", lost) == b"1"
                except harness.Redis.ReplyError:
                    return False

            harness.wait_for("node a to be back", back, 20)

    def test_killed_server_is_started_again(self):
        with harness.Up(nodes=2) as up, harness.Redis(up.port) as client:
            key = key_on(up, "a")
            client.call("SET", key, "1")
            time.sleep(1.5)  # its append-only file is synced each second
            pid = up.server_pid(up.node_ports()["a"])
            os.kill(pid, signal.SIGKILL)

            def back():
                try:
                    return client.call("GET", key) == b"1"
                except harness.Redis.ReplyError:
                    return False

            harness.wait_for("node a to be back with its data", back, 20)
            self.assertNotEqual(up.server_pid(up.node_ports()["a"]), pid)


class Servers:
    """Bare redis-servers and a `cleave serve` over them."""

    def __init__(self, count):
        self.base = tempfile.mkdtemp(prefix="cleave-test-")
        self.ports = [harness.free_port() for _ in range(count)]
        self.port, self.admin_port = harness.free_port(), harness.free_port()
        self.processes = []
        for port in self.ports:
            self.start("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                       "--dir", self.base)
        for port in self.ports:
            harness.wait_for("redis-server", lambda p=port: self.answers(p))

    def start(self, *command):
        self.processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL,
                                               stdin=subprocess.DEVNULL))

    @staticmethod
    def answers(port):
        try:
            with harness.Redis(port, timeout=1.0) as server:
                return server.call("PING") == b"PONG"
        except (OSError, harness.Redis.ReplyError):
            return False

    def serve(self, addresses):
        path = os.path.join(self.base, "cleave.yaml")
        nodes = "".join(f"      - {{name: n{i}, members: [{{address: {address}}}]}}\n"
                        for i, address in enumerate(addresses))
        with open(path, "w", encoding="ascii") as out:
            out.write(f"listeners: [{{address: 127.0.0.1:{self.port}}}]\n"
                      f"admin: {{address: 127.0.0.1:{self.admin_port}}}\npools:\n"
                      f"  - name: main\n    nodes:\n{nodes}"
                      f"coordination: {{kind: sqlite, path: {self.base}/cleave.db}}\n")
        self.start(harness.CLEAVE, "serve", "--config", path)
        harness.wait_for("the router", lambda: self.answers(self.port))
        harness.wait_for("a leader", lambda: '"leader":true' in self.command("status")[1])

    def command(self, *arguments):
        program = subprocess.run(
            [harness.CLEAVE, *arguments, "--admin", f"127.0.0.1:{self.admin_port}", "--json"],
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        return program.returncode, program.stdout, program.stderr

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(timeout=20)
        subprocess.run(["rm", "-rf", self.base], check=True)


class NotWhatTheySeem(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def servers(self, count):
        servers = Servers(count)
        self.addCleanup(servers.close)
        return servers

    def move_ends(self, servers, key, why):
        """Orders a move of the key to either node; it must not happen, for this reason."""
        for target in ("n0", "n1"):
            servers.command("move", "--key", key, "--to", target)
        harness.wait_for("the reason", lambda: why in servers.command("explain")[1]
                         or why in "".join(servers.command("move", "--key", key, "--to", target)[2]
                                           for target in ("n0", "n1")), 20)

    def test_foreign_keys_stay_until_adoption(self):
        servers = self.servers(2)
        for port in servers.ports:
            with harness.Redis(port) as server:
                server.call("SET", "foreign", "precious")
        servers.serve([f"127.0.0.1:{port}" for port in servers.ports])
        with harness.Redis(servers.port) as client:
            client.call("SET", "k", "1")
        self.move_ends(servers, "k", "marker")
        for port in servers.ports:
            with harness.Redis(port) as server:
                self.assertEqual(server.call("GET", "foreign"), b"precious", "nothing was deleted")
                self.assertEqual(server.call("EXISTS", "cleave:{owner}"), 0)
        self.assertEqual(servers.command("adopt")[0], 1, "without a yes nothing is marked")
        self.assertEqual(servers.command("adopt", "--yes")[0], 1, "one is where nobody looks")
        self.assertEqual(servers.command("adopt", "--yes", "--force")[0], 0)
        for port in servers.ports:
            with harness.Redis(port) as server:
                self.assertEqual(server.call("EXISTS", "cleave:{owner}"), 1)

    def test_one_server_under_two_names_moves_nothing(self):
        servers = self.servers(1)
        servers.serve([f"127.0.0.1:{servers.ports[0]}", f"127.1:{servers.ports[0]}"])
        servers.command("adopt", "--yes")
        with harness.Redis(servers.port) as client:
            client.call("SET", "k", "1")
            self.move_ends(servers, "k", "one server under two names")
            self.assertEqual(client.call("GET", "k"), b"1")


if __name__ == "__main__":
    unittest.main()
