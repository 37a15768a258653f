#!/usr/bin/env python3
"""What people and programs are told: one log line for each change of state, /status and /metrics
that say the same, keys of any bytes that can be given back, commands that end with a message."""

import datetime
import json
import os
import re
import signal
import stat
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import faults_test
import harness


class Served(faults_test.Servers):
    """Bare servers and a `cleave serve` with its log in JSON, adopted."""

    def __init__(self, count, *options):
        self.options = options
        super().__init__(count)
        self.log = os.path.join(self.base, "router.log")
        self.router = None

    def config(self, addresses, more=""):
        path = os.path.join(self.base, "cleave.yaml")
        nodes = "".join(f"      - {{name: n{i}, members: [{{address: {address}}}]}}\n"
                        for i, address in enumerate(addresses))
        with open(path, "w", encoding="ascii") as out:
            out.write(f"listeners: [{{address: 127.0.0.1:{self.port}}}]\n"
                      f"admin: {{address: 127.0.0.1:{self.admin_port}}}\npools:\n"
                      f"  - name: main\n    nodes:\n{nodes}"
                      f"coordination: {{kind: sqlite, path: {self.base}/cleave.db}}\n"
                      f"log: {{format: json}}\n{more}")
        return path

    def begin(self, path):
        with open(self.log, "ab") as log:
            self.router = subprocess.Popen([harness.CLEAVE, "serve", "--config", path], stdout=log,
                                           stderr=log, stdin=subprocess.DEVNULL)
        self.processes.append(self.router)

    def serve_all(self):
        self.begin(self.config([f"127.0.0.1:{port}" for port in self.ports]))
        harness.wait_for("the router", lambda: self.answers(self.port))
        harness.wait_for("a leader", lambda: self.get("/status")["leader"])
        harness.wait_for("adoption", lambda: self.command("adopt", "--yes")[0] == 0)

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin_port}{path}", data=data,
                                         method=method,
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read().decode()

    def get(self, path):
        return json.loads(self.request("GET", path))

    def lines(self):
        with open(self.log, encoding="utf-8") as log:
            return [json.loads(line) for line in log if line.startswith("{")]

    def told(self, event, node=None, seconds=10):
        """The line of that event, which must come."""
        def find():
            return next((line for line in self.lines() if line["event"] == event
                         and node in (None, line.get("node"))), None)
        return harness.wait_for(f"{event} in the log", find, seconds)

    def metrics(self):
        """By name and labels; every line must be of the format."""
        values, declared = {}, set()
        for line in self.request("GET", "/metrics").splitlines():
            if line.startswith("# TYPE "):
                name = line.split()[2]
                assert name not in declared, f"{name} is declared twice"
                declared.add(name)
            elif not line.startswith("#"):
                match = re.fullmatch(
                    r'([a-z_]+)(\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)+\})? ([0-9.]+)', line)
                assert match, line
                values[match[1] + (match[2] or "")] = float(match[3])
        return values


class Lines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()
        cls.served = Served(3)
        try:
            cls.served.serve_all()
        except BaseException:
            cls.served.close()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.served.close()

    def trouble(self, code, node):
        return [t for t in self.served.get("/status")["troubles"]
                if (t["code"], t["node"]) == (code, node)]

    def test_a_server_that_dies_and_comes_back(self):
        served = self.served
        began = datetime.datetime.now(datetime.timezone.utc)
        victim = served.processes[2]
        victim.kill()
        victim.wait()
        line = served.told("node-down", "n2")
        self.assertEqual(line["level"], "warning")
        when = datetime.datetime.fromisoformat(line["time"])
        self.assertIsNotNone(when.tzinfo, "a line has its zone")
        self.assertGreaterEqual(when, began - datetime.timedelta(seconds=1))
        self.assertTrue(self.trouble("node-down", "n2"))
        values = served.metrics()
        self.assertEqual(values['cleave_trouble{kind="node-down"}'], 1)
        self.assertEqual(values['cleave_node_up{node="n2"}'], 0)
        code, out, _ = self.plain("status")
        self.assertEqual(code, 0)
        self.assertRegex(out, "n2 +DOWN")
        self.assertIn("! node n2 is down", out)
        self.assertLessEqual(max(len(each) for each in out.splitlines()), 80)
        served.start("redis-server", "--port", str(served.ports[2]), "--bind", "127.0.0.1",
                     "--save", "", "--dir", served.base)
        self.assertIn("is up again", served.told("node-down-over", "n2")["text"])
        harness.wait_for("no trouble", lambda: not self.trouble("node-down", "n2"))

    def test_a_server_that_refuses_clients(self):
        """Whatever it says, and whoever hears it."""
        served = self.served
        key = next(f"k{i}" for i in range(1000)
                   if served.get(f"/locate?key=k{i}")["node"] == "n1")
        with harness.Redis(served.ports[1]) as server, harness.Redis(served.port) as client:
            server.call("CONFIG", "SET", "maxmemory", "1")
            self.addCleanup(self.unlimit, served.ports[1])
            with self.assertRaisesRegex(harness.Redis.ReplyError, "OOM"):
                client.call("SET", key, "v")
        line = served.told("node-refuses-commands", "n1")
        self.assertEqual(line["text"], "node n1 refuses commands of clients: oom")
        values = served.metrics()
        self.assertEqual(values['cleave_node_errors_total{node="n1",cause="oom"}'], 1)
        self.assertEqual(values['cleave_trouble{kind="node-refuses-commands"}'], 1)
        self.assertGreaterEqual(values['cleave_node_server_seconds_count{node="n1"}'], 1)

    @staticmethod
    def unlimit(port):
        with harness.Redis(port) as server:
            server.call("CONFIG", "SET", "maxmemory", "0")

    def plain(self, *arguments):
        program = subprocess.run(
            [harness.CLEAVE, *arguments, "--admin", f"127.0.0.1:{self.served.admin_port}"],
            capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        return program.returncode, program.stdout, program.stderr

    def test_roles_memory_and_eviction(self):
        served = self.served
        with harness.Redis(served.ports[0]) as server:
            server.call("REPLICAOF", "127.0.0.1", "1")
            self.assertIn("is a replica", served.told("node-replica", "n0")["text"])
            roles = {n["name"]: n["role"] for n in served.get("/status")["nodes"]}
            self.assertEqual(roles["n0"], "replica")
            self.assertEqual(served.metrics()['cleave_node_primary{node="n0"}'], 0)
            server.call("REPLICAOF", "NO", "ONE")
            served.told("node-replica-over", "n0")
            server.call("CONFIG", "SET", "maxmemory", "500000")
            served.told("node-full", "n0")
            server.call("CONFIG", "SET", "maxmemory", "0")
            served.told("node-full-over", "n0")
            server.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
            self.assertIn("allkeys-lru", served.told("node-evicts", "n0")["text"])
            self.assertTrue(self.trouble("node-evicts", "n0"))
            server.call("CONFIG", "SET", "maxmemory-policy", "noeviction")
            served.told("node-evicts-over", "n0")

    def test_mode_freeze_and_sighup(self):
        served = self.served
        served.command("mode", "observe")
        self.assertIn("observe", served.told("mode")["text"])
        self.assertEqual(served.metrics()['cleave_mode{mode="observe"}'], 1)
        served.command("mode", "auto")
        served.command("freeze")
        served.told("frozen")
        served.command("resume")
        os.kill(served.router.pid, signal.SIGHUP)
        harness.wait_for("its line", lambda: any("SIGHUP" in line["text"]
                                                 for line in served.lines()))
        self.assertTrue(served.answers(served.port), "SIGHUP does not end it")
        self.assertIn("leads", served.told("leader")["text"])

    def test_metrics_of_the_process_and_of_moves(self):
        names = ("process_cpu_seconds_total", "process_resident_memory_bytes",
                 "process_open_fds", "process_start_time_seconds", "cleave_coordinator_up",
                 'cleave_moves_ended_total{end="committed"}', "cleave_moved_keys_total",
                 'cleave_verdicts{reason="no-target"}', 'cleave_node_marked{node="n1"}',
                 'cleave_node_memory_bytes{node="n1"}', 'cleave_node_ping_seconds{node="n1"}')
        harness.wait_for("all metrics", lambda: set(names) <= set(self.served.metrics()))
        values = self.served.metrics()
        self.assertTrue([name for name in values if name.startswith("cleave_build_info{")])
        self.assertAlmostEqual(values["process_start_time_seconds"], time.time(), delta=600)
        self.assertEqual(values["cleave_coordinator_up"], 1)

    def test_keys_of_any_bytes_can_be_given_back(self):
        served = self.served
        keys = [b"with space", b"new\nline", b"\xd6\xd0\xb9\xfa:gbk", b"\x00\xff\x01bin",
                b'quote"x\\y', b"\x1b[2J\x1b[31mred", b"}{", b"%2F+%20", b"\xff1", b"\xfe1"]
        shown = {}
        for key in keys:
            first = served.get("/locate?key=" + urllib.parse.quote(key, safe=""))
            again = served.get("/locate?key=" + urllib.parse.quote(first["key"], safe=""))
            self.assertEqual(first["token"], again["token"], first["key"])
            self.assertTrue(first["key"].isprintable(), first["key"])
            shown[first["key"]] = first
        self.assertEqual(len(shown), len(keys), "all can be told apart")
        for text, place in shown.items():
            code, out, error = served.command("locate", text)
            self.assertEqual(code, 0, error)
            self.assertEqual(json.loads(out)["keys"][0]["token"], place["token"], text)
        place = shown[r"\xff1"]
        to = next(f"n{i}" for i in range(3) if f"n{i}" != place["node"])
        with harness.Redis(served.port) as client:
            client.call("SET", b"\xff1", "value")
            harness.wait_for("the move", lambda: self.moved(r"\xff1", to))
            harness.wait_for("its owner", lambda: served.get(
                "/locate?key=%5Cxff1")["node"] == to)
            self.assertEqual(client.call("GET", b"\xff1"), b"value")
        code, out, _ = self.plain("explain")
        self.assertEqual(code, 0)
        self.assertRegex(out, rf"{place['node']} +{to} ")
        self.assertLessEqual(max(len(each) for each in out.splitlines()), 80)
        _, out, _ = self.plain("explain", "-v")
        self.assertIn(f"range {place['token']}-{place['token']}", out)

    def moved(self, key, to):
        try:
            return json.loads(self.served.request("POST", "/moves", {"key": key, "to": to}))["move"]
        except urllib.error.HTTPError:
            return False

    def test_nodes_that_join_have_names_and_are_new(self):
        for name, address, why in (("with space", "127.0.0.1:1", "letters"),
                                   ("g", f"localhost:{self.served.ports[1]}", "it is node n1"),
                                   ("dead", "127.0.0.1:1", "does not serve")):
            code, _, error = self.served.command("node", "add", name, address)
            self.assertNotEqual(code, 0, error)
            self.assertIn(why, error)


class Starts(unittest.TestCase):
    """What is said before anything is served."""

    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def served(self, count, *options):
        served = Served(count, *options)
        self.addCleanup(served.close)
        return served

    def why_not_ready(self, served):
        try:
            served.get("/ready")
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except OSError:
            pass
        return ""

    def test_a_server_in_cluster_mode_is_refused(self):
        served = self.served(0)
        port = harness.free_port()
        served.start("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                     "--dir", served.base, "--cluster-enabled", "yes")
        harness.wait_for("redis-server", lambda: served.answers(port))
        served.begin(served.config([f"127.0.0.1:{port}"]))
        harness.wait_for("the reason", lambda: "redis_mode:cluster" in self.why_not_ready(served))
        self.assertNotEqual(served.command("adopt", "--yes")[0], 0)

    def test_a_name_that_does_not_resolve_is_named(self):
        served = self.served(0)
        served.begin(served.config(["no-such-host.invalid:7001"]))
        harness.wait_for("its name", lambda: "no-such-host.invalid" in self.why_not_ready(served))

    def test_a_changed_file_is_told(self):
        served = self.served(2)
        served.serve_all()
        served.router.terminate()
        served.router.wait(timeout=20)
        path = served.config([f"127.0.0.1:{port}" for port in reversed(served.ports)])
        served.begin(path)
        self.assertIn("of the file is ignored", served.told("file-ignored")["text"])


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_command(self, *arguments, timeout=20, **more):
        return subprocess.run([harness.CLEAVE, *arguments], capture_output=True, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL, check=False, **more)

    def test_a_folder_for_a_file_is_a_message(self):
        for arguments in (["serve", "--config", self.folder], ["import", self.folder],
                          ["presplit", self.folder, "--dry-run"],
                          ["export", "twemproxy", "--config", self.folder],
                          ["locate", "--config", self.folder, "k"],
                          ["locate", "--keys", self.folder, "--scheme", "vnode", "--node", "a"],
                          ["assess", "--node", "a", "--monitor", self.folder],
                          ["simulate", "--trace", self.folder],
                          ["ring", "show", "--config", self.folder]):
            done = self.run_command(*arguments)
            self.assertEqual(done.returncode, 2, f"{arguments}: {done.stderr}")
            self.assertIn("folder", done.stderr, arguments)

    def test_bench_fails_at_once_where_it_cannot_begin(self):
        began = time.monotonic()
        done = self.run_command("bench", "--port", str(harness.free_port()))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertLess(time.monotonic() - began, 4)
        self.assertIn("refused", done.stderr.lower())

    def test_bench_with_a_password(self):
        port = harness.free_port()
        server = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
             "--requirepass", "geheim", "--dir", self.folder], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        harness.wait_for("redis-server", lambda: self.listens(port))
        short = ["bench", "--port", str(port), "--seconds", "1", "--keys", "100", "--clients", "2"]
        done = self.run_command(*short)
        self.assertEqual(done.returncode, 3)
        self.assertIn("CLEAVE_PASSWORD", done.stderr)
        done = self.run_command(*short, env={**os.environ, "CLEAVE_PASSWORD": "geheim"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("writes acknowledged", done.stdout, "nothing was verified")
        path = os.path.join(self.folder, "password")
        with open(path, "w", encoding="ascii") as out:
            out.write("geheim\n")
        done = self.run_command(*short, "--password-file", path, "--verify")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("writes acknowledged", done.stdout)

    @staticmethod
    def listens(port):
        try:
            harness.Redis(port, timeout=1.0).close()
            return True
        except OSError:
            return False

    def test_files_with_passwords(self):
        peer = os.path.join(self.folder, "nutcracker.yml")
        with open(peer, "w", encoding="ascii") as out:
            out.write("alpha:\n  listen: 127.0.0.1:22121\n  hash: md5\n  distribution: ketama\n"
                      "  redis: true\n  redis_auth: geheim\n  servers:\n"
                      "   - 127.0.0.1:7001:1 a\n   - 127.0.0.1:7002:1 b\n")
        out = os.path.join(self.folder, "cleave.yaml")
        done = self.run_command("import", peer, "--out", out, "--listen", "127.0.0.1:6399")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o600)
        with open(out, encoding="utf-8") as text:
            self.assertIn("127.0.0.1:6399", text.read())
        done = self.run_command("import", peer, "--out", out)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--force", done.stderr)
        self.assertEqual(self.run_command("import", peer, "--out", out, "--force").returncode, 0)

    def test_a_slip_in_a_token_is_an_error(self):
        done = self.run_command("cut", "--at", "0xzz", "--admin", "127.0.0.1:1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("0xzz", done.stderr)


if __name__ == "__main__":
    unittest.main()
