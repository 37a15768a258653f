// Envoy 1.40: a bootstrap of one listener and one cluster. A host has a hash_key where what is
// hashed is not its address.
#include "base/ascii.h"
#include "convert/pool/address.h"
#include "convert/write/cleave_yaml.h"
#include "convert/write/writers.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kType = "\"@type\": type.googleapis.com/envoy.extensions.filters.";

std::string socket_address(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return "{socket_address: {address: " + yaml_quoted(host) +
         ", port_value: " + std::string(address.substr(colon + 1)) + "}}";
}

std::string redis_filter(const Pool& pool, const std::string& cluster) {
  std::string text =
      "      - name: envoy.filters.network.redis_proxy\n        typed_config:\n"
      "          " +
      std::string(kType) +
      "network.redis_proxy.v3.RedisProxy\n          stat_prefix: redis\n"
      "          settings: {op_timeout: 5s, enable_hashtagging: ";
  const std::string tag = lowered(option_or(pool, "hash_tag", ""));
  text += tag == "{}" || tag == "true" ? "true}\n" : "false}\n";
  if (!pool.client_password.empty()) {
    text += "          downstream_auth_passwords: [{inline_string: " +
            yaml_quoted(pool.client_password) + "}]\n";
  }
  return text + "          prefix_routes: {catch_all_route: {cluster: " + cluster + "}}\n";
}

std::string http_filter(const std::string& cluster) {
  return "      - name: envoy.filters.network.http_connection_manager\n"
         "        typed_config:\n          " +
         std::string(kType) +
         "network.http_connection_manager.v3.HttpConnectionManager\n"
         "          stat_prefix: http\n          route_config:\n            virtual_hosts:\n"
         "            - name: all\n              domains: [\"*\"]\n              routes:\n"
         "              # The key is taken from the header x-key; write there what your requests "
         "have.\n"
         "              - match: {prefix: /}\n                route: {cluster: " +
         cluster +
         ", hash_policy: [{header: {header_name: x-key}}]}\n"
         "          http_filters:\n          - name: envoy.filters.http.router\n"
         "            typed_config: {" +
         std::string(kType) + "http.router.v3.Router}\n";
}

std::string policy_lines(const Pool& pool, bool maglev) {
  if (maglev) {
    return "    lb_policy: MAGLEV\n    maglev_lb_config: {table_size: " +
           option_or(pool, "table_size", "65537") + "}\n";
  }
  std::string hash = lowered(option_or(pool, "hash", "xx_hash"));
  hash = hash == "xx_hash" ? "XX_HASH" : "MURMUR_HASH_2";
  return "    lb_policy: RING_HASH\n    ring_hash_lb_config: {minimum_ring_size: " +
         option_or(pool, "min_ring", "1024") + ", hash_function: " + hash + "}\n";
}

std::string password_line(const Pool& pool) {
  if (pool.server_password.empty()) return {};
  std::string options = "auth_password: {inline_string: " + yaml_quoted(pool.server_password) + "}";
  if (!pool.server_user.empty())
    options += "\n        auth_username: {inline_string: " + yaml_quoted(pool.server_user) + "}";
  return "    typed_extension_protocol_options:\n      envoy.filters.network.redis_proxy:\n"
         "        " +
         std::string(kType) + "network.redis_proxy.v3.RedisProtocolOptions\n        " + options +
         "\n";
}

std::string endpoint_lines(const PoolNode& node) {
  const std::string& address = node.members.front();
  std::string text = "        - endpoint: {address: " + socket_address(address) +
                     "}\n          load_balancing_weight: " + std::to_string(node.weight) + "\n";
  if (hashed_name(node) != address || !is_numeric_host(address)) {
    text += "          metadata: {filter_metadata: {envoy.lb: {hash_key: " +
            yaml_quoted(hashed_name(node)) + "}}}\n";
  }
  return text;
}

}  // namespace

Result<std::string> write_envoy(const Pool& pool) {
  const std::string cluster = yaml_scalar(pool.name);
  const bool redis = pool.scheme.name == "envoy-redis";
  const bool maglev = redis ? lowered(option_or(pool, "method", "ring_hash")) == "maglev"
                            : pool.scheme.name == "envoy-maglev";
  bool numeric = true;
  for (const PoolNode& node : pool.nodes)
    numeric = numeric && is_numeric_host(node.members.front());
  std::string text =
      export_head(pool, Peer::kEnvoy) +
      "static_resources:\n  listeners:\n  - name: clients\n    address: " +
      socket_address(listener_or_usual(pool)) + "\n    filter_chains:\n    - filters:\n" +
      (redis ? redis_filter(pool, cluster) : http_filter(cluster)) +
      "  clusters:\n  - name: " + cluster + "\n    type: " + (numeric ? "STATIC" : "STRICT_DNS") +
      "\n    connect_timeout: 1s\n" + policy_lines(pool, maglev) + password_line(pool) +
      "    load_assignment:\n      cluster_name: " + cluster +
      "\n      endpoints:\n      - lb_endpoints:\n";
  for (const PoolNode& node : pool.nodes) text += endpoint_lines(node);
  return text;
}

}  // namespace cleave::convert
