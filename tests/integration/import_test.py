#!/usr/bin/env python3
"""Real peers, started with real configurations: `cleave import` of the same file places 10,000 keys
where the peer put them, and `cleave export` of what came out starts the peer again, which puts them
there once more. A peer that is not installed is skipped."""

import json
import os
import subprocess
import unittest

import harness
import peers

KEYS = 10_000


def cleave(*arguments, code=0):
    program = subprocess.run([harness.CLEAVE, *arguments], capture_output=True, text=True,
                             timeout=60, stdin=subprocess.DEVNULL, check=False)
    if program.returncode != code:
        raise AssertionError(f"{arguments}: {program.returncode}\n{program.stderr}")
    return program


class TakenOver(peers.PeerTest):
    def setUp(self):
        super().setUp()
        self.keys = [self.key(i) for i in range(KEYS)]
        self.key_file = os.path.join(self.folder, "keys")
        with open(self.key_file, "wb") as file:
            file.write(b"".join(key + b"\n" for key in self.keys))

    def key(self, i):
        """Each another, some with hash tags; no bytes that a header could not carry."""
        number = self.random.randrange(10 ** 9)
        return (b"user:%d:%d" % (i, number), b"{cart%d}.%d" % (number % 997, i),
                b"a{}b%d" % i, b"%x" % (i << 40 | number))[i % 4]

    def through_redis(self, port, ports):
        """The port of the server that has each key, sent through the proxy."""
        self.wait_for_port(port)
        for server in ports:
            with harness.Redis(server) as client:
                client.call("FLUSHALL")
        with harness.Redis(port) as client:
            for start in range(0, KEYS, 500):
                client.pipeline([("SET", key, key) for key in self.keys[start:start + 500]])
        where = {}
        for server in ports:
            with harness.Redis(server) as client:
                for key in client.call("KEYS", "*"):
                    self.assertNotIn(key, where)
                    where[key] = server
        self.assertEqual(len(where), KEYS)
        return [where[key] for key in self.keys]

    def through_http(self, port, ports):
        self.wait_for_port(port)
        return [ports[number] for number in peers.ask_pipelined(port, self.keys)]

    def wait_for_port(self, port):
        harness.wait_for("the peer listens", lambda: peers.can_connect(port), 10)

    def by_cleave(self, config, pool):
        """The port of the node on which the file's pool has each key, and the pool's weights."""
        told = json.loads(cleave("import", config, "--pool", pool, "--json",
                                 "--out", os.path.join(self.folder, "cleave.yaml")).stdout)
        ports = [int(node["members"][0].rsplit(":", 1)[1]) for node in told["pools"][0]["nodes"]]
        places = [json.loads(cleave("locate", "--config", file, *choice, "--keys", self.key_file,
                                    "--json").stdout)["owners"]
                  for file, *choice in ((config, "--pool", pool),
                                        (os.path.join(self.folder, "cleave.yaml"),))]
        self.assertEqual(places[0], places[1], "the file and the cleave.yaml made of it")
        return [ports[place] for place in places[0]]

    def exported(self, peer, name):
        """The peer's configuration as cleave writes it, for a free port."""
        port = harness.free_port()
        text = cleave("export", peer, "--config", os.path.join(self.folder, "cleave.yaml"),
                      "--listen", f"127.0.0.1:{port}").stdout
        return self.write(name, text), port

    def assert_same(self, ours, theirs):
        self.assertGreater(len(set(theirs)), 1, "all on one server: nothing is shown")
        self.assertEqual(sum(a != b for a, b in zip(ours, theirs, strict=True)), 0, "keys differ")

    # ---- twemproxy ------------------------------------------------------------------------------

    def check_twemproxy(self, lines, servers):
        self.program("nutcracker")
        ports = self.redis_servers(len(servers))
        listen = harness.free_port()
        text = "\n".join([
            "other:", f"  listen: 127.0.0.1:{harness.free_port()}", "  servers:",
            "    - 127.0.0.1:1:1", "pool:", f"  listen: 127.0.0.1:{listen}", "  redis: true",
            *(f"  {line}" for line in lines), "  servers:",
            *(f"    - 127.0.0.1:{port}:{rest}" for port, rest in zip(ports, servers))]) + "\n"
        config = self.write("nutcracker.yml", text)
        proxy = self.start_twemproxy(config)
        there = self.through_redis(listen, ports)
        self.assert_same(self.by_cleave(config, "pool"), there)
        config, back = self.exported("twemproxy", "back.yml")
        self.end(proxy)
        self.check_router(listen, config, back)
        self.start_twemproxy(config)
        self.assert_same(self.through_redis(back, ports), there)

    def start_twemproxy(self, config):
        return self.run_peer("nutcracker", "-c", config, "-s", str(harness.free_port()))

    @staticmethod
    def end(process):
        process.terminate()
        process.wait(timeout=10)

    def check_router(self, listen, exported, back):
        """A router in the proxy's place, on its address, reads every key; and it exports what its
        file does, until a cut lies on its ring."""
        admin = harness.free_port()
        with open(os.path.join(self.folder, "cleave.yaml"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("127.0.0.1:7380", text)
        router = self.run_peer(harness.CLEAVE, "serve", "--config", self.write(
            "served.yaml", text.replace("127.0.0.1:7380", f"127.0.0.1:{admin}")))
        self.wait_for_port(listen)
        with harness.Redis(listen) as client:
            for start in range(0, KEYS, 500):
                keys = self.keys[start:start + 500]
                self.assertEqual(client.pipeline([("GET", key) for key in keys]), keys)
        running = ["export", "twemproxy", "--admin", f"127.0.0.1:{admin}", "--listen",
                   f"127.0.0.1:{back}"]
        with open(exported, encoding="utf-8") as file:
            self.assertEqual(cleave(*running).stdout, file.read())
        cut = subprocess.run(
            [harness.CLEAVE, "cut", "--at", "user:1", "--admin", f"127.0.0.1:{admin}"],
            capture_output=True, text=True, timeout=30, check=False)
        if cut.returncode == 0:  # no cut lies on modula
            self.assertIn("cleave flatten", cleave(*running, code=1).stderr)
        else:
            self.assertIn("modula", cut.stderr)
        self.end(router)

    def test_twemproxy_ketama(self):
        self.check_twemproxy(["hash: md5", 'hash_tag: "{}"', "timeout: 2000"],
                             ["1000", "3000 cache:11211", "2000 a/b", "9000"])

    def test_twemproxy_modula(self):
        self.check_twemproxy(["distribution: modula", "hash: crc32a", "preconnect: true"],
                             ["2 ten", "1", "5 z"])

    # ---- nginx ----------------------------------------------------------------------------------

    def check_nginx(self, method, lines):
        nginx = self.program("nginx")
        servers = self.http_servers(len(lines))
        listen = harness.free_port()
        upstream = "\n".join(f"    server {line.format(port=port)};"
                             for port, line in zip(servers.ports, lines))
        config = self.write("nginx.conf", f"""
events {{ worker_connections 512; }}
http {{
  upstream pool {{  # placed by a hash
    hash $http_x_key{method};
{upstream}
  }}
  upstream other {{ server 127.0.0.1:1; }}
  server {{ listen 127.0.0.1:{listen}; location / {{ proxy_pass "http://pool"; }} }}
}}
""")
        self.start_nginx(nginx, config)
        there = self.through_http(listen, servers.ports)
        self.assert_same(self.by_cleave(config, "pool"), there)
        config, listen = self.exported("nginx", "back.conf")
        self.start_nginx(nginx, config)
        self.assert_same(self.through_http(listen, servers.ports), there)

    def start_nginx(self, nginx, config):
        """With its files in the test's folder."""
        with open(config, encoding="utf-8") as file:
            text = file.read()
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        own = self.write("own-" + os.path.basename(config),
                         text.replace("http {", f"http {{ access_log off; {temporary}", 1))
        self.run_peer(nginx, "-p", self.folder, "-c", own, "-g",
                      f"daemon off; pid {own}.pid; error_log {own}.log;")

    def test_nginx_consistent(self):
        self.check_nginx(" consistent", ["127.0.0.1:{port} weight=3", "127.0.0.1:{port}",
                                         "127.0.0.1:{port} weight=2", "127.0.0.1:{port}"])

    def test_nginx_plain(self):
        self.check_nginx("", ["127.0.0.1:{port} weight=3 max_fails=2", "127.0.0.1:{port}",
                              "127.0.0.1:{port} weight=2"])

    # ---- HAProxy --------------------------------------------------------------------------------

    def check_haproxy(self, defaults, backend, lines):
        haproxy = self.program("haproxy")
        servers = self.http_servers(len(lines))
        listen = harness.free_port()
        config = self.write("haproxy.cfg", "\n".join([
            "global", "  maxconn 500", "defaults", "  mode http", "  timeout client 10s",
            "  timeout server 10s", "  timeout connect 10s", *defaults, "frontend in",
            f"  bind 127.0.0.1:{listen}", "  default_backend pool", "backend pool",
            *backend, *(f"  server s{i} 127.0.0.1:{port} {line}"
                        for i, (port, line) in enumerate(zip(servers.ports, lines))),
            "backend other", "  balance roundrobin", "  server x 127.0.0.1:1"]) + "\n")
        self.run_peer(haproxy, "-db", "-f", config)
        there = self.through_http(listen, servers.ports)
        self.assert_same(self.by_cleave(config, "pool"), there)
        config, listen = self.exported("haproxy", "back.cfg")
        self.run_peer(haproxy, "-db", "-f", config)
        self.assert_same(self.through_http(listen, servers.ports), there)

    def test_haproxy_consistent(self):
        self.check_haproxy(["  default-server weight 5 check inter 5s"],
                           ["  balance hdr(x-key)", "  hash-type consistent djb2 avalanche"],
                           ["weight 3", "id 3", "", "weight 2 id 1", "backup"])

    def test_haproxy_consistent_bare(self):
        self.check_haproxy(["  hash-type consistent"], ["  balance hash req.hdr(x-key)"],
                           ["weight 10", "", "disabled", "weight 0"])

    def test_haproxy_consistent_with_gaps(self):
        """Ids that operators gave, and such that servers without keys leave."""
        self.check_haproxy([], ["  balance hdr(x-key)", "  hash-type consistent crc32"],
                           ["weight 0", "weight 3", "id 2147483647", "backup", "id 70001 weight 2",
                            "", "disabled", "id 70000"])

    def test_haproxy_map_based(self):
        self.check_haproxy(["  balance hdr(x-key)"], ["  hash-type map-based wt6"],
                           ["weight 4", "weight 0", "weight 6 id 9", "weight 2", "disabled"])

    # ---- Envoy ----------------------------------------------------------------------------------

    def check_envoy(self, text, ports, send, listen):
        envoy = self.envoy()
        config = self.write("envoy.yaml", text)
        self.start_envoy(envoy, config)
        there = send(listen, ports)
        self.assert_same(self.by_cleave(config, "pool"), there)
        config, listen = self.exported("envoy", "back.yaml")
        self.start_envoy(envoy, config)
        self.assert_same(send(listen, ports), there)

    def start_envoy(self, envoy, config):
        self.run_peer(envoy, "-c", config, "--concurrency", "1", "--disable-hot-restart",
                      "-l", "error")

    @staticmethod
    def host(port, weight, key=None):
        host = {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1",
                                                            "port_value": port}}},
                "load_balancing_weight": weight}
        if key:
            host["metadata"] = {"filter_metadata": {"envoy.lb": {"hash_key": key}}}
        return host

    def check_envoy_redis(self, settings, policy):
        self.envoy()
        ports = self.redis_servers(4)
        listen = harness.free_port()
        hosts = [self.host(ports[0], 3), self.host(ports[1], 1, "b"),
                 self.host(ports[2], 2, "a"), self.host(ports[3], 1)]
        proxy = {"@type": "type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3"
                          ".RedisProxy", "stat_prefix": "r",
                 "settings": {"op_timeout": "10s", **settings},
                 "prefix_routes": {"catch_all_route": {"cluster": "pool"}}}
        text = json.dumps({"static_resources": {
            "listeners": [{"name": "in", "address": self.address(listen), "filter_chains": [
                {"filters": [{"name": "envoy.filters.network.redis_proxy",
                              "typed_config": proxy}]}]}],
            "clusters": [{"name": "pool", "connect_timeout": "1s", **policy,
                          "load_assignment": {"cluster_name": "pool", "endpoints": [
                              {"lb_endpoints": hosts}]}}]}}, indent=1)
        self.check_envoy(text, ports, self.through_redis, listen)

    @staticmethod
    def address(port):
        return {"socket_address": {"address": "127.0.0.1", "port_value": port}}

    def test_envoy_redis_ring(self):
        self.check_envoy_redis({"enable_hashtagging": True}, {
            "lb_policy": "RING_HASH",
            "ring_hash_lb_config": {"minimum_ring_size": 2000, "hash_function": "MURMUR_HASH_2"}})

    def test_envoy_redis_maglev(self):
        self.check_envoy_redis({}, {"lbPolicy": "MAGLEV", "maglevLbConfig": {"tableSize": 10007}})

    def test_envoy_http(self):
        self.envoy()
        servers = self.http_servers(4)
        listen = harness.free_port()
        manager = "envoy.extensions.filters.network.http_connection_manager.v3"
        ring = "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash"
        ports = servers.ports
        text = f"""
static_resources:
  listeners:
  - name: in
    address: {{socket_address: {{address: 127.0.0.1, port_value: {listen}}}}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/{manager}.HttpConnectionManager
          stat_prefix: http
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {{prefix: /}}
                route: {{cluster: pool, hash_policy: [{{header: {{header_name: x-key}}}}]}}
          http_filters:
          - name: router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: pool
    connect_timeout: 1s
    load_balancing_policy:
      policies:
      - typed_extension_config:
          name: ring
          typed_config:
            "@type": type.googleapis.com/{ring}
            minimum_ring_size: 100
    load_assignment:
      cluster_name: pool
      endpoints:
      - locality: {{zone: one}}
        lb_endpoints:
        - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {ports[0]}}}}}}}
          load_balancing_weight: 3000
        - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {ports[1]}}}}}}}
          load_balancing_weight: 2000
      - locality: {{zone: two}}
        lb_endpoints:
        - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {ports[2]}}}}}}}
          load_balancing_weight: 1000
        - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {ports[3]}}}}}}}
          load_balancing_weight: 4000
"""
        self.check_envoy(text, ports, self.through_http, listen)

    def http_servers(self, count):
        servers = peers.HttpServers(count)
        self.addCleanup(servers.close)
        return servers


class Refused(peers.PeerTest):
    def refuse(self, text):
        config = self.write("config", text)
        return cleave("import", config, code=1).stderr

    def test_what_would_move_keys(self):
        good = ("pool:\n  listen: 127.0.0.1:1\n  redis: true\n  auto_eject_hosts: false\n"
                "  servers:\n    - 127.0.0.1:7001:1\n    - 127.0.0.1:7002:1\n")
        config = self.write("config", good)
        self.assertIn("mode: observe", cleave("import", config).stdout)
        for old, new, says in (("eject_hosts: false", "eject_hosts: true", ":4: pool 'pool': auto"),
                               ("redis: true", "redis: true\n  redis_db: 1", "redis_db: 1"),
                               ("7002:1", "7001:1 other", "127.0.0.1:7001 is there twice")):
            with self.subTest(new):
                self.assertIn(says, self.refuse(good.replace(old, new)))

    def test_no_file_and_no_peer(self):
        cleave("import", os.path.join(self.folder, "absent"), code=2)
        cleave("import", self.write("odd", "hello\n"), code=1)
        cleave("import", self.write("odd", "hello\n"), "--from", "squid", code=1)
        cleave("export", "squid", "--config", self.write("odd", "hello\n"), code=2)


if __name__ == "__main__":
    unittest.main()
