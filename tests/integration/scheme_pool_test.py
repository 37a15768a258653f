#!/usr/bin/env python3
"""A pool on another proxy's placement scheme: the router finds every key where the servers hold it,
and ranges are moved, joined and drained as on the native ring; where the scheme cannot be cut, the
pool serves and says so."""

import json
import os
import subprocess
import unittest

import harness
from serve_test import Serve, Servers

KEYS = 2_000


class SchemePool(Serve):
    """`cleave serve` on a ring of that text, over nodes named by their addresses."""

    def __init__(self, servers, ring, used):
        super().__init__(servers)
        self.names = [f"127.0.0.1:{port}" for port in servers.ports[:used]]
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        nodes = "".join(f"      - {{name: '{name}', members: [{{address: '{name}'}}]}}\n"
                        for name in self.names)
        head, rest = text.split("    nodes:\n")
        tail = rest[rest.index("coordination:"):]
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(head.replace("{scheme: vnode}", ring) + "    nodes:\n" + nodes + tail)


class SchemePools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()

    def setUp(self):
        self.servers = Servers(4)
        self.addCleanup(self.servers.close)

    def located(self, *arguments):
        """Where `cleave locate` has the keys, as indexes of the nodes."""
        path = os.path.join(self.servers.base, "keys")
        with open(path, "w", encoding="utf-8") as out:
            out.write("".join(f"key:{i}\n" for i in range(KEYS)))
        command = [harness.CLEAVE, "locate", *arguments, "--keys", path, "--json"]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return json.loads(told.stdout)["owners"]

    def owners(self, scheme, options, names):
        """Where the peer places the keys."""
        nodes = [word for name in names for word in ("--node", name)]
        given = [word for option in options for word in ("--option", option)]
        return self.located("--scheme", scheme, *nodes, *given)

    def fill(self, owners):
        """As the peer would have filled the servers."""
        for index, port in enumerate(self.servers.ports):
            with harness.Redis(port) as server:
                server.pipeline([["SET", f"key:{i}", f"value {i}"]
                                 for i, owner in enumerate(owners) if owner == index])

    def read_all(self, serve):
        with harness.Redis(serve.port) as client:
            values = client.pipeline([["GET", f"key:{i}"] for i in range(KEYS)])
        self.assertEqual(values, [f"value {i}".encode() for i in range(KEYS)])

    def keys_on(self, index):
        with harness.Redis(self.servers.ports[index]) as server:
            return {key for key in server.call("KEYS", "key:*")}

    def test_ranges_move_nodes_join_and_leave_on_twemproxys_ring(self):
        serve = SchemePool(self.servers, "{scheme: twemproxy-ketama, hash: murmur, hash_tag: '{}'}",
                           used=3)
        self.fill(self.owners("twemproxy-ketama", ["hash=murmur", "hash_tag={}"], serve.names))
        with serve:
            serve.leading()
            self.read_all(serve)
            self.assertEqual(serve.document()["cuts"], [])
            serve.post("/adopt")
            self.move_one(serve)
            self.join_fourth(serve)
            self.drain_first(serve)

    def move_one(self, serve):
        owner = serve.get("/locate?key=key:7")["node"]
        target = next(name for name in serve.names if name != owner)
        serve.post("/moves", {"key": "key:7", "to": target})
        serve.settled()
        self.assertEqual(serve.get("/locate?key=key:7")["node"], target)
        self.assertIn(b"key:7", self.keys_on(serve.names.index(target)))
        self.assertNotIn(b"key:7", self.keys_on(serve.names.index(owner)))
        self.read_all(serve)

    def join_fourth(self, serve):
        name = f"127.0.0.1:{self.servers.ports[3]}"
        serve.post("/nodes", {"name": name, "members": [name]})
        serve.post("/adopt")
        serve.post("/mode", {"mode": "auto"})
        harness.wait_for("the joiner's share", lambda: len(self.keys_on(3)) > KEYS / 8, 60)
        serve.settled(60)
        self.read_all(serve)

    def drain_first(self, serve):
        serve.post(f"/nodes/{serve.names[0]}/drain")
        harness.wait_for("the drained node to be empty", lambda: not self.keys_on(0), 90)
        serve.settled(60)
        self.read_all(serve)

    def test_positions_with_gaps_stay_through_joins_and_drains(self):
        """As HAProxy numbers servers: ids of the file, of a joiner, and of who is left."""
        serve = SchemePool(self.servers, "{scheme: haproxy, method: consistent}", used=3)
        with open(serve.config, encoding="utf-8") as file:
            text = file.read()
        with open(serve.config, "w", encoding="utf-8") as file:
            for index, position in enumerate((3, 70, 2_000_000_000)):
                name = f"{{name: '{serve.names[index]}',"
                self.assertIn(name, text)
                text = text.replace(name, f"{name} position: {position},")
            file.write(text)
        self.fill(self.located("--config", serve.config))
        with serve:
            serve.leading()
            self.read_all(serve)
            self.assertEqual(self.exported("--config", serve.config),
                             self.exported("--admin", f"127.0.0.1:{serve.admin_port}"))
            serve.post("/adopt")
            self.move_one(serve)
            self.join_fourth(serve)
            self.drain_first(serve)
            ids = [node["id"] for node in serve.get("/status")["nodes"]]
            self.assertEqual(ids, [4, 71, 2_000_000_001, 2_000_000_002])

    def exported(self, *source):
        """As HAProxy's configuration, with the ids of the file's positions."""
        text = subprocess.run([harness.CLEAVE, "export", "haproxy", "--listen", "127.0.0.1:1",
                               *source], capture_output=True, text=True, check=True,
                              timeout=60).stdout
        for number in (4, 71, 2_000_000_001):
            self.assertIn(f" id {number} weight 1\n", text)
        return text

    def test_a_scheme_that_cannot_be_cut_serves_and_says_so(self):
        serve = SchemePool(self.servers, "{scheme: twemproxy-modula, hash: crc32a}", used=3)
        self.fill(self.owners("twemproxy-modula", ["hash=crc32a"], serve.names))
        with serve:
            serve.leading()
            self.read_all(serve)
            serve.post("/adopt")
            why = "scheme twemproxy-modula places a key by the number of nodes"
            name = f"127.0.0.1:{self.servers.ports[3]}"
            for path, body in (("/moves", {"key": "key:7", "to": serve.names[0]}),
                               ("/moves", {"key": "key:7", "to": serve.names[1]}),
                               ("/nodes", {"name": name, "members": [name]}),
                               (f"/nodes/{serve.names[0]}/drain", {})):
                if path == "/moves" and serve.get("/locate?key=key:7")["node"] == body["to"]:
                    continue
                with self.assertRaisesRegex(harness.AdminError, why):
                    serve.post(path, body)
            self.read_all(serve)


if __name__ == "__main__":
    unittest.main()
