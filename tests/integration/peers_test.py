#!/usr/bin/env python3
"""Real peers beside `cleave locate --scheme`: they place random keys on random nodes alike.

The recordings of src/ring/testdata hold what was recorded once; this asks the peer that is
installed here, about nodes that nobody chose. A peer that is not installed is skipped."""

import http.client
import json
import os
import subprocess
import unittest

import harness
import peers
from peers import can_connect


class Peers(peers.PeerTest):
    def weights(self, nodes, most):
        return [self.random.randint(1, most) for _ in range(nodes)]

    def names(self, nodes):
        return [f"h{self.random.randrange(10 ** 6)}-{i}" for i in range(nodes)]

    def keys(self, names):
        """Short ones, tags, bytes that no header or line refuses, and texts of points."""
        spice = [byte for byte in range(34, 256) if byte not in (44, 127)]
        keys = [b"k%d" % self.random.randrange(10 ** 9) for _ in range(300)]
        keys += [b"{t%d}.%d" % (self.random.randrange(9), i) for i in range(20)]
        keys += [f"{names[0]}-{i}".encode() for i in range(20)]
        keys += [bytes(self.random.choices(spice, k=self.random.randrange(1, 40)))
                 for _ in range(60)]
        return list(dict.fromkeys(keys))

    def assert_same(self, scheme, options, nodes, keys, owners):
        path = os.path.join(self.folder, "keys")
        with open(path, "wb") as file:
            file.write(b"".join(key + b"\n" for key in keys))
        command = [harness.CLEAVE, "locate", "--scheme", scheme, "--keys", path, "--json"]
        for option in options:
            command += ["--option", option]
        for name, weight in nodes:
            command += ["--node", f"{name}={weight}"]
        program = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        told = json.loads(program.stdout)["owners"]
        differences = sum(ours != theirs for ours, theirs in zip(told, owners))
        self.assertEqual(differences, 0, f"of {len(keys)} keys; {scheme} {options} {nodes}")

    def ask_http(self, port, keys):
        """The number that the backend of each key answers."""
        harness.wait_for("the peer listens", lambda: can_connect(port), 5)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self.addCleanup(connection.close)
        owners = []
        for key in keys:
            connection.putrequest("GET", "/")
            connection.putheader("X-Key", key)
            connection.endheaders()
            owners.append(int(connection.getresponse().read()))
        return owners

    def test_twemproxy(self):
        self.program("nutcracker")
        for hashing in ("fnv1a_64", "md5", "hsieh", "jenkins", "crc16", "murmur"):
            for distribution in ("ketama", "modula"):
                named = self.random.choice([True, False])
                with self.subTest(hash=hashing, distribution=distribution, named=named):
                    self.check_twemproxy(hashing, distribution, named)

    def check_twemproxy(self, hashing, distribution, named):
        owners = {}
        # Of 25 equal servers each gets 39 texts, not 40: twemproxy counts in 32-bit floats.
        count, most = self.random.choice([(25, 1), (7, 9), (3, 2)])
        servers = [peers.Server(i, owners) for i in range(count)]
        for server in servers:
            self.addCleanup(server.close)
        weights = self.weights(count, most)
        names = self.names(count) if named else [f"127.0.0.1:{s.port}" for s in servers]
        listen = harness.free_port()
        lines = ["main:", f"  listen: 127.0.0.1:{listen}", f"  hash: {hashing}",
                 f"  distribution: {distribution}", "  redis: true", '  hash_tag: "{}"',
                 "  servers:"]
        lines += [f"   - 127.0.0.1:{server.port}:{weight}{' ' + name if named else ''}"
                  for server, weight, name in zip(servers, weights, names)]
        config = self.write("nutcracker.yml", "\n".join(lines) + "\n")
        self.run_peer("nutcracker", "-c", config, "-s", str(harness.free_port()))
        harness.wait_for("nutcracker listens", lambda: can_connect(listen), 5)
        keys = self.keys(names)
        with harness.Redis(listen) as client:
            client.pipeline([("SET", key, "x") for key in keys])
        self.assert_same(f"twemproxy-{distribution}", [f"hash={hashing}", "hash_tag={}"],
                         list(zip(names, weights)), keys, [owners[key] for key in keys])

    def test_nginx(self):
        nginx = self.program("nginx")
        for method, count, most in (("consistent", 5, 9), ("plain", 7, 20), ("consistent", 25, 1)):
            with self.subTest(method=method, nodes=count):
                self.check_nginx(nginx, method, count, most)

    def check_nginx(self, nginx, method, count, most):
        listen, *ports = [harness.free_port() for _ in range(count + 1)]
        nodes = [(f"127.0.0.1:{port}", weight)
                 for port, weight in zip(ports, self.weights(count, most))]
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        servers = "".join(f"server {name} weight={weight};" for name, weight in nodes)
        backends = "".join(f"server {{ listen 127.0.0.1:{port}; location / {{ return 200 {i}; }} }}"
                           for i, port in enumerate(ports))
        hashing = "hash $http_x_key" + (" consistent" if method == "consistent" else "")
        config = self.write("nginx.conf", f"""
daemon off; worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/log;
events {{ worker_connections 512; }}
http {{
  access_log off; keepalive_requests 100000; {temporary}
  upstream all {{ {hashing}; {servers} }}
  server {{ listen 127.0.0.1:{listen}; location / {{ proxy_pass http://all; }} }}
  {backends}
}}
""")
        self.run_peer(nginx, "-p", self.folder, "-c", config)
        keys = self.keys([name for name, _ in nodes])
        self.assert_same("nginx", [f"method={method}"], nodes, keys, self.ask_http(listen, keys))

    def test_haproxy(self):
        haproxy = self.program("haproxy")
        for method in ("consistent", "map-based"):
            for hashing in ("sdbm", "djb2", "wt6", "crc32"):
                avalanche = self.random.choice(["true", "false"])
                with self.subTest(method=method, hash=hashing, avalanche=avalanche):
                    self.check_haproxy(haproxy, method, hashing, avalanche)

    def check_haproxy(self, haproxy, method, hashing, avalanche):
        count, most = self.random.choice([(5, 9), (25, 1), (7, 40)])
        listen, *ports = [harness.free_port() for _ in range(count + 1)]
        nodes = list(zip(self.names(count), self.weights(count, most)))
        lines = ["global", " maxconn 500", "defaults", " mode http", " timeout client 10s",
                 " timeout server 10s", " timeout connect 10s", "frontend in",
                 f" bind 127.0.0.1:{listen}", " default_backend all", "backend all",
                 " balance hdr(x-key)",
                 f" hash-type {method} {hashing}" + (" avalanche" if avalanche == "true" else "")]
        lines += [f" server {name} 127.0.0.1:{port} weight {weight}"
                  for port, (name, weight) in zip(ports, nodes)]
        for i, port in enumerate(ports):
            lines += [f"frontend b{i}", f" bind 127.0.0.1:{port}",
                      f" http-request return status 200 content-type text/plain string {i}"]
        self.run_peer(haproxy, "-db", "-f", self.write("haproxy.cfg", "\n".join(lines) + "\n"))
        keys = self.keys([name for name, _ in nodes])
        self.assert_same("haproxy",
                         [f"method={method}", f"hash={hashing}", f"avalanche={avalanche}"], nodes,
                         keys, self.ask_http(listen, keys))


if __name__ == "__main__":
    unittest.main()
