"""The programs of a check: real servers of several versions, etcd, and the commands of cleave.
Loopback only; each is ended by its process id."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "integration")
)
import harness  # noqa: E402
from harness import Redis, free_port, wait_for  # noqa: E402

CLEAVE = os.path.abspath(harness.CLEAVE)
ReplyError = Redis.ReplyError


class Skipped(Exception):
    """This machine lacks what the case needs."""


def binary(engine):
    """The program of `redis`, `redis62` or `valkey`; the last two by tools/field_servers.sh."""
    if engine == "redis":
        return "redis-server"
    path = os.environ.get("FIELD_" + engine.upper(), "")
    if not path:
        raise Skipped(f"no {engine}: tools/field_servers.sh")
    return path


class Server:
    """A real server on loopback, with its own directory."""

    def __init__(self, base, *args, engine="redis", port=None, host="127.0.0.1"):
        self.host = host
        self.port = port or free_port()
        self.directory = tempfile.mkdtemp(prefix=f"{engine}-", dir=base)
        debug = (
            []
            if engine == "redis62"
            else ["--enable-debug-command", "yes", "--enable-protected-configs", "yes"]
        )
        self.argv = [
            binary(engine),
            "--port",
            str(self.port),
            "--bind",
            host,
            "--dir",
            self.directory,
            "--save",
            "",
            "--appendonly",
            "no",
            *debug,
            *args,
        ]
        self.process = None
        self.start()

    def start(self):
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        wait_for(f"the server at {self.port}", self.answers, 10)

    def answers(self):
        try:
            with Redis(self.port, timeout=2) as client:
                return client.call("PING") == b"PONG"
        except ReplyError as refused:
            return "NOAUTH" in str(refused)
        except OSError:
            return False

    def call(self, *args, timeout=10.0):
        with Redis(self.port, timeout) as client:
            return client.call(*args)

    def attempt(self, *args, timeout=10.0):
        """The reply, or the error as an exception object."""
        try:
            return self.call(*args, timeout=timeout)
        except ReplyError as refused:
            return refused

    def keys(self):
        """All keys but cleave's own."""
        return {key for key in self.call("KEYS", "*") if not key.startswith(b"cleave:{")}

    def own_keys(self):
        """cleave's own keys that are no marker: what a broken copy left behind."""
        lasting = {b"cleave:{owner}", b"cleave:{ring}", b"cleave:{scripts}"}
        return {key for key in self.call("KEYS", "cleave:{*")} - lasting

    def info(self, field):
        found = re.search(rf"(?m)^{field}:(.*?)\r?$", self.call("INFO").decode())
        return found[1] if found else None

    def fill(self, names, value):
        """SETs, pipelined. A number as value: as many bytes that do not compress."""
        names = list(names)
        value = os.urandom(value) if isinstance(value, int) else value
        with Redis(self.port, 60) as client:
            for begin in range(0, len(names), 1000):
                client.pipeline([("SET", name, value) for name in names[begin : begin + 1000]])

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=10)

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.process.poll() is None:
            self.thaw()
            self.kill()


class Etcd:
    """Debian's etcd on loopback."""

    def __init__(self, base, *args):
        if not shutil.which("etcd"):
            raise Skipped("no etcd")
        self.directory = tempfile.mkdtemp(prefix="etcd-", dir=base)
        self.port, peer = free_port(), free_port()
        url, peer_url = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{peer}"
        self.argv = [
            "etcd",
            "--name=one",
            f"--data-dir={self.directory}/data",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-cluster=one={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            *args,
        ]
        self.process = None
        self.start()

    def start(self):
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        wait_for("etcd", self.answers, 15)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def coordination(self):
        return f"{{kind: etcd, endpoints: ['http://127.0.0.1:{self.port}']}}"

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=10)

    def ask(self, path, body):
        """One request to its JSON gateway."""

        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data=json.dumps(body).encode(), method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return json.loads(error.read() or b"{}")

    def close(self):
        if self.process.poll() is None:
            self.thaw()
            self.kill()


def run_cleave(*args, timeout=60.0, stdin=None, cwd=None, environment=None):
    """(exit code, all output); -1 when it did not end in time."""
    try:
        done = subprocess.run(
            [CLEAVE, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL if stdin is None else None,
            cwd=cwd,
            input=stdin,
            timeout=timeout,
            check=False,
            env=environment,
        )
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return -1, (late.stdout or b"").decode(errors="replace")
