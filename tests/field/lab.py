"""What the field checks share: the register of cases, and the servers, routers and faults of each.

A check gets a `Lab`. It says what is wrong by `lab.must(holds, text)`, in the product's words where
it can; several faults of one case are all told. Whatever a check starts belongs to its process
group, which the runner ends."""

import os
import shutil
import socket
import tempfile
import threading

from programs import (  # noqa: F401, for the checks
    CLEAVE,
    Etcd,
    Redis,
    ReplyError,
    Server,
    Skipped,
    free_port,
    run_cleave,
    wait_for,
)
from relay import Relay
from router import AdminError, Router  # noqa: F401, for the checks


class Case:
    """One case of the field: its number, what is right, its function, and how long it may take."""

    def __init__(self, number, title, function, seconds):
        self.number = number
        self.title = title
        self.function = function
        self.seconds = seconds


CASES = {}


def case(number, title, seconds=30):
    """Registers a check. `title` says what is right."""

    def register(function):
        if number in CASES:
            raise ValueError(f"two checks of {number}")
        CASES[number] = Case(number, title, function, seconds)
        return function

    return register


class Task(threading.Thread):
    """Runs a function again and again until it is stopped."""

    def __init__(self, function, pause=0.0):
        super().__init__(daemon=True)
        self.function = function
        self.pause = pause
        self.ending = threading.Event()
        self.error = None
        self.start()

    def run(self):
        try:
            while not self.ending.is_set():
                self.function()
                if self.pause:
                    self.ending.wait(self.pause)
        except Exception as error:  # noqa: BLE001, told when the check asks for it
            self.error = error

    def stop(self):
        self.ending.set()
        self.join(20)

    close = stop


class Lab:
    """One check's servers, routers and faults."""

    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="cleave-field-")
        self.open = []
        self.faults = []
        self.reasons = []

    def must(self, holds, text):
        """Notes a fault and goes on."""
        if not holds:
            self.faults.append(text)
        return bool(holds)

    def must_or_say(self, holds, said, why):
        """Where the product does not do it, and says so: what it says, and why that is so."""
        if not holds:
            self.reasons.append(f"{said}; {why}")
        return bool(holds)

    def later(self, thing):
        self.open.append(thing)
        return thing

    def server(self, *args, **options):
        return self.later(Server(self.base, *args, **options))

    def servers(self, count, *args):
        return [self.server(*args) for _ in range(count)]

    def router(self, members, **options):
        return self.later(Router(self.base, members, **options))

    def relay(self, server, hook=None):
        return self.later(Relay(server.port, hook))

    def etcd(self, *args):
        return self.later(Etcd(self.base, *args))

    def task(self, function, pause=0.0):
        return self.later(Task(function, pause))

    def pair(self, **options):
        """Two servers, a router, and all ranges on a."""
        first, second = self.servers(2)
        router = self.router([first, second], **options)
        router.gather("a", "b")
        return first, second, router

    def directory(self):
        return tempfile.mkdtemp(dir=self.base)

    def file(self, name, text):
        path = os.path.join(self.directory(), name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def close(self):
        while self.open:
            try:
                self.open.pop().close()
            except Exception:  # noqa: BLE001, the rest must be closed all the same
                pass
        shutil.rmtree(self.base, ignore_errors=True)


def raw_exchange(port, data, seconds=1.0, half_close=False):
    """Sends bytes; (all that comes until it is silent for `seconds`, whether it was closed)."""
    got, closed = b"", False
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.settimeout(seconds)
        try:
            client.sendall(data)
            if half_close:
                client.shutdown(socket.SHUT_WR)
            while True:
                piece = client.recv(1 << 16)
                if not piece:
                    closed = True
                    break
                got += piece
        except TimeoutError:
            pass
        except ConnectionError:
            closed = True
    return got, closed


def replies(client, commands):
    """Pipelined; errors as objects in their place."""
    client.socket.sendall(b"".join(Redis.encode(*command) for command in commands))
    return [reply_of(client) for _ in commands]


def reply_of(client):
    try:
        return client.read()
    except ReplyError as refused:
        return refused
