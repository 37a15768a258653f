"""A relay before a real server, one thread a connection: whole requests are shown to a hook, which
may answer itself, wait, keep silent or drop the connection. Not fast; for what a wire can do wrong.
"""

import socket
import threading
import time

from harness import Redis, free_port


class Relay:
    """`hook(connection, args)` returns bytes (the answer), or None: ask the server."""

    class Drop(Exception):
        """Raised by a hook: the connection ends here."""

    def __init__(self, server_port, hook=None):
        self.port = free_port()
        self.server_port = server_port
        self.hook = hook
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            connection = Relayed(self, client)
        except OSError:
            client.close()
            return
        self.connections.append(connection)
        try:
            connection.run()
        except (OSError, ValueError, Relay.Drop):
            pass
        finally:
            connection.close()
            if connection in self.connections:
                self.connections.remove(connection)

    def close(self):
        self.listener.close()
        for connection in list(self.connections):
            connection.close()


class Relayed:
    """One connection of a router, with the server's behind it."""

    def __init__(self, relay, client):
        self.relay = relay
        self.client = client
        self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server = socket.create_connection(("127.0.0.1", relay.server_port))
        self.from_client = client.makefile("rb")
        self.from_server = self.server.makefile("rb")
        self.name = ""
        self.silent = False

    def close(self):
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def request(self):
        line = self.from_client.readline()
        if line[:1] != b"*":
            raise ConnectionError("the end, or an inline command")
        args = []
        for _ in range(int(line[1:])):
            size = int(self.from_client.readline()[1:])
            args.append(self.from_client.read(size + 2)[:-2])
        return args

    def reply(self):
        line = self.from_server.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server's end")
        if line[:1] == b"$" and int(line[1:]) >= 0:
            return line + self.from_server.read(int(line[1:]) + 2)
        if line[:1] == b"*" and int(line[1:]) > 0:
            return line + b"".join(self.reply() for _ in range(int(line[1:])))
        return line

    def ask(self, args):
        self.server.sendall(Redis.encode(*args))
        return self.reply()

    def run(self):
        while True:
            args = self.request()
            if [word.upper() for word in args[:2]] == [b"CLIENT", b"SETNAME"]:
                self.name = args[2].decode()
            answer = self.relay.hook(self, args) if self.relay.hook else None
            while self.silent:
                time.sleep(0.05)
            if answer is None:
                answer = self.ask(args)
            if answer:
                self.client.sendall(answer)
