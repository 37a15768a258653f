"""A `cleave serve` before servers a, b, ...: its life, its HTTP interface, commands, moves."""

import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse

from programs import CLEAVE, Redis, ReplyError, free_port, run_cleave, wait_for
from harness import AdminError

NAMES = "abcdefghijklmnop"


class Router:
    """`cleave serve` before servers a, b, ...; adopted unless told otherwise."""

    def __init__(
        self,
        base,
        members,
        *,
        kind="store",
        ring="{scheme: vnode}",
        mode="observe",
        servers="",
        balance="",
        limits=None,
        coordination=None,
        listener="",
        admin="",
        extra="",
        workers=1,
        adopt=True,
        start=True,
        environment=None,
        limit_files=None,
        hosts=None,
    ):
        self.directory = tempfile.mkdtemp(prefix="router-", dir=base)
        self.port, self.admin_port = free_port(), free_port()
        self.config = os.path.join(self.directory, "cleave.yaml")
        self.environment = environment
        self.limit_files = limit_files
        self.hosts = hosts  # a file that it sees as /etc/hosts
        addresses = [m if isinstance(m, str) else f"127.0.0.1:{m.port}" for m in members]
        nodes = "".join(
            f"      - {{name: {NAMES[i]}, members: [{{address: '{address}'}}]}}\n"
            for i, address in enumerate(addresses)
        )
        coordination = coordination or f"{{kind: sqlite, path: {self.directory}/ring.db}}"
        text = (
            f"listeners: [{{address: 127.0.0.1:{self.port}, protocol: redis, pool: main"
            f"{listener}}}]\nadmin: {{address: 127.0.0.1:{self.admin_port}{admin}}}\n"
            f"workers: {workers}\npools:\n  - name: main\n    kind: {kind}\n"
            f"    ring: {ring}\n"
            + (f"    servers: {servers}\n" if servers else "")
            + f"    nodes:\n{nodes}coordination: {coordination}\n"
            f"balance: {{mode: {mode}{balance}}}\n"
        )
        if limits:
            text += "limits: {" + ", ".join(f"{k}: {v}" for k, v in limits.items()) + "}\n"
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(text + extra)
        self.process = None
        if start:
            self.start()
            self.leading()
            if adopt:
                self.adopt()

    # ---- its life -------------------------------------------------------------------------------
    def start(self, ready=True, seconds=15.0, cwd=None):
        argv = [CLEAVE, "serve", "--config", self.config]
        if self.limit_files:
            argv = ["bash", "-c", f'ulimit -n {self.limit_files}; exec "$@"', "bash", *argv]
        if self.hosts:
            mount = f'mount --bind {self.hosts} /etc/hosts && exec "$@"'
            argv = ["unshare", "--mount", "--map-root-user", "sh", "-c", mount, "sh", *argv]
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(
                argv,
                stdout=log,
                stderr=log,
                cwd=cwd or self.directory,
                stdin=subprocess.DEVNULL,
                env=self.environment,
            )
        if ready:
            self.wait_ready(seconds)

    def wait_ready(self, seconds=15.0):
        def ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"serve ended with {self.process.returncode}: {self.log()}")
            return self.is_ready()

        wait_for("ready", ready, seconds)

    def is_ready(self):
        try:
            return bool(self.get("/ready")["ready"])
        except (OSError, AdminError):
            return False

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1.0).close()
            return True
        except OSError:
            return False

    def leading(self):
        wait_for("a leader", lambda: self.get("/status").get("leader"), 15)

    def adopt(self):
        def adopted():
            try:
                self.post("/adopt")
                return True
            except AdminError:
                return False

        wait_for("adopted", adopted, 10, 0.1)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        with open(os.path.join(self.directory, "log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(timeout=15)

    def close(self):
        if self.alive():
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(timeout=6)
            except subprocess.TimeoutExpired:
                self.kill()

    def processor_share(self, seconds):
        """The share of one core that it uses."""

        def used():
            with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
                words = stat.read().rsplit(")", 1)[1].split()
            return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

        before, began = used(), time.monotonic()
        time.sleep(seconds)
        return (used() - before) / (time.monotonic() - began)

    def resident(self):
        """Bytes of memory."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) << 10

    # ---- its HTTP interface ---------------------------------------------------------------------
    def http(self, method, path, body=None, headers=None, timeout=10.0):
        """(status, headers in lower case, body): whatever comes back."""

        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, told, answer.read()
        finally:
            connection.close()

    def request(self, method, path, body=None, timeout=10.0):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if method != "GET" else {}
        status, _, raw = self.http(method, path, data, headers, timeout)
        text = raw.decode(errors="replace")
        if status >= 400:
            raise AdminError(status, text)
        return json.loads(text) if text[:1] in "{[" and text else text

    def get(self, path, timeout=10.0):
        return self.request("GET", path, None, timeout)

    def post(self, path, body=None, timeout=10.0):
        return self.request("POST", path, {} if body is None else body, timeout)

    def attempt(self, method, path, body=None, timeout=10.0):
        """(status, text, seconds); status 0 when nothing came in time."""
        began = time.monotonic()
        try:
            data = None if body is None else json.dumps(body).encode()
            headers = {"Content-Type": "application/json"} if method != "GET" else {}
            status, _, raw = self.http(method, path, data, headers, timeout)
            return status, raw.decode(errors="replace"), time.monotonic() - began
        except OSError as error:
            return 0, str(error), time.monotonic() - began

    def node(self, name):
        return next(n for n in self.get("/status")["nodes"] if n["name"] == name)

    def status_text(self):
        """All that /status says, as one text."""
        return json.dumps(self.get("/status"))

    def metric(self, name):
        """The sum of a metric over its labels; None when there is none."""
        values = re.findall(rf"(?m)^{name}(?:{{[^}}]*}})? ([0-9.e+-]+)$", self.get("/metrics"))
        return sum(float(value) for value in values) if values else None

    # ---- its commands ---------------------------------------------------------------------------
    def command(self, *args, timeout=40.0, stdin=None):
        """(exit code, all output) of `cleave ARGS --admin ...`."""
        return run_cleave(
            *args,
            "--admin",
            f"127.0.0.1:{self.admin_port}",
            timeout=timeout,
            stdin=stdin,
            cwd=self.directory,
        )

    # ---- keys and moves -------------------------------------------------------------------------
    def client(self, timeout=15.0):
        return Redis(self.port, timeout)

    def call(self, *args, timeout=15.0):
        with self.client(timeout) as client:
            return client.call(*args)

    def try_call(self, *args, timeout=15.0):
        try:
            return self.call(*args, timeout=timeout)
        except ReplyError as refused:
            return refused

    def locate(self, key):
        raw = key if isinstance(key, bytes) else key.encode()
        return self.get("/locate?key=" + urllib.parse.quote_from_bytes(raw, safe=""))

    def owner(self, key):
        return self.locate(key)["node"]

    def keys_of(self, node, count, prefix="k"):
        """Names that lie on the node."""
        found = []
        for number in range(100_000):
            if self.owner(f"{prefix}{number}") == node:
                found.append(f"{prefix}{number}")
                if len(found) == count:
                    return found
        raise RuntimeError(f"not {count} keys on {node}")

    def ranges(self, node):
        return [
            {"first": e["first"], "last": e["last"]}
            for e in self.get("/ring")["entries"]
            if e["node"] == node
        ]

    def order(self, source, destination):
        """A move of all that `source` owns; its id."""
        return self.post("/moves", {"ranges": self.ranges(source), "to": destination})["move"]

    def gather(self, node, others):
        """All ranges on one node, before there is data."""
        for other in others:
            if self.ranges(other):
                self.order(other, node)
                self.settled()

    def moves(self):
        return self.get("/moves")["moves"]

    def ended(self, move):
        return next((m for m in self.get("/moves")["ended"] if m["id"] == move), None)

    def settled(self, seconds=30.0):
        """No move is under way, and nothing is left to clean."""

        def quiet():
            document = self.document()
            return not (
                self.get("/moves")["moves"]
                or document["moves"]
                or any(
                    one.get("state", "") in ("open", "begun")
                    for one in document.get("leftovers", [])
                )
            )

        wait_for("moves to end and leftovers to be cleaned", quiet, seconds, 0.03)

    def finish(self, move, seconds=30.0):
        """Waits for this move's end; its record."""
        return wait_for("the move's end", lambda: self.ended(move), seconds, 0.03)

    def document(self):

        path = os.path.join(self.directory, "ring.db")
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
        try:
            return json.loads(database.execute("SELECT text FROM register").fetchone()[0])
        finally:
            database.close()

    def unsplittable(self):
        return [d for d in self.get("/decisions")["decisions"] if d.get("kind") == "unsplittable"]
