#include "convert/convert_testing.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kRedis = R"(static_resources:
  listeners:
  - name: redis
    address: {socket_address: {address: 127.0.0.1, port_value: 6390}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.redis_proxy
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy
          stat_prefix: r
          settings: {op_timeout: 10s, enable_hashtagging: true}
          prefix_routes: {catch_all_route: {cluster: store}}
  clusters:
  - name: store
    type: STATIC
    lb_policy: RING_HASH
    ring_hash_lb_config: {minimum_ring_size: 2048, hash_function: MURMUR_HASH_2}
    load_assignment:
      cluster_name: store
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 7001}}}
          load_balancing_weight: 3
        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 7002}}}
          metadata: {filter_metadata: {envoy.lb: {hash_key: second}}}
  - name: admin
    load_assignment: {cluster_name: admin}
)";

constexpr std::string_view kHttp = R"({"staticResources": {
  "listeners": [{"address": {"socketAddress": {"address": "0.0.0.0", "portValue": 80}},
    "filterChains": [{"filters": [{"typedConfig": {"routeConfig": {"virtualHosts": [{"routes": [
      {"match": {"prefix": "/"},
       "route": {"cluster": "web", "hashPolicy": [{"header": {"headerName": "x-key"}}]}}]}]}}}]}]}],
  "clusters": [{"name": "web", "lbPolicy": "MAGLEV", "maglevLbConfig": {"tableSize": 65521},
    "loadAssignment": {"clusterName": "web", "endpoints": [{"lbEndpoints": [
      {"endpoint": {"address": {"socketAddress": {"address": "10.0.0.1", "portValue": 80}}}},
      {"endpoint": {"address": {"socketAddress": {"address": "10.0.0.2", "portValue": 80}},
                    "hostname": "two"}}]}]}}]}})";

using Options = std::map<std::string, std::string, std::less<>>;

TEST(ReadEnvoy, TakesAClusterOfRedisOver) {
  const Pool pool = pool_of(Peer::kEnvoy, kRedis);
  EXPECT_EQ(pool.name, "store");
  EXPECT_EQ(pool.kind, Kind::kStore);
  EXPECT_EQ(pool.listener, "127.0.0.1:6390");
  EXPECT_EQ(pool.scheme.name, "envoy-redis");
  EXPECT_EQ(pool.scheme.options, (Options{{"method", "ring_hash"},
                                          {"hash_tag", "{}"},
                                          {"hash", "MURMUR_HASH_2"},
                                          {"min_ring", "2048"}}));
  const std::vector<PoolNode> want = {{"127.0.0.1:7001", 3, {"127.0.0.1:7001"}},
                                      {"second", 1, {"127.0.0.1:7002"}}};
  EXPECT_EQ(pool.nodes, want);
  ASSERT_EQ(pool.remarks.size(), 1U) << remarks_of(pool);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "op_timeout", pool.remarks[0].text);
}

TEST(ReadEnvoy, TakesAClusterOfHttpOver) {
  const Pool pool = pool_of(Peer::kEnvoy, kHttp);
  EXPECT_EQ(pool.kind, Kind::kCache);
  EXPECT_EQ(pool.listener, "");
  EXPECT_EQ(pool.scheme.name, "envoy-maglev");
  EXPECT_EQ(pool.scheme.options, (Options{{"table_size", "65521"}}));
  EXPECT_EQ(pool.nodes.size(), 2U);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "header x-key", remarks_of(pool));
}

TEST(ReadEnvoy, ReadsTheTypedPolicy) {
  const std::string text = with(
      kRedis, "    lb_policy: RING_HASH\n",
      "    load_balancing_policy:\n      policies:\n      - typed_extension_config:\n"
      "          name: ring\n          typed_config:\n            \"@type\": type.googleapis.com/"
      "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash\n"
      "            hash_function: DEFAULT_HASH\n            minimum_ring_size: 64\n");
  const Pool pool = pool_of(Peer::kEnvoy, text);
  EXPECT_EQ(pool.scheme.options,
            (Options{{"method", "ring_hash"}, {"hash_tag", "{}"}, {"min_ring", "64"}}));
  const std::string factor = with(text, "minimum_ring_size: 64",
                                  "consistent_hashing_lb_config: {hash_balance_factor: 120}");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "hash_balance_factor",
                      refusal_of(Peer::kEnvoy, factor));
}

TEST(ReadEnvoy, NamesHostsAsTheyAreHashed) {
  const std::string text =
      with(with(kHttp, "\"name\": \"web\"",
                "\"name\": \"web\", \"commonLbConfig\": {\"consistentHashingLbConfig\": "
                "{\"useHostnameForHashing\": true}}"),
           "\"portValue\": 80}}}},", "\"portValue\": 80}}, \"hostname\": \"one\"}},");
  const Pool pool = pool_of(Peer::kEnvoy, text);
  EXPECT_EQ(pool.nodes[0], (PoolNode{"one", 1, {"10.0.0.1:80"}}));
  EXPECT_EQ(pool.nodes[1], (PoolNode{"two", 1, {"10.0.0.2:80"}}));
}

TEST(ReadEnvoy, TakesPasswordsOver) {
  const std::string text =
      with(with(kRedis, "          stat_prefix: r\n",
                "          downstream_auth_passwords: [{inline_string: in}]\n"),
           "    type: STATIC\n",
           "    typed_extension_protocol_options: {envoy.filters.network.redis_proxy: "
           "{auth_username: {inline_string: me}, auth_password: {inline_string: out}}}\n");
  const Pool pool = pool_of(Peer::kEnvoy, text);
  EXPECT_EQ(pool.client_password, "in");
  EXPECT_EQ(pool.server_user, "me");
  EXPECT_EQ(pool.server_password, "out");
}

TEST(ReadEnvoy, ExplainsWhatHasNoCounterpart) {
  const std::string text =
      with(kHttp, "\"name\": \"web\"",
           "\"name\": \"web\", \"connectTimeout\": \"1s\", \"healthChecks\": [], "
           "\"transportSocket\": {}");
  const std::string remarks = remarks_of(pool_of(Peer::kEnvoy, text));
  for (const std::string_view word : {"connectTimeout", "health_checks", "transport_socket"})
    EXPECT_PRED_FORMAT2(testing::IsSubstring, std::string(word), remarks);
  const std::string unused = with(kHttp, "\"cluster\": \"web\"", "\"cluster\": \"x\"");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no route of this file",
                      remarks_of(pool_of(Peer::kEnvoy, unused)));
}

TEST(ReadEnvoy, RefusesWhatWouldMoveKeysOfRedis) {
  expect_refusals(
      Peer::kEnvoy, kRedis,
      {{"type: STATIC", "outlier_detection: {}", "f:15: pool 'store': outlier_detection"},
       {"type: STATIC", "health_checks: []", "health_checks moves the keys"},
       {"type: STATIC", "transport_socket: {}", "without TLS"},
       {"type: STATIC", "lb_subset_config: {}", "subsets decide"},
       {"type: STATIC", "cluster_type: {}", "come from elsewhere"},
       {"type: STATIC", "type: EDS", "f:15: pool 'store': type EDS"},
       {"type: STATIC", "wonder: 1", "'wonder' may place keys"},
       {"type: STATIC", "common_lb_config: {locality_weighted_lb_config: {}}", "localities"},
       {"type: STATIC",
        "common_lb_config: {consistent_hashing_lb_config: "
        "{hash_balance_factor: 125}}",
        "hash_balance_factor"},
       {"minimum_ring_size: 2048", "maximum_ring_size: 1000", "maximum_ring_size 1000"},
       {"MURMUR_HASH_2", "MD5", "MD5"},
       {"type: STATIC", "common_lb_config: {wonder: 1}", "'wonder' may place keys"},
       {"- lb_endpoints", "- wonder: 1\n        lb_endpoints", "'wonder' may place keys"},
       {"load_balancing_weight: 3", "wonder: 1", "'wonder' may place keys"},
       {"endpoint: {address", "endpoint: {wonder: 1, address", "'wonder' may place keys"},
       {"- lb_endpoints", "- priority: 1\n        lb_endpoints", "priority 1"},
       {"load_balancing_weight: 3", "health_status: DRAINING", "is DRAINING"},
       {"load_balancing_weight: 3", "load_balancing_weight: 0", "'0' is no weight"},
       {"socket_address: {address: 127.0.0.1, port_value: 7001}", "pipe: {path: /a}",
        "'pipe' is no TCP address"},
       {"address: 127.0.0.1, port_value: 7001", "address: redis-1, port_value: 7001",
        "Envoy hashes the IP address"},
       {"port_value: 7002", "port_value: 7001", "127.0.0.1:7001 is there twice"},
       {"{catch_all_route: {cluster: store}}",
        "{routes: [{prefix: a, cluster: store}], catch_all_route: {cluster: b}}", "prefix 'a'"},
       {"{cluster: store}", "{cluster: store, key_formatter: a}", "key_formatter"},
       {"stat_prefix: r", "downstream_auth_passwords: [{filename: a}]", "as inline_string"},
       {"stat_prefix: r", "stat_prefix: r\n          stat_prefix: r", "there twice"},
       {"  clusters:", "  custers:", "no static_resources.clusters"}});
}

TEST(ReadEnvoy, RefusesWhatWouldMoveKeysOfHttp) {
  const std::string_view policy = R"([{"header": {"headerName": "x-key"}}])";
  expect_refusals(
      Peer::kEnvoy, kHttp,
      {{policy, "[]", "without hash_policy"},
       {policy, R"([{"header": {"headerName": "a"}}, {"cookie": {"name": "b"}}])",
        "several hash policies"},
       {policy, R"([{"connectionProperties": {"sourceIp": true}}])", "not the hash of a header"},
       {R"("cluster": "web")", R"("weightedClusters": {"clusters": [{"name": "web"}]})",
        "several clusters by weight"},
       {"65521", "65520", "want a prime"},
       {"MAGLEV", "RANDOM", "neither RING_HASH nor MAGLEV"}});
}

}  // namespace
}  // namespace cleave::convert
