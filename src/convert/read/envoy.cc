// Envoy 1.40, a bootstrap in YAML or JSON (fields in snake_case or lowerCamelCase): each static
// cluster of lb_policy RING_HASH or MAGLEV, or of a load_balancing_policy whose first entry is one
// of them.
//
//   host       hashed is envoy.lb.hash_key of the endpoint's metadata; else its hostname, with
//              use_hostname_for_hashing; else its "ip:port"
//   weights    load_balancing_weight of the endpoints. Localities of one priority are one list,
//              unless they are weighted themselves.
//   key        by the listeners that lead to the cluster (envoy_use.h)
//   ejection   health_checks and outlier_detection send the keys of a failing host to others
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/to_number.h"
#include "convert/pool/address.h"
#include "convert/pool/notes.h"
#include "convert/read/envoy_use.h"
#include "convert/read/readers.h"
#include "convert/read/yaml_tree.h"

namespace cleave::convert {
namespace {

constexpr std::uint64_t kRingSizeMax = 8'388'608;  // default of maximum_ring_size
constexpr std::uint64_t kMinimumRing = 1'024;      // default of minimum_ring_size

// Fields of a cluster that are read, or place no key.
constexpr std::array<std::string_view, 12> kRead = {"name",
                                                    "type",
                                                    "lb_policy",
                                                    "load_balancing_policy",
                                                    "load_assignment",
                                                    "ring_hash_lb_config",
                                                    "maglev_lb_config",
                                                    "common_lb_config",
                                                    "health_checks",
                                                    "outlier_detection",
                                                    "transport_socket",
                                                    "typed_extension_protocol_options"};

constexpr std::array<std::string_view, 32> kHarmlessFields = {
    "alt_stat_name",
    "circuit_breakers",
    "cleanup_interval",
    "close_connections_on_host_health_failure",
    "common_http_protocol_options",
    "connect_timeout",
    "connection_pool_per_downstream_connection",
    "dns_failure_refresh_rate",
    "dns_jitter",
    "dns_lookup_family",
    "dns_refresh_rate",
    "dns_resolution_config",
    "dns_resolvers",
    "filters",
    "http2_protocol_options",
    "http_protocol_options",
    "ignore_health_on_host_removal",
    "least_request_lb_config",
    "max_requests_per_connection",
    "metadata",
    "observability_name",
    "per_connection_buffer_limit_bytes",
    "preconnect_policy",
    "protocol_selection",
    "respect_dns_ttl",
    "round_robin_lb_config",
    "track_cluster_stats",
    "track_timeout_budgets",
    "typed_dns_resolver_config",
    "upstream_bind_config",
    "upstream_connection_options",
    "wait_for_warm_on_init"};

// Settings of a balancer that are read, or place no key while all hosts are healthy.
constexpr std::array<std::string_view, 16> kReadOfBalancer = {
    "@type",
    "hash_function",
    "minimum_ring_size",
    "maximum_ring_size",
    "table_size",
    "consistent_hashing_lb_config",
    "use_hostname_for_hashing",
    "hash_balance_factor",
    "locality_weighted_lb_config",
    "hash_policy",
    "healthy_panic_threshold",
    "zone_aware_lb_config",
    "update_merge_window",
    "close_connections_on_host_set_change",
    "ignore_new_hosts_until_first_hc",
    "override_host_status"};

constexpr std::array<std::string_view, 6> kReadOfLocality = {
    "locality", "lb_endpoints", "priority", "load_balancing_weight", "proximity", "metadata"};

constexpr std::array<std::string_view, 4> kReadOfEndpoint = {"endpoint", "health_status",
                                                             "metadata", "load_balancing_weight"};

constexpr std::array<std::string_view, 3> kReadOfHost = {"address", "hostname",
                                                         "health_check_config"};

struct MovingField {
  std::string_view field;
  std::string_view why;
};

constexpr std::array<MovingField, 5> kMoving = {
    {{"lb_subset_config", "subsets decide before the hash does"},
     {"cluster_type", "its hosts come from elsewhere"},
     {"eds_cluster_config", "its hosts come from a control plane"},
     {"hosts", "hosts of the old API; write a load_assignment"},
     {"transport_socket_matches", "cleave connects to servers without TLS"}}};

bool contains(std::span<const std::string_view> words, const YAML::Node& cluster,
              const YamlEntry& entry) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return find_field(cluster, word).is(entry.value); });
}

// The balancer, whichever way it is configured.
struct Balancer {
  std::string method;  // "ring_hash", "maglev"; empty: another
  YAML::Node config;   // its own settings
  YAML::Node common;   // settings that ring and maglev share
};

Balancer typed_balancer(const YAML::Node& policies) {
  if (!policies.IsSequence() || policies.size() == 0) return {};
  const YAML::Node config = find_path(policies[0], "typed_extension_config.typed_config");
  const std::string type = text_of(find_field(config, "@type"));
  const std::string method = type.ends_with(".RingHash") ? "ring_hash"
                             : type.ends_with(".Maglev") ? "maglev"
                                                         : "";
  return {method, config, config};
}

Balancer balancer_of(const YAML::Node& cluster) {
  if (const YAML::Node policy = find_field(cluster, "load_balancing_policy"); policy.IsDefined())
    return typed_balancer(find_field(policy, "policies"));
  const std::string policy = text_of(find_field(cluster, "lb_policy"));
  const YAML::Node common = find_field(cluster, "common_lb_config");
  if (policy == "RING_HASH")
    return {"ring_hash", find_field(cluster, "ring_hash_lb_config"), common};
  if (policy == "MAGLEV") return {"maglev", find_field(cluster, "maglev_lb_config"), common};
  return {};
}

class ClusterReader {
 public:
  ClusterReader(const std::string& file, const std::string& name) : notes_(file, name) {
    pool_.name = name;
  }

  Result<Pool> read(const YAML::Node& bootstrap, const YAML::Node& cluster) && {
    const Balancer balancer = balancer_of(cluster);
    if (balancer.method.empty()) {
      return std::unexpected(notes_.not_placed(
          line_of(cluster), "neither RING_HASH nor MAGLEV: Envoy does not place it by keys"));
    }
    const EnvoyUse use = use_of_cluster(bootstrap, pool_.name, notes_);
    take_use(use, balancer);
    read_common(balancer.common);
    read_fields(cluster, use);
    read_endpoints(cluster);
    if (balancer.method == "ring_hash") {
      read_ring(balancer.config);
    } else if (const YAML::Node size = find_field(balancer.config, "table_size");
               size.IsDefined()) {
      pool_.scheme.options["table_size"] = text_of(size);
    }
    return std::move(notes_).finish(std::move(pool_));
  }

 private:
  void take_use(const EnvoyUse& use, const Balancer& balancer) {
    if (!use.redis) {
      pool_.kind = Kind::kCache;
      pool_.scheme.name = balancer.method == "ring_hash" ? "envoy-ring" : "envoy-maglev";
      return;
    }
    pool_.kind = Kind::kStore;
    pool_.scheme.name = "envoy-redis";
    pool_.scheme.options["method"] = balancer.method;
    if (use.hash_tags) pool_.scheme.options["hash_tag"] = "{}";
    pool_.listener = use.listener;
    pool_.client_password = use.client_password;
  }

  void read_common(const YAML::Node& common) {
    const YAML::Node hashing = find_field(common, "consistent_hashing_lb_config");
    for (const YAML::Node& config : {hashing, common}) {
      if (is_true(find_field(config, "use_hostname_for_hashing"))) by_hostname_ = true;
      const YAML::Node factor = find_field(config, "hash_balance_factor");
      if (!text_of(factor).empty() && text_of(factor) != "0") {
        notes_.refuse(line_of(factor),
                      "hash_balance_factor sends keys of a busy host to others, so their place "
                      "changes with load; remove it");
      }
    }
    const YAML::Node weighted = find_field(common, "locality_weighted_lb_config");
    if (weighted.IsDefined())
      notes_.refuse(line_of(weighted),
                    "localities with weights of their own: cleave's nodes have "
                    "one weight each; remove locality_weighted_lb_config");
    refuse_rest(common, kReadOfBalancer);
    refuse_rest(hashing, kReadOfBalancer);
    const YAML::Node policy = find_field(common, "hash_policy");
    if (policy.IsDefined())
      notes_.refuse(line_of(policy), "hash_policy of the balancer overrides that of the routes");
  }

  // A field that is not in the list may place keys.
  void refuse_rest(const YAML::Node& map, std::span<const std::string_view> known) {
    for (const YamlEntry& entry : entries_of(map)) {
      if (!contains(known, map, entry)) refuse_unknown(entry);
    }
  }

  void refuse_unknown(const YamlEntry& entry) {
    notes_.refuse(line_of(entry.value), "'" + entry.key +
                                            "' may place keys, and cleave does not know it; "
                                            "remove it if it does not");
  }

  void read_fields(const YAML::Node& cluster, const EnvoyUse& use) {
    read_type(cluster);
    for (const YamlEntry& entry : entries_of(cluster)) read_field(cluster, entry);
    for (const std::string_view name : {"health_checks", "outlier_detection"}) {
      if (const YAML::Node field = find_field(cluster, name); field.IsDefined())
        judge_ejection(name, line_of(field), use.redis);
    }
    if (const YAML::Node field = find_field(cluster, "transport_socket"); field.IsDefined()) {
      const std::string text = "transport_socket: cleave connects to servers without TLS";
      use.redis ? notes_.refuse(line_of(field), text) : notes_.remark(line_of(field), text);
    }
    // A name with dots, so no path.
    const YAML::Node options = find_field(find_field(cluster, "typed_extension_protocol_options"),
                                          "envoy.filters.network.redis_proxy");
    read_server_password(options);
  }

  void read_type(const YAML::Node& cluster) {
    const YAML::Node type = find_field(cluster, "type");
    const std::string text = text_of(type);
    if (text.empty() || text == "STATIC" || text == "STRICT_DNS") return;
    notes_.refuse(line_of(type), "type " + text + ": its hosts are not in this file, or change");
  }

  void read_field(const YAML::Node& cluster, const YamlEntry& entry) {
    const std::size_t line = line_of(entry.value);
    if (contains(kRead, cluster, entry)) return;
    if (contains(kHarmlessFields, cluster, entry))
      return notes_.remark(line, entry.key + " is not taken over; it places no key");
    for (const MovingField& moving : kMoving) {
      if (find_field(cluster, moving.field).is(entry.value))
        return notes_.refuse(line, entry.key + ": " + std::string(moving.why));
    }
    refuse_unknown(entry);
  }

  void judge_ejection(std::string_view field, std::size_t line, bool redis) {
    if (redis) {
      notes_.refuse(line, std::string(field) +
                              " moves the keys of a failing host to others, which a store must "
                              "not do: they come back with old values; remove it and import again "
                              "(cleave answers an error for such keys until the server is back)");
      return;
    }
    notes_.remark(line, std::string(field) +
                            ": Envoy sends keys of a failing host to others; in cleave they are "
                            "errors until it is back");
  }

  void read_server_password(const YAML::Node& options) {
    for (const std::string_view name : {"auth_username", "auth_password"}) {
      const YAML::Node source = find_field(options, name);
      if (!source.IsDefined()) continue;
      const std::string text = text_of(find_field(source, "inline_string"));
      if (text.empty())
        notes_.refuse(line_of(source), std::string(name) + ": want it as inline_string");
      (name == "auth_username" ? pool_.server_user : pool_.server_password) = text;
    }
    const YAML::Node role = find_field(options, "aws_iam");
    if (role.IsDefined()) notes_.refuse(line_of(role), "aws_iam: cleave logs in by a password");
  }

  void read_endpoints(const YAML::Node& cluster) {
    const YAML::Node assignment = find_field(cluster, "load_assignment");
    const YAML::Node drops = find_path(assignment, "policy.drop_overloads");
    if (drops.IsDefined())
      notes_.refuse(line_of(drops), "drop_overloads: some requests would go nowhere");
    const YAML::Node localities = find_field(assignment, "endpoints");
    if (localities.IsDefined()) {
      for (const YAML::Node& locality : localities) read_locality(locality);
    }
    if (pool_.nodes.empty()) notes_.refuse(line_of(cluster), "no endpoints");
  }

  void read_locality(const YAML::Node& locality) {
    const YAML::Node priority = find_field(locality, "priority");
    const std::string level = text_of(priority);
    if (!level.empty() && level != "0") {
      return notes_.refuse(line_of(priority), "priority " + level +
                                                  ": such hosts get the keys of others that fail; "
                                                  "remove them");
    }
    refuse_rest(locality, kReadOfLocality);
    const YAML::Node endpoints = find_field(locality, "lb_endpoints");
    if (!endpoints.IsDefined()) return;
    for (const YAML::Node& endpoint : endpoints) read_endpoint(endpoint);
  }

  void read_endpoint(const YAML::Node& each) {
    const std::size_t line = line_of(each);
    const YAML::Node endpoint = find_field(each, "endpoint");
    refuse_rest(each, kReadOfEndpoint);
    refuse_rest(endpoint, kReadOfHost);
    const Result<std::string> address = envoy_address(find_field(endpoint, "address"));
    if (!address) return notes_.refuse(line, "endpoint: " + address.error().message);
    const std::string health = text_of(find_field(each, "health_status"));
    if (!health.empty() && health != "HEALTHY" && health != "UNKNOWN")
      notes_.refuse(line, "endpoint " + *address + " is " + health + ": its keys are elsewhere");
    const std::string weight = text_of(find_field(each, "load_balancing_weight"));
    const auto number = to_number<std::uint32_t>(weight.empty() ? "1" : weight);
    if (!number || *number == 0)
      return notes_.refuse(line, "endpoint " + *address + ": '" + weight + "' is no weight");
    pool_.nodes.push_back({hashed_name(each, *address), *number, {*address}});
  }

  std::string hashed_name(const YAML::Node& each, const std::string& address) {
    const YAML::Node key =
        find_field(find_field(find_path(each, "metadata.filter_metadata"), "envoy.lb"), "hash_key");
    if (!text_of(key).empty()) return text_of(key);
    const YAML::Node endpoint = find_field(each, "endpoint");
    if (by_hostname_) {
      const std::string hostname = text_of(find_field(endpoint, "hostname"));
      if (!hostname.empty()) return hostname;
      notes_.refuse(line_of(each),
                    "endpoint " + address + ": use_hostname_for_hashing, but it has no hostname");
    } else if (!is_numeric_host(address)) {
      notes_.refuse(line_of(each), "endpoint " + address +
                                       ": Envoy hashes the IP address that DNS gives it; give it "
                                       "a hash_key in its metadata (envoy.lb)");
    }
    return address;
  }

  void read_ring(const YAML::Node& config) {
    const std::string hash = text_of(find_field(config, "hash_function"));
    if (!hash.empty() && hash != "DEFAULT_HASH") pool_.scheme.options["hash"] = hash;
    const std::string minimum = text_of(find_field(config, "minimum_ring_size"));
    if (!minimum.empty()) pool_.scheme.options["min_ring"] = minimum;
    const YAML::Node most = find_field(config, "maximum_ring_size");
    const auto wanted = to_number<std::uint64_t>(minimum).value_or(kMinimumRing);
    const auto bound = to_number<std::uint64_t>(text_of(most)).value_or(kRingSizeMax);
    if (ring_size(wanted) <= static_cast<double>(bound)) return;
    notes_.refuse(line_of(most), "maximum_ring_size " + std::to_string(bound) +
                                     " cuts the ring off, which leaves the last hosts with less "
                                     "than their share; cleave has no such ring");
  }

  // As ring/schemes/peers/envoy.cc scales it.
  double ring_size(std::uint64_t wanted) const {
    double total = 0;
    double lightest = 0;
    for (const PoolNode& node : pool_.nodes) {
      total += node.weight;
      lightest = lightest == 0 ? node.weight : std::min<double>(lightest, node.weight);
    }
    if (total == 0) return 0;
    const double share = lightest / total;
    return std::ceil(share * static_cast<double>(wanted)) / share;
  }

  Notes notes_;
  Pool pool_;
  bool by_hostname_ = false;
};

}  // namespace

FoundPools read_envoy(std::string_view text, const std::string& file) {
  const Result<YAML::Node> bootstrap = load_yaml(text, file);
  if (!bootstrap) return std::unexpected(bootstrap.error());
  const YAML::Node clusters = find_path(*bootstrap, "static_resources.clusters");
  if (!clusters.IsDefined() || !clusters.IsSequence())
    return fail(Code::kInvalid, at_line(file, 0, "no static_resources.clusters"));
  std::vector<FoundPool> found;
  for (const YAML::Node& cluster : clusters) {
    const std::string name = text_of(find_field(cluster, "name"));
    found.push_back({name, ClusterReader(file, name).read(*bootstrap, cluster)});
  }
  return found;
}

}  // namespace cleave::convert
