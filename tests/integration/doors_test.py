#!/usr/bin/env python3
"""What stands between one client and the others, and between a router and a server that is silent,
full or gone: scripted servers and relays before real ones."""

import resource
import socket
import subprocess
import threading
import time
import unittest

import redis

import harness
from serve_test import Serve, Servers


class Relay:
    """Passes bytes between the router and a real server; connections can be made to lose, without a
    word, all that is sent on them from then on, as a firewall does that has forgotten them."""

    def __init__(self, server_port):
        self.port = harness.free_port()
        self.server_port = server_port
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.pairs = []
        self.silenced = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                return
            pair = (client, server)
            self.pairs.append(pair)
            for source, target in (pair, pair[::-1]):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.carry, args=(pair, source, target),
                                 daemon=True).start()

    def carry(self, pair, source, target):
        try:
            while data := source.recv(65536):
                if pair not in self.silenced:
                    target.sendall(data)
        except OSError:
            pass
        if pair not in self.silenced:
            self.end(pair)

    @staticmethod
    def end(pair):
        for side in pair:
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def silence_all(self):
        self.silenced.update(self.pairs)

    def close(self):
        self.listener.close()
        for pair in self.pairs:
            self.end(pair)
            for side in pair:
                side.close()


class Mute(threading.Thread):
    """A server that says one thing to whoever connects, and closes."""

    def __init__(self, pieces, port):
        super().__init__(daemon=True)
        self.port = port
        self.pieces = pieces
        self.accepted = 0
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            with client:
                try:
                    for piece in self.pieces:
                        client.sendall(piece)
                        time.sleep(0.02)
                except OSError:
                    pass

    def close(self):
        self.listener.close()


class Doors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def serve(self, count, through=None, limits="", ready=True):
        """`through`: makes the address of a node of a server's port."""
        servers = Servers(count)
        self.addCleanup(servers.close)
        addresses = [through(port) for port in servers.ports] if through else None
        serve = Serve(servers, addresses=addresses, limits=limits)
        self.addCleanup(serve.close)
        serve.start(ready=ready)
        return servers, serve

    def silent_pool(self):
        relays = []

        def through(port):
            relays.append(Relay(port))
            self.addCleanup(relays[-1].close)
            return f"127.0.0.1:{relays[-1].port}"

        servers, serve = self.serve(1, through)
        return servers, serve, relays[0]


class SilentConnections(Doors):
    def test_a_read_costs_no_error_and_a_write_one(self):
        _, serve, relay = self.silent_pool()
        with harness.Redis(serve.port, timeout=15) as client:
            client.call("SET", "k", "v")
            relay.silence_all()
            began = time.monotonic()
            self.assertEqual(client.call("GET", "k"), b"v")
            self.assertLess(time.monotonic() - began, 2.5)
            self.assertEqual(client.call("SET", "k", "w"), b"OK")
            relay.silence_all()
            began = time.monotonic()
            with self.assertRaisesRegex(harness.Redis.ReplyError, "outcome of this write is unknown"
                                        ".*silent.*while a new one was answered"):
                client.call("SET", "k", "x")
            self.assertLess(time.monotonic() - began, 2.5)
            began = time.monotonic()
            self.assertEqual(client.call("SET", "k", "y"), b"OK")
            self.assertEqual(client.call("GET", "k"), b"y")
            self.assertLess(time.monotonic() - began, 0.5)

    def test_a_server_that_is_slow_keeps_its_connections(self):
        servers, serve, relay = self.silent_pool()
        with harness.Redis(serve.port, timeout=15) as client, \
                harness.Redis(servers.ports[0], timeout=15) as direct:
            client.call("SET", "k", "v")
            before = serve.get("/status")["router"]["errors"]
            sleeper = threading.Thread(target=direct.call, args=(
                "EVAL", "local t = redis.call('TIME')[1]; repeat until "
                "redis.call('TIME')[1] - t >= 2; return 1", "0"))
            sleeper.start()
            time.sleep(0.1)
            self.assertEqual(client.call("INCR", "n"), 1)
            sleeper.join()
            self.assertEqual(serve.get("/status")["router"]["errors"], before)


class ServersThatSpeakFirst(Doors):
    def check(self, pieces, words):
        # A first ring is made only where every server answers: so the words come later.
        servers, serve = self.serve(2)
        serve.leading()
        servers.processes[0].kill()
        servers.processes[0].wait(timeout=10)
        mute = Mute(pieces, servers.ports[0])
        self.addCleanup(mute.close)
        harness.wait_for("the words", lambda: words in str(serve.get("/status")["nodes"][0]))
        with redis.Redis(port=serve.port) as client:
            seen = set()
            for i in range(20):
                try:
                    client.set(f"k{i}", "v")
                    seen.add("stored")
                except redis.ResponseError as error:
                    self.assertIn("node n0", str(error))
                    self.assertIn(words, str(error))
                    seen.add("refused")
            self.assertEqual(seen, {"stored", "refused"})
        time.sleep(1)
        before = mute.accepted
        time.sleep(2)
        self.assertLess(mute.accepted - before, 20)  # a few connections, each about once a second

    def test_are_quoted(self):
        self.check([b"-ERR max number of clients reached\r\n"], "max number of clients reached")

    def test_are_quoted_also_in_two_pieces(self):
        self.check([b"-DENIED Redis is running in prot", b"ected mode because\r\n"],
                   "running in protected mode")


class Clients(Doors):
    def test_a_value_that_the_server_refuses_hurts_its_sender_alone(self):
        servers, serve = self.serve(1)
        for name in ("proto-max-bulk-len", "client-query-buffer-limit"):
            with harness.Redis(servers.ports[0]) as direct:
                direct.call("CONFIG", "SET", name, "1mb")
            stop, counts, wrong = threading.Event(), [0] * 4, []

            def count(place, stop=stop, counts=counts, wrong=wrong, name=name):
                with harness.Redis(serve.port) as client:
                    while not stop.is_set():
                        try:
                            client.call("INCR", f"{name}:{place}")
                            counts[place] += 1
                        except harness.Redis.ReplyError as error:
                            wrong.append(str(error))

            threads = [threading.Thread(target=count, args=(i,)) for i in range(len(counts))]
            for thread in threads:
                thread.start()
            errors = set()
            for _ in range(20):
                with harness.Redis(serve.port) as sender:
                    try:
                        sender.call("SET", "large", b"x" * 2_000_000)
                    except harness.Redis.ReplyError as error:
                        errors.add(str(error))
                time.sleep(0.02)
            stop.set()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])
            self.assertEqual(len(errors), 1, errors)
            self.assertIn(name, errors.pop())
            with harness.Redis(serve.port) as client:
                for place, acknowledged in enumerate(counts):
                    self.assertEqual(int(client.call("GET", f"{name}:{place}")), acknowledged)
            with harness.Redis(servers.ports[0]) as direct:
                direct.call("CONFIG", "SET", name, "512mb")

    def test_a_transaction_of_a_library_leaves_nothing(self):
        _, serve = self.serve(2)
        with redis.Redis(port=serve.port) as client:
            with self.assertRaisesRegex(redis.ResponseError, "transactions do not pass"), \
                    client.pipeline() as pipe:
                pipe.set("x", 1).incr("x").execute()
            self.assertIsNone(client.get("x"))

    def test_flushall_over_maxmemory_reaches_every_server(self):
        servers, serve = self.serve(2)
        serve.leading()
        serve.post("/adopt", {})
        with harness.Redis(serve.port) as client, harness.Redis(servers.ports[0]) as full:
            for i in range(200):
                client.call("SET", f"k{i}", "v")
            full.call("CONFIG", "SET", "maxmemory", "1000")
            self.assertEqual(client.call("DBSIZE"), 200)
            self.assertEqual(client.call("FLUSHALL"), b"OK")
            self.assertEqual(client.call("DBSIZE"), 0)
        for port in servers.ports:
            with harness.Redis(port) as direct:
                self.assertIsNotNone(direct.call("GET", "cleave:{owner}"))


class Descriptors(Doors):
    def test_some_are_kept_when_clients_take_all(self):
        servers = Servers(1)
        self.addCleanup(servers.close)
        serve = Serve(servers)
        self.addCleanup(serve.close)
        with open(serve.log, "ab") as log:
            serve.process = subprocess.Popen(
                [harness.CLEAVE, "serve", "--config", serve.config], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
        serve.wait_ready()
        self.assertIn("may open only 100 files", serve.log_text())
        with harness.Redis(serve.port) as good:
            good.call("SET", "k", "v")
            crowd = [socket.create_connection(("127.0.0.1", serve.port)) for _ in range(150)]
            try:
                harness.wait_for("pausing", lambda: not serve.get("/status")["router"]["accepting"])
                self.assertEqual(good.call("GET", "k"), b"v")
                self.assertIn("cleave_accepting 0", serve.get("/metrics"))
                with harness.Redis(servers.ports[0]) as direct:
                    direct.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                harness.wait_for("the server again", lambda: self.reads(good))
                harness.wait_for("a line", lambda: "accepting clients pauses" in serve.log_text())
                self.assertEqual(serve.log_text().count("accepting clients pauses"), 1)
            finally:
                for one in crowd:
                    one.close()
        harness.wait_for("accepting", lambda: serve.get("/status")["router"]["accepting"], 2)
        with harness.Redis(serve.port) as late:
            self.assertEqual(late.call("GET", "k"), b"v")

    @staticmethod
    def reads(client):
        try:
            return client.call("GET", "k") == b"v"
        except harness.Redis.ReplyError:
            return False


class Names(Doors):
    def test_one_that_does_not_resolve_is_named(self):
        _, serve = self.serve(1, lambda port: f"cleave-no-such-host.invalid:{port}", ready=False)

        def told():
            try:
                return serve.get("/ready") and None
            except harness.AdminError as error:
                return error.body if "cleave-no-such-host.invalid" in error.body else None
            except OSError:
                return None

        self.assertIn("unknown host", harness.wait_for("the name", told))


if __name__ == "__main__":
    unittest.main()
