// Configurations of each peer that can be taken over as they are, with many of the words that the
// readers know: for the tests that damage them.
#pragma once

#include <array>
#include <string_view>

#include "convert/pool/pool.h"

namespace cleave::convert {

// A configuration, and whose.
struct Sample {
  Peer peer;
  std::string_view text;
};

inline constexpr std::array<Sample, 9> kSamples = {{
    {Peer::kTwemproxy,
     "alpha:\n  listen: 127.0.0.1:22121\n  hash: fnv1a_64\n  hash_tag: \"{}\"\n"
     "  distribution: ketama\n  redis: true\n  redis_db: 0\n  redis_auth: secret\n"
     "  auto_eject_hosts: false\n  timeout: 400\n  servers:\n   - 127.0.0.1:7001:1\n"
     "   - 127.0.0.1:11211:2\n   - cache-3.example:7003:3 third\n"},
    {Peer::kTwemproxy,
     "alpha: &all {listen: 127.0.0.1:1, hash: &hash md5, distribution: modula, servers: "
     "&all ['10.0.0.1:1:1 a', '10.0.0.2:1:1 b']}\nbeta: {listen: 127.0.0.1:2, hash: *hash, "
     "servers: *all}\n"},
    {Peer::kNginx,
     "http {\n upstream a {\n  hash \"$uri\" consistent;  # by path\n  server 10.0.0.1:80 weight=2;"
     "\n  server b max_fails=2;\n  server \"[::1]:81\";\n }\n upstream c { server d; }\n}\n"},
    {Peer::kHaproxy,
     "global\n maxconn 100\ndefaults\n mode http\n balance uri\nbackend a\n"
     " hash-type consistent sdbm\n server b 10.0.0.1:80 id 1\n server c 10.0.0.2:80 weight 3 "
     "'check'\n"},
    {Peer::kHaproxy,
     "listen a\n bind 127.0.0.1:80\n balance hdr(x-key)\n hash-type map-based wt6 avalanche\n"
     " server one 10.0.0.1:80 weight 3\n server two ipv4@10.0.0.2:81\n"},
    {Peer::kEnvoy,
     "static_resources:\n  listeners:\n  - address: {socket_address: {address: 127.0.0.1, "
     "port_value: 6390}}\n    filter_chains:\n    - filters:\n      - name: redis\n"
     "        typed_config:\n          settings: {op_timeout: 10s, enable_hashtagging: true}\n"
     "          prefix_routes: {catch_all_route: {cluster: store}}\n  clusters:\n  - name: store\n"
     "    lb_policy: RING_HASH\n    ring_hash_lb_config: {minimum_ring_size: 64, hash_function: "
     "MURMUR_HASH_2}\n    load_assignment:\n      endpoints:\n      - lb_endpoints:\n"
     "        - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 7001}}}\n"
     "          load_balancing_weight: 3\n"
     "        - endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 7002}}}\n"
     "          metadata: {filter_metadata: {envoy.lb: {hash_key: second}}}\n"},
    {Peer::kEnvoy,
     R"({"staticResources": {"clusters": [{"name": "web", "lbPolicy": "MAGLEV",
  "maglevLbConfig": {"tableSize": 211}, "loadAssignment": {"endpoints": [{"lbEndpoints": [
  {"endpoint": {"address": {"socketAddress": {"address": "10.0.0.1", "portValue": 80}}}},
  {"endpoint": {"address": {"socketAddress": {"address": "10.0.0.2", "portValue": 80}}}}]}]}}]}})"},
    {Peer::kCodis,
     R"({"slots": [{"id": 0, "group_id": 2, "action": {}}, {"id": 1, "group_id": 1},
 {"id": 5, "group_id": 0}], "group": [{"id": 1, "servers": [{"server": "10.0.0.1:6379"},
 {"server": "10.0.0.2:6379"}]}, {"id": 2, "servers": [{"server": "10.0.0.3:6379"}]}]})"},
    {Peer::kCodis,
     R"({"model": {"product_name": "shop"}, "stats": {"slots": [{"id": 3, "group_id": 1}],
 "group": {"models": [{"id": 1, "servers": [{"server": "h:1"}]}]}}})"},
}};

}  // namespace cleave::convert
