#!/usr/bin/env python3
"""`cleave up` and `serve`: starting, stopping, being killed, being used wrongly."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import harness
from serve_test import Servers


def run(*arguments, seconds=30):
    """The finished program."""
    return subprocess.run([harness.CLEAVE, *arguments], capture_output=True, text=True,
                          timeout=seconds, stdin=subprocess.DEVNULL, check=False)


def alive(pid):
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Up(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def test_first_answer_within_three_seconds(self):
        up = harness.Up(nodes=4)
        self.addCleanup(up.close)
        began = time.monotonic()
        up.start(ready=False)

        def answers():
            try:
                with harness.Redis(up.port, timeout=1.0) as client:
                    return client.call("SET", "a", "1") == b"OK"
            except OSError:
                return False

        harness.wait_for("the first answer", answers, 20)
        self.assertLess(time.monotonic() - began, 3.0)

    def test_interrupt_stops_everything(self):
        with harness.Up(nodes=3) as up:
            pids = [up.server_pid(port) for port in up.node_ports().values()]
            self.assertEqual(len(pids), 3)
            self.assertEqual(up.stop(), 0)
            for pid in pids:
                self.assertFalse(alive(pid), "a server outlived a clean stop")

    def test_killed_router_leaves_servers_that_are_adopted(self):
        with harness.Up(nodes=3) as up:
            with harness.Redis(up.port) as client:
                for i in range(300):
                    client.call("SET", f"k{i}", i)
            pids = {up.server_pid(port) for port in up.node_ports().values()}
            up.kill(signal.SIGKILL)
            self.assertTrue(all(alive(pid) for pid in pids))
            up.start()
            self.assertEqual({up.server_pid(port) for port in up.node_ports().values()}, pids)
            with harness.Redis(up.port) as client:
                self.assertEqual([client.call("GET", f"k{i}") for i in range(300)],
                                 [str(i).encode() for i in range(300)])

    def test_stopped_pool_comes_back_with_its_data(self):
        with harness.Up(nodes=2) as up:
            with harness.Redis(up.port) as client:
                client.call("SET", "kept", "yes")
            self.assertEqual(up.stop(), 0)
            up.start()
            with harness.Redis(up.port) as client:
                self.assertEqual(client.call("GET", "kept"), b"yes")

    def test_second_up_on_the_directory_is_refused(self):
        with harness.Up(nodes=2) as up:
            second = run("up", "--nodes", "2", "--dir", up.directory, "--port", "0",
                         "--admin-port", "0", "--json")
            self.assertEqual(second.returncode, 2)
            self.assertIn("is in use by process", second.stderr)
            self.assertIn("error", json.loads(second.stdout.splitlines()[-1]))
            with harness.Redis(up.port) as client:
                self.assertEqual(client.call("PING"), b"PONG", "the first one goes on")

    def test_another_number_of_nodes_is_refused(self):
        with harness.Up(nodes=2) as up:
            up.stop()
            other = run("up", "--nodes", "3", "--dir", up.directory)
            self.assertEqual(other.returncode, 2)
            self.assertIn("--nodes 2", other.stderr)

    def test_taken_port_is_a_clear_error(self):
        with harness.Up(nodes=1) as up, tempfile.TemporaryDirectory() as base:
            other = run("up", "--nodes", "1", "--dir", os.path.join(base, "pool"), "--port",
                        str(up.port), "--admin-port", "0")
            self.assertEqual(other.returncode, 2)
            self.assertIn(str(up.port), other.stderr)


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def config_error(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            program = run("serve", "--config", file.name)
            self.assertEqual(program.returncode, 2, program.stderr)
            return program.stderr.replace(file.name, "FILE")

    def test_bad_configurations_name_the_place(self):
        self.assertIn("FILE:1:1: pools", self.config_error("workers: 1\n"))
        self.assertIn("FILE:1:10: workers: '010'", self.config_error(
            "workers: 010\n"
            "listeners: [{address: 127.0.0.1:0}]\n"
            "pools: [{name: m, nodes: [{name: a, members: [{address: h:1}]}]}]\n"))
        self.assertIn("not YAML", self.config_error("a: [\n"))

    def test_missing_file_and_bad_usage(self):
        self.assertEqual(run("serve", "--config", "/nonexistent.yaml").returncode, 2)
        self.assertEqual(run("serve").returncode, 2)
        self.assertEqual(run("nonsense").returncode, 2)
        self.assertEqual(run("move", "--to", "a").returncode, 2)


class AdminInterface(unittest.TestCase):
    def test_token_is_asked_for(self):
        harness.require_binary()
        servers = Servers(1)
        self.addCleanup(servers.close)
        with tempfile.TemporaryDirectory() as base:
            server = servers.ports[0]
            path = os.path.join(base, "cleave.yaml")
            with open(path, "w", encoding="ascii") as out:
                out.write("listeners: [{address: 127.0.0.1:0, password: pass}]\n"
                          "admin: {address: 127.0.0.1:0, token: s3cret}\n"
                          "pools: [{name: m, nodes: [{name: a, members: [{address: "
                          f"127.0.0.1:{server}}}]}}]}}]\n"
                          f"coordination: {{path: {base}/cleave.db}}\n")
            with subprocess.Popen([harness.CLEAVE, "serve", "--config", path, "--json"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True) as router:
                ready = json.loads(router.stdout.readline())
                admin = ["--admin", ready["admin"]]
                self.assertEqual(run("status", *admin).returncode, 1)
                self.assertEqual(run("status", *admin, "--token", "wrong").returncode, 1)
                self.assertEqual(run("status", *admin, "--token", "s3cret").returncode, 0)
                port = int(ready["addresses"][0].rsplit(":", 1)[1])
                with harness.Redis(port) as client:
                    with self.assertRaises(harness.Redis.ReplyError):
                        client.call("GET", "a")
                    client.call("AUTH", "pass")
                    self.assertIsNone(client.call("GET", "a"))
                router.send_signal(signal.SIGTERM)
                rest = router.stdout.read()
                self.assertEqual(json.loads(rest.splitlines()[-1]), {"stopped": True})
                self.assertEqual(router.wait(timeout=20), 0)


class Commands(unittest.TestCase):
    COMMANDS = [["up"], ["serve"], ["status"], ["locate"], ["plan"], ["explain"], ["approve"],
                ["cut"], ["presplit"], ["move"], ["merge"], ["abort"], ["undo"], ["freeze"],
                ["resume"], ["mode"], ["orders"], ["moves"], ["down"],
                ["node", "add"], ["node", "drain"], ["node", "undrain"], ["node", "weight"],
                ["node", "remove"], ["adopt"], ["strays"], ["flatten"],
                ["ring", "save"], ["ring", "restore"],
                ["bench"], ["demo", "hot"], ["demo", "auto-split"], ["demo", "churn"]]

    def test_every_command_has_help_with_an_example(self):
        for command in self.COMMANDS:
            with self.subTest(command):
                program = run(*command, "--help")
                self.assertEqual(program.returncode, 0)
                self.assertIn("Example:\n  cleave " + " ".join(command), program.stdout)
                self.assertIn("--json", program.stdout)

    def test_nobody_answers(self):
        port = harness.free_port()
        program = run("status", "--admin", f"127.0.0.1:{port}", "--json")
        self.assertEqual(program.returncode, 3)
        self.assertEqual(json.loads(program.stdout)["error"]["code"], "unavailable")
        self.assertIn("no router answers", program.stderr)

    def test_scripted_demonstrations(self):
        for name in ("auto-split", "churn"):
            with self.subTest(name):
                program = run("demo", name, "--json")
                self.assertEqual(program.returncode, 0)
                told = json.loads(program.stdout.splitlines()[-1])
                self.assertIn("naive", told)
                self.assertIn("cleave", told)


if __name__ == "__main__":
    unittest.main()
