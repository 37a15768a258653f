#include "convert/read/envoy_use.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <vector>

#include "convert/pool/address.h"

namespace cleave::convert {
namespace {

using Visit = std::function<void(const YAML::Node& map)>;

// Every mapping below the node, itself included.
void visit_maps(const YAML::Node& node, const Visit& visit) {
  if (!node.IsDefined()) return;
  if (node.IsMap()) visit(node);
  if (node.IsSequence()) {
    for (const YAML::Node& element : node) visit_maps(element, visit);
  }
  for (const YamlEntry& entry : entries_of(node)) visit_maps(entry.value, visit);
}

bool is_redis_proxy(const YAML::Node& map) {
  return text_of(find_field(map, "@type")).ends_with(".RedisProxy");
}

bool names_cluster(const YAML::Node& route, const std::string& cluster) {
  return text_of(find_field(route, "cluster")) == cluster;
}

class UseReader {
 public:
  UseReader(const std::string& cluster, Notes& notes) : cluster_(cluster), notes_(notes) {}

  EnvoyUse read(const YAML::Node& bootstrap) {
    const YAML::Node listeners = find_path(bootstrap, "static_resources.listeners");
    if (listeners.IsDefined()) {
      for (const YAML::Node& listener : listeners) {
        visit_maps(listener, [&](const YAML::Node& map) {
          if (is_redis_proxy(map)) read_redis_proxy(map, listener);
          if (const YAML::Node route = find_field(map, "route"); route.IsDefined())
            read_http_route(route);
        });
      }
    }
    if (use_.redis && routes_ > 0)
      notes_.refuse(0, "both redis_proxy and HTTP routes lead to it: they hash differently");
    if (!use_.redis && routes_ == 0) {
      notes_.remark(0,
                    "no route of this file leads to it; taken as one whose only hash policy is "
                    "the key");
    }
    return use_;
  }

 private:
  void read_redis_proxy(const YAML::Node& proxy, const YAML::Node& listener) {
    const YAML::Node routes = find_field(proxy, "prefix_routes");
    const YAML::Node all = find_field(routes, "catch_all_route");
    refuse_prefixes(find_field(routes, "routes"));
    if (!names_cluster(all, cluster_) && !names_cluster(proxy, cluster_)) return;
    if (use_.redis) notes_.refuse(line_of(proxy), "two redis_proxies lead to it");
    use_.redis = true;
    use_.hash_tags = is_true(find_path(proxy, "settings.enable_hashtagging"));
    read_catch_all(all);
    read_listener(listener);
    read_passwords(proxy);
    remark_rest(proxy, {"@type", "stat_prefix", "settings", "prefix_routes", "cluster",
                        "downstream_auth_password", "downstream_auth_passwords",
                        "downstream_auth_username"});
    remark_rest(find_field(proxy, "settings"), {"enable_hashtagging"});
    remark_rest(routes, {"catch_all_route", "routes"});
  }

  // Whatever the mapping has besides the fields that are read.
  void remark_rest(const YAML::Node& map, std::initializer_list<std::string_view> read) {
    for (const YamlEntry& entry : entries_of(map)) {
      const bool is_read = std::ranges::any_of(
          read, [&](std::string_view name) { return find_field(map, name).is(entry.value); });
      if (!is_read)
        notes_.remark(line_of(entry.value),
                      entry.key + " of redis_proxy is not taken over; it places no key");
    }
  }

  void refuse_prefixes(const YAML::Node& routes) {
    if (!routes.IsDefined()) return;
    for (const YAML::Node& route : routes) {
      if (!names_cluster(route, cluster_)) continue;
      notes_.refuse(line_of(route), "redis_proxy sends it the keys of prefix '" +
                                        text_of(find_field(route, "prefix")) +
                                        "' only; in cleave all keys of a pool are on one ring");
    }
  }

  void read_catch_all(const YAML::Node& route) {
    for (const std::string_view name : {"read_command_policy", "key_formatter", "remove_prefix"}) {
      const YAML::Node field = find_field(route, name);
      if (field.IsDefined())
        notes_.refuse(line_of(field),
                      std::string(name) + " of redis_proxy changes keys, or where reads go");
    }
    const YAML::Node mirror = find_field(route, "request_mirror_policy");
    if (mirror.IsDefined())
      notes_.remark(line_of(mirror), "request_mirror_policy: cleave copies no requests elsewhere");
  }

  void read_listener(const YAML::Node& listener) {
    const YAML::Node node = find_field(listener, "address");
    const Result<std::string> address = envoy_address(node);
    if (address) {
      use_.listener = *address;
    } else {
      notes_.remark(line_of(node), "listener: " + address.error().message +
                                       "; clients must connect to the TCP address of 'listeners'");
    }
  }

  void read_passwords(const YAML::Node& proxy) {
    std::vector<YAML::Node> sources;
    if (const YAML::Node one = find_field(proxy, "downstream_auth_password"); one.IsDefined())
      sources.push_back(one);
    const YAML::Node list = find_field(proxy, "downstream_auth_passwords");
    if (list.IsDefined()) {
      for (const YAML::Node& each : list) sources.push_back(each);
    }
    if (find_field(proxy, "downstream_auth_username").IsDefined())
      notes_.refuse(line_of(proxy),
                    "downstream_auth_username: cleave's clients have no user names");
    if (sources.empty()) return;
    use_.client_password = text_of(find_field(sources.front(), "inline_string"));
    if (use_.client_password.empty() || sources.size() > 1) {
      notes_.refuse(line_of(sources.front()),
                    "the passwords of clients: want one, as inline_string; cleave has one for "
                    "each listener");
    }
  }

  void read_http_route(const YAML::Node& route) {
    const YAML::Node weighted = find_path(route, "weighted_clusters.clusters");
    if (weighted.IsDefined()) {
      for (const YAML::Node& each : weighted) {
        if (text_of(find_field(each, "name")) == cluster_)
          notes_.refuse(line_of(each), "a route spreads over several clusters by weight");
      }
    }
    if (!names_cluster(route, cluster_)) return;
    ++routes_;
    judge_hash_policies(find_field(route, "hash_policy"), line_of(route));
  }

  void judge_hash_policies(const YAML::Node& policies, std::size_t line) {
    if (!policies.IsDefined() || policies.size() == 0) {
      return notes_.refuse(line, "a route without hash_policy: Envoy sends its requests anywhere");
    }
    if (policies.size() > 1) {
      return notes_.refuse(line_of(policies),
                           "several hash policies: Envoy mixes their hashes, which no key of "
                           "cleave has; leave one");
    }
    const YAML::Node policy = policies[0];
    for (const std::string_view name : {"header", "query_parameter", "cookie"}) {
      if (const YAML::Node field = find_field(policy, name); field.IsDefined()) {
        notes_.remark(line_of(policy), "Envoy places each request by its " + std::string(name) +
                                           " " + name_of(field) +
                                           ", cleave each command by its key; these servers are "
                                           "those of an HTTP proxy, and cleave speaks Redis");
        return;
      }
    }
    notes_.refuse(line_of(policy), "hash_policy: not the hash of a header, cookie or parameter");
  }

  static std::string name_of(const YAML::Node& policy) {
    const std::string header = text_of(find_field(policy, "header_name"));
    return header.empty() ? text_of(find_field(policy, "name")) : header;
  }

  const std::string& cluster_;
  Notes& notes_;
  EnvoyUse use_;
  std::size_t routes_ = 0;
};

}  // namespace

EnvoyUse use_of_cluster(const YAML::Node& bootstrap, const std::string& cluster, Notes& notes) {
  return UseReader(cluster, notes).read(bootstrap);
}

Result<std::string> envoy_address(const YAML::Node& address) {
  const YAML::Node socket = find_field(address, "socket_address");
  if (!socket.IsDefined()) {
    for (const YamlEntry& entry : entries_of(address))
      return fail(Code::kInvalid, "'" + entry.key + "' is no TCP address");
    return fail(Code::kInvalid, "no address");
  }
  const std::string protocol = text_of(find_field(socket, "protocol"));
  if (!protocol.empty() && protocol != "TCP")
    return fail(Code::kInvalid, "protocol " + protocol + " is not TCP");
  return join_address(text_of(find_field(socket, "address")),
                      text_of(find_field(socket, "port_value")));
}

}  // namespace cleave::convert
