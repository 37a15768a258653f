#include "app/config/config.h"

#include <algorithm>
#include <set>
#include <utility>

#include "app/config/yaml_walk.h"
#include "app/files.h"
#include "balance/input/named_constants.h"
#include "base/ascii.h"
#include "base/node_name.h"
#include "base/server_text.h"
#include "ring/edits/edits.h"

namespace cleave::app {
namespace {

constexpr std::uint64_t kWorkersMax = 64;
constexpr std::uint64_t kWeightMax = 1'000;
// As many as HAProxy has ids; as many ids again are left for nodes that join.
constexpr std::uint64_t kPositionMax = 0x7FFF'FFFE;

std::string read_name(Section& section) {
  std::string name = section.text("name");
  if (!is_plain_name(name)) {
    section.fail("name", "want 1 to 64 letters, digits, '-', '_' or '.', got '" + name + "'");
  }
  return name;
}

std::string read_node_name(Section& section) {
  std::string name = section.text("name");
  if (!is_node_name(name)) {
    section.fail("name", std::string(kNodeNameRule) + ", got '" + name + "'");
  }
  return name;
}

net::Address read_server(Section& section, std::set<std::string>& seen) {
  net::Address address = section.address("address");
  if (address.port == 0) section.fail("address", "want a port from 1 to 65535");
  // Two names for one server that can be told apart from here; others by the server's run id.
  if (!seen.insert(comparable_address(net::to_string(address))).second) {
    section.fail("address", net::to_string(address) + " is there twice; a server is one member");
  }
  return address;
}

// `before`: the id of the node before it, or 0. That is where this one stands if it does not say:
// the node of id i stands at i - 1.
ring::Node read_node(Section section, NodeId before, std::set<std::string>& addresses) {
  ring::Node node;
  node.name = read_node_name(section);
  const std::uint64_t next = before.value();
  const std::uint64_t position =
      section.number("position", {.fallback = next, .min = next, .max = kPositionMax});
  node.id = NodeId{static_cast<std::uint32_t>(position) + 1};
  node.hash_key = section.text("hash_key", "");
  node.weight = static_cast<std::uint32_t>(
      section.number("weight", {.fallback = 1, .min = 1, .max = kWeightMax}));
  for (Section& member : section.list("members")) {
    const net::Address address = read_server(member, addresses);
    node.members.push_back({.address = net::to_string(address), .rack = member.text("rack", "")});
    member.finish();
  }
  if (node.members.empty()) {
    section.fail("members", "want at least one member: [{address: host:port}]");
  }
  section.finish();
  return node;
}

void read_nodes(Section& section, std::vector<ring::Node>& nodes) {
  std::set<std::string> names;
  std::set<std::string> addresses;
  for (Section& element : section.list("nodes")) {
    ring::Node node = read_node(element, nodes.empty() ? NodeId{} : nodes.back().id, addresses);
    if (!names.insert(node.name).second) {
      element.fail("name", "'" + node.name + "' is there twice; names of nodes are unique");
    }
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) section.fail("nodes", "want at least one node");
}

// What can be wrong with a scheme, its options and how it likes the nodes, the ring knows.
void check_placed(Section& section, const PoolConfig& pool) {
  const bool readable = !pool.name.empty() && !pool.nodes.empty();
  if (!readable || pool.scheme == ring::SchemeSpec{.name = "vnode"}) return;
  const auto created = ring::create(
      {.pool = pool.name, .mark = {}, .nodes = pool.nodes, .scheme = pool.scheme, .now = {}});
  if (!created) section.fail("ring", created.error().message);
}

PoolConfig read_pool(Section section) {
  PoolConfig pool;
  pool.name = read_name(section);
  pool.kind =
      section.choice("kind", {"store", "cache"}, 0) == 0 ? PoolKind::kStore : PoolKind::kCache;
  Section ring = section.section("ring");
  pool.scheme = {.name = ring.text("scheme", "vnode"), .options = ring.rest()};
  read_nodes(section, pool.nodes);
  check_placed(section, pool);
  Section servers = section.section("servers");
  pool.credentials.user = servers.text("user", "");
  pool.credentials.password = servers.text("password", "");
  if (!pool.credentials.user.empty() && pool.credentials.password.empty()) {
    servers.fail("password", "a user needs a password");
  }
  servers.finish();
  section.finish();
  return pool;
}

void read_pools(Section& root, Config& config) {
  std::vector<Section> pools = root.list("pools");
  if (pools.empty()) {
    root.fail("pools", "want one pool: [{name: main, nodes: [...]}]");
    return;
  }
  config.pool = read_pool(pools[0]);
  if (pools.size() > 1) {
    pools[1].fail("name", "this version serves one pool; run one process a pool");
  }
}

// Wider than loopback, everybody on the network is a client: that takes a secret, or a word that
// it is meant.
enum class Wide : std::uint8_t { kNeedsSecret, kIsMeant };

void refuse_wide(Section& section, const net::Address& address, const std::string& secret,
                 const std::string& secret_key, Wide wide) {
  if (is_loopback(address) || !secret.empty() || wide == Wide::kIsMeant) return;
  section.fail("address", net::to_string(address) + " can be reached from other machines: set a " +
                              secret_key + ", or say 'insecure: true' at the top of the file");
}

void read_listeners(Section& root, Config& config, Wide wide) {
  std::set<net::Address> seen;
  for (Section& section : root.list("listeners")) {
    ListenerConfig listener;
    listener.address = section.address("address");
    section.choice("protocol", {"redis"}, 0);
    listener.pool = section.text("pool", config.pool.name);
    listener.password = section.text("password", "");
    if (listener.pool != config.pool.name) {
      section.fail("pool", "no pool is named '" + listener.pool + "'");
    }
    if (listener.address.port != 0 && !seen.insert(listener.address).second) {
      section.fail("address", net::to_string(listener.address) + " is there twice");
    }
    refuse_wide(section, listener.address, listener.password, "password", wide);
    if (!config.listeners.empty() && config.listeners[0].password != listener.password) {
      section.fail("password", "this version wants the same password on every listener");
    }
    section.finish();
    config.listeners.push_back(std::move(listener));
  }
  if (config.listeners.empty()) {
    root.fail("listeners", "want at least one: [{address: 127.0.0.1:6380, pool: main}]");
  }
}

void read_admin(Section& root, Config& config, Wide wide) {
  Section section = root.section("admin");
  config.admin.address = section.address("address", config.admin.address);
  config.admin.token = section.text("token", "");
  config.admin.advertise = section.text("advertise", "");
  if (const auto told = net::parse_address(config.admin.advertise);
      !config.admin.advertise.empty() && !told) {
    section.fail("advertise", told.error().message);
  }
  config.admin.hosts = section.texts("hosts");
  refuse_wide(section, config.admin.address, config.admin.token, "token", wide);
  section.finish();
}

// A limit of base/limits.h under its own name; a time carries its unit at the end.
template <class Rep>
void read_limit(Section& section, const std::string& name, Rep& value, const NumberRule& rule) {
  const NumberRule with_default{
      .fallback = static_cast<std::uint64_t>(value), .min = rule.min, .max = rule.max};
  value = static_cast<Rep>(section.number(name, with_default));
}

void read_limit(Section& section, const std::string& name, milliseconds& value,
                const NumberRule& rule) {
  auto count = static_cast<std::uint64_t>(value.count());
  read_limit(section, name + "_ms", count, rule);
  value = milliseconds{count};
}

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
constexpr std::uint64_t kHourMs = 3'600'000;

void read_client_limits(Section& section, Limits& limits) {
  const NumberRule bytes{.min = 1'024, .max = 4 * kGiB};
  const NumberRule count{.min = 1, .max = 10'000'000};
  const NumberRule time{.min = 1, .max = kHourMs};
  read_limit(section, "request_bytes_max", limits.request_bytes_max, bytes);
  read_limit(section, "request_args_max", limits.request_args_max, count);
  read_limit(section, "inline_bytes_max", limits.inline_bytes_max, bytes);
  read_limit(section, "reply_bytes_max", limits.reply_bytes_max, bytes);
  read_limit(section, "key_bytes_max", limits.key_bytes_max, {.min = 1, .max = kGiB});
  read_limit(section, "clients_max", limits.clients_max, count);
  read_limit(section, "client_pending_max", limits.client_pending_max, count);
  read_limit(section, "client_unsent_bytes_max", limits.client_unsent_bytes_max, bytes);
  read_limit(section, "client_unsent_bytes_hard", limits.client_unsent_bytes_hard, bytes);
  read_limit(section, "client_stalled_max", limits.client_stalled_max, time);
  read_limit(section, "fan_out_bytes_max", limits.fan_out_bytes_max, bytes);
}

void read_server_limits(Section& section, Limits& limits) {
  const NumberRule time{.min = 1, .max = kHourMs};
  read_limit(section, "pipe_unsent_bytes_max", limits.pipe_unsent_bytes_max,
             {.min = 1'024, .max = 4 * kGiB});
  read_limit(section, "pipe_pending_max", limits.pipe_pending_max, {.min = 1, .max = 10'000'000});
  read_limit(section, "connect_timeout", limits.connect_timeout, time);
  read_limit(section, "request_timeout", limits.request_timeout, time);
  read_limit(section, "pipe_stuck_max", limits.pipe_stuck_max, time);
  read_limit(section, "reconnect_first", limits.reconnect_first, time);
  read_limit(section, "reconnect_max", limits.reconnect_max, time);
  read_limit(section, "probe_interval", limits.probe_interval, time);
  read_limit(section, "probe_failures_max", limits.probe_failures_max, {.min = 1, .max = 1'000});
}

void read_move_limits(Section& section, Limits& limits) {
  const NumberRule count{.min = 1, .max = 10'000'000};
  const NumberRule bytes{.min = 1'024, .max = 4 * kGiB};
  read_limit(section, "fence_hold_max", limits.fence_hold_max, {.min = 10, .max = 60'000});
  read_limit(section, "held_requests_max", limits.held_requests_max, count);
  read_limit(section, "held_bytes_max", limits.held_bytes_max, bytes);
  read_limit(section, "dirty_keys_max", limits.dirty_keys_max, count);
  read_limit(section, "copy_batch_keys", limits.copy_batch_keys, {.min = 1, .max = 10'000});
  read_limit(section, "copy_batch_bytes", limits.copy_batch_bytes, bytes);
  read_limit(section, "copy_bytes_per_second", limits.copy_bytes_per_second,
             {.min = 0, .max = 64 * kGiB});
  read_limit(section, "scan_count", limits.scan_count, {.min = 10, .max = 100'000});
  read_limit(section, "driver_keys_max", limits.driver_keys_max, count);
  read_limit(section, "big_value_bytes", limits.big_value_bytes, bytes);
  read_limit(section, "value_bytes_max", limits.value_bytes_max, bytes);
  read_limit(section, "element_bytes_max", limits.element_bytes_max, bytes);
  read_limit(section, "clock_skew_max", limits.clock_skew_max, {.min = 1, .max = 10'000});
  read_limit(section, "dirty_rounds_max", limits.dirty_rounds_max, {.min = 1, .max = 1'000});
  read_limit(section, "dirty_small_keys", limits.dirty_small_keys, {.min = 1, .max = 10'000});
}

void read_limits(Section& root, Limits& limits) {
  Section section = root.section("limits");
  read_client_limits(section, limits);
  read_server_limits(section, limits);
  read_move_limits(section, limits);
  if (limits.client_unsent_bytes_hard < limits.client_unsent_bytes_max) {
    section.fail("client_unsent_bytes_hard", "must not be below client_unsent_bytes_max");
  }
  section.finish();
}

void read_service(Section& section, const std::string& pool, CoordinationConfig& coordination) {
  coordination.endpoints = section.texts("endpoints");
  if (coordination.endpoints.empty()) {
    section.fail("endpoints", coordination.kind == CoordinatorKind::kEtcd
                                  ? "want at least one: [http://10.0.0.1:2379]"
                                  : "want at least one: [10.0.0.1:2181]");
  }
  coordination.prefix = section.text("prefix", "/cleave/" + pool);
  if (!coordination.prefix.starts_with('/') || coordination.prefix.ends_with('/')) {
    section.fail("prefix", "want a path like /cleave/" + pool);
  }
  coordination.user = section.text("user", "");
  coordination.password = section.text("password", "");
  if (!coordination.user.empty() && coordination.password.empty()) {
    section.fail("password", "a user needs a password");
  }
  if (coordination.kind != CoordinatorKind::kEtcd) return;
  coordination.ca_file = section.text("ca_file", "");
  coordination.certificate_file = section.text("certificate_file", "");
  coordination.key_file = section.text("key_file", "");
  if (coordination.certificate_file.empty() != coordination.key_file.empty()) {
    section.fail("key_file", "a certificate and its key are given together");
  }
}

void read_coordination(Section& root, Config& config) {
  Section section = root.section("coordination");
  CoordinationConfig& coordination = config.coordination;
  const std::vector<CoordinatorKind> kinds = {CoordinatorKind::kSqlite, CoordinatorKind::kEtcd,
                                              CoordinatorKind::kZookeeper};
  coordination.kind = kinds[section.choice("kind", {"sqlite", "etcd", "zookeeper"}, 0)];
  if (coordination.kind == CoordinatorKind::kSqlite) {
    coordination.path = section.text("path", coordination.path);
    if (coordination.path.empty()) section.fail("path", "want a file name");
  } else {
    read_service(section, config.pool.name, coordination);
  }
  // Beside the document's file where there is one.
  const bool file = coordination.kind == CoordinatorKind::kSqlite;
  coordination.saved_rings =
      section.text("saved_rings", file ? coordination.path + ".rings" : "cleave.rings");
  if (coordination.saved_rings.empty()) section.fail("saved_rings", "want the name of a folder");
  section.finish();
  // The other routers are told where to ask this one.
  const std::string& host = config.admin.address.host;
  if (coordination.kind != CoordinatorKind::kSqlite && config.admin.advertise.empty() &&
      (host == "0.0.0.0" || host == "::")) {
    root.fail("admin", "the other routers cannot reach " + net::to_string(config.admin.address) +
                           ": say 'advertise: HOST:PORT' with this machine's own address");
  }
}

// Beside the document's file where there is one.
void read_history(Section& root, Config& config) {
  Section section = root.section("history");
  const bool file = config.coordination.kind == CoordinatorKind::kSqlite;
  config.history_path =
      section.text("path", file ? config.coordination.path + ".history" : "cleave.history");
  if (config.history_path.empty()) section.fail("path", "want a file name");
  section.finish();
}

void read_constants(Section& balance, balance::Constants& constants) {
  Section section = balance.section("constants");
  for (const balance::NamedConstant& each : balance::named_constants(constants)) {
    const std::string name(each.name);
    const std::uint64_t value = section.number(name, {.fallback = each.value});
    if (const Result<void> set = balance::set_constant(constants, name, value); !set)
      section.fail(name, set.error().message);
  }
  section.finish();
}

void read_balance(Section& root, BalanceConfig& balance) {
  Section section = root.section("balance");
  const std::vector<ring::Mode> modes = {ring::Mode::kObserve, ring::Mode::kApprove,
                                         ring::Mode::kAuto};
  balance.mode = modes[section.choice("mode", {"observe", "approve", "auto"}, 2)];
  for (const std::string& text : section.texts("windows")) {
    const Result<balance::DailyWindow> window = balance::parse_window(text);
    if (window) balance.windows.push_back(*window);
    if (!window) section.fail("windows", window.error().message);
  }
  read_constants(section, balance.constants);
  if (const std::string url = section.text("webhook", ""); !url.empty()) {
    const Result<net::Url> parsed = parse_webhook_url(url);
    if (parsed) balance.webhook = *parsed;
    if (!parsed) section.fail("webhook", parsed.error().message);
  }
  section.finish();
}

void read_rest(Section& root, Config& config) {
  config.workers = static_cast<std::uint32_t>(
      root.number("workers", {.fallback = 1, .min = 1, .max = kWorkersMax}));
  read_coordination(root, config);
  read_history(root, config);
  read_balance(root, config.balance);
  Section log = root.section("log");
  config.log_format =
      log.choice("format", {"text", "json"}, 0) == 0 ? LogFormat::kText : LogFormat::kJson;
  log.finish();
}

Result<Config> read_config(const YAML::Node& document, Walk& walk) {
  Config config;
  Section root(walk, document, "");
  const Wide wide = root.boolean("insecure", false) ? Wide::kIsMeant : Wide::kNeedsSecret;
  read_pools(root, config);
  read_listeners(root, config, wide);
  read_admin(root, config, wide);
  read_limits(root, config.limits);
  read_rest(root, config);
  root.finish();
  if (walk.failed()) return std::unexpected(walk.error());
  return config;
}

}  // namespace

Result<Config> parse_config(std::string_view text, const std::string& file) {
  return read_yaml(text, file, read_config);
}

Result<Config> load_config(const std::string& file) {
  const Result<std::string> text = read_file(file);
  if (!text) return std::unexpected(text.error());
  Result<Config> config = parse_config(*text, file);
  if (!config) return config;
  if (const Result<void> found = resolve_paths(*config, file); !found)
    return std::unexpected(found.error());
  return config;
}

bool is_loopback(const net::Address& address) {
  // Numeric only: "127.example.org" is a name that may resolve to anything.
  const bool numeric =
      std::ranges::all_of(address.host, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return address.host == "localhost" || address.host == "::1" ||
         (numeric && address.host.starts_with("127."));
}

}  // namespace cleave::app
