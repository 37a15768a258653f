"""What the tests beside real peers share: the peers' processes, servers for them to talk to, and
keys sent through them. Loopback only; everything that was started is ended by its process id."""

import asyncio
import importlib.util
import os
import random
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
import unittest

import harness

SEED = int(os.environ.get("PEERS_SEED", "1"))


class Server(socketserver.ThreadingTCPServer):
    """Says yes to every Redis command and remembers in `owners` whose first argument it saw."""

    daemon_threads = True

    def __init__(self, index, owners):
        self.index = index
        self.owners = owners
        super().__init__(("127.0.0.1", 0), Commands)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def close(self):
        self.shutdown()
        self.server_close()


class Commands(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(size + 2)[:-2])
            self.server.owners[words[1]] = self.server.index
            self.wfile.write(b"+OK\r\n")


class HttpServers:
    """HTTP servers on ports of their own, each of which answers every request with its number."""

    def __init__(self, count):
        self.loop = asyncio.new_event_loop()
        self.connections = set()
        self.servers = [self.loop.run_until_complete(self.loop.create_server(
            lambda number=i: Numbered(number, self.connections), "127.0.0.1", 0))
            for i in range(count)]
        self.ports = [server.sockets[0].getsockname()[1] for server in self.servers]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        for closed in (*self.servers, *self.connections):
            closed.close()
        self.loop.run_until_complete(asyncio.sleep(0.01))
        self.loop.close()


class Numbered(asyncio.Protocol):
    def __init__(self, number, connections):
        body = b"%d" % number
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        self.rest = b""
        self.connections = connections

    def connection_made(self, transport):
        self.transport = transport
        self.connections.add(transport)

    def connection_lost(self, _):
        self.connections.discard(self.transport)

    def data_received(self, data):
        *requests, self.rest = (self.rest + data).split(b"\r\n\r\n")
        self.transport.write(self.answer * len(requests))


class PeerTest(unittest.TestCase):
    """Each test has a folder, and random numbers that begin anew."""

    def setUp(self):
        harness.require_binary()
        self.random = random.Random(SEED)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, name):
        found = shutil.which(name)
        if not found:
            self.skipTest(f"{name} is not installed")
        return found

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_peer(self, *command):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, cwd=self.folder)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def envoy(self):
        """Its binary: on the path, or in the package that the tests' Python has."""
        found = shutil.which("envoy")
        package = importlib.util.find_spec("envoy")
        if not found and package:
            found = os.path.join(os.path.dirname(package.origin), "_bin", "envoy")
        if not found or not os.access(found, os.X_OK):
            self.skipTest("envoy is not installed")
        return found

    def redis_servers(self, count):
        """Ports of real servers, empty."""
        binary = self.program("redis-server")
        ports = [harness.free_port() for _ in range(count)]
        for port in ports:
            self.run_peer(binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                          "--appendonly", "no", "--dir", self.folder)
        for port in ports:
            harness.wait_for("redis-server listens", lambda port=port: can_connect(port), 10)
        return ports


def ask_pipelined(port, keys, batch=500):
    """The number that the backend of each key answers; the key is sent as header X-Key."""
    numbers = []
    for start in range(0, len(keys), batch):
        asked = keys[start:start + batch]
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            lines = b"".join(b"GET / HTTP/1.1\r\nHost: a\r\nX-Key: %s\r\n\r\n" % key
                             for key in asked)
            sender = threading.Thread(target=connection.sendall, args=(lines,))
            sender.start()
            with connection.makefile("rb") as answers:
                numbers += [read_number(answers) for _ in asked]
            sender.join()
    return numbers


def read_number(answers):
    size = 0
    status = answers.readline()
    if not status.startswith(b"HTTP/1.1 200 "):
        raise ConnectionError(f"not a good answer: {status!r}")
    while (line := answers.readline()) != b"\r\n":
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    return int(answers.read(size))


def can_connect(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False

