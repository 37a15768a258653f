#!/usr/bin/env python3
"""Faults that users of other proxies have reported, as inputs: each must be right here."""

import socket
import threading
import unittest

import redis

import harness


class Cases(unittest.TestCase):
    def test_a_deleted_key_does_not_come_back(self):
        with harness.Up(nodes=2) as up, redis.Redis(port=up.port) as client:
            up.leading()
            up.post("/mode", {"mode": "observe"})
            doomed = [f"doomed:{i}" for i in range(2000)]
            client.mset({key: "x" * 100 for key in doomed})
            stop = threading.Event()

            def delete():
                with redis.Redis(port=up.port) as other:
                    for key in doomed:
                        other.delete(key)
                        if stop.is_set():
                            return

            thread = threading.Thread(target=delete)
            thread.start()
            entries = up.get("/ring")["entries"]
            names = sorted(up.node_ports())
            owned = [{"first": e["first"], "last": e["last"]}
                     for e in entries if e["node"] == names[0]]
            up.post("/moves", {"ranges": owned, "to": names[1]})
            up.settled()
            thread.join(60)
            stop.set()
            self.assertEqual(client.exists(*doomed), 0)

    def test_broken_input_closes_only_its_client(self):
        with harness.Up(nodes=2) as up, redis.Redis(port=up.port) as good:
            for bad in (b"*1\r\n$99999999999\r\n", b"*x\r\n", b"*2\r\n+GET\r\n", b"\xff" * 70000):
                with socket.create_connection(("127.0.0.1", up.port), timeout=10) as client:
                    try:
                        client.sendall(bad)
                        answer = client.recv(200)
                    except ConnectionError:
                        answer = b"-ERR"
                    self.assertTrue(answer.startswith(b"-ERR"), (bad[:20], answer))
                self.assertTrue(good.ping())

    def test_empty_frames_are_passed_over(self):
        with harness.Up(nodes=2) as up, \
                socket.create_connection(("127.0.0.1", up.port), timeout=10) as client:
            client.sendall(b"*0\r\n*-1\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$0\r\n\r\n"
                           b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n")
            got = b""
            while len(got) < 11:
                got += client.recv(100)
            self.assertEqual(got, b"+OK\r\n$0\r\n\r\n")

    def test_scripts_by_their_declared_keys(self):
        with harness.Up(nodes=2) as up, redis.Redis(port=up.port) as client:
            self.check_scripts(client)

    def check_scripts(self, client):
        self.assertEqual(client.eval("return redis.call('INCR', KEYS[1])", 1, "n"), 1)
        with self.assertRaises(redis.ResponseError):
            client.eval("return 1", 0)


if __name__ == "__main__":
    unittest.main()
