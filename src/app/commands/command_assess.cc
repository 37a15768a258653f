#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/monitor_sample.h"
#include "app/commands/server_keys.h"
#include "app/commands/trace_file.h"
#include "app/config/pool_file.h"
#include "app/text/stray_text.h"
#include "app/text/table.h"
#include "balance/explain.h"
#include "base/shown.h"
#include "base/to_number.h"
#include "control/observe/info_facts.h"
#include "draw/pictures.h"
#include "rehearse/assess.h"
#include "ring/vnode.h"

namespace cleave::app {
namespace {

struct AssessOptions {
  PoolFile config;                 // empty path: `nodes` instead
  std::vector<std::string> nodes;  // NAME=WEIGHT
  std::string trace;
  std::string monitor;
  bool servers = false;
  std::int64_t seconds = 5;
  std::uint64_t seed = 1;
  std::string pictures;
};

// The pool that is assessed, and how its servers are reached where that is known.
struct AssessedPool {
  ring::SchemeSpec scheme = {.name = "vnode"};
  std::vector<rehearse::NodeSpec> nodes;
  std::vector<MonitorTarget> targets;
  backend::Credentials credentials;
  std::vector<ring::NamedNodes> names;  // under which a scheme may have hashed them
};

Result<AssessedPool> pool_of_config(const PoolFile& file) {
  const Result<convert::Pool> found = read_pool_file(file);
  if (!found) return std::unexpected(found.error());
  AssessedPool pool{.scheme = found->scheme,
                    .nodes = {},
                    .targets = {},
                    .credentials = {.user = found->server_user, .password = found->server_password},
                    .names = {}};
  for (const convert::PoolNode& node : found->nodes) {
    pool.nodes.push_back(
        {.name = node.name, .rack = node.rack, .weight = node.weight, .hash_key = node.hash_key});
    if (node.members.empty()) continue;
    const auto address = net::parse_address(node.members.front());
    if (!address) return std::unexpected(address.error());
    pool.targets.push_back({node.name, *address});
  }
  pool.names.push_back({.what = "their names", .nodes = convert::placed_nodes(*found)});
  if (pool.targets.size() < pool.nodes.size()) return pool;
  ring::NamedNodes addresses{.what = "their addresses", .nodes = pool.names.front().nodes};
  for (std::size_t at = 0; at < found->nodes.size(); ++at)
    addresses.nodes[at].name = found->nodes[at].members.front();
  pool.names.push_back(std::move(addresses));
  return pool;
}

Result<AssessedPool> pool_of_names(const std::vector<std::string>& names) {
  AssessedPool pool;
  for (const std::string& each : names) {
    const std::size_t equals = each.find('=');
    const std::string digits = equals == std::string::npos ? "1" : each.substr(equals + 1);
    const auto weight = to_number<std::uint32_t>(digits);
    if (!weight || *weight == 0 || *weight > ring::kWeightMax)
      return fail(Code::kInvalid, "--node: want NAME=WEIGHT, 1 to 1,000, got '" + each + "'");
    pool.nodes.push_back({.name = each.substr(0, equals), .rack = {}, .weight = *weight});
  }
  return pool;
}

// What the pool is asked, and what each server was asked where servers were watched.
Result<MonitorSample> sample_of(const AssessOptions& options, const AssessedPool& pool) {
  if (options.servers) {
    std::cerr << "watching " << pool.targets.size() << " servers with MONITOR for "
              << options.seconds << " s; a busy server may serve up to half as much meanwhile\n";
    return sample_servers(pool.targets, pool.credentials, seconds{options.seconds});
  }
  auto trace = read_trace_file(options.trace, options.monitor);
  if (!trace) return std::unexpected(trace.error());
  return MonitorSample{.trace = std::move(*trace), .servers = {}};
}

double of_fair(std::uint64_t ppm) { return static_cast<double>(ppm) / 1e6; }

// Peak over mean as the servers themselves were asked; by weight.
std::uint32_t measured_ppm(const std::vector<MonitoredServer>& servers, const AssessedPool& pool) {
  std::uint64_t cost = 0;
  std::uint64_t weights = 0;
  for (std::size_t at = 0; at < servers.size(); ++at) {
    cost += servers[at].cost;
    weights += pool.nodes[at].weight;
  }
  std::uint32_t peak = 0;
  for (std::size_t at = 0; at < servers.size(); ++at) {
    peak = std::max(peak,
                    balance::level_ppm(servers[at].cost, cost * pool.nodes[at].weight / weights));
  }
  return peak;
}

// Whether the servers hold their keys where the pool's scheme looks for them.
struct LookAtKeys {
  std::vector<ServerKeys> servers;
  KeysFit fit;
};

Result<std::optional<LookAtKeys>> look_at_keys(const AssessOptions& options,
                                               const AssessedPool& pool) {
  if (!options.servers) return std::nullopt;
  if (pool.targets.empty() || pool.targets.size() < pool.nodes.size())
    return fail(Code::kInvalid, "--servers: the addresses come from --config");
  auto servers = read_server_keys(pool.targets, pool.credentials);
  if (!servers) return std::unexpected(servers.error());
  auto fit = fit_of(*servers, pool.scheme, pool.names);
  if (!fit) return std::unexpected(fit.error());
  return LookAtKeys{.servers = std::move(*servers), .fit = std::move(*fit)};
}

Json keys_json(const LookAtKeys& look, const AssessedPool& pool) {
  Json nodes = Json::array();
  for (std::size_t at = 0; at < look.servers.size(); ++at) {
    const control::StrayCount& count = look.fit.nodes[at];
    const ServerKeys& server = look.servers[at];
    std::uint64_t unreached = 0;
    for (const control::OtherDatabase& each : server.databases) unreached += each.keys;
    Json scripts = Json::array();
    for (const control::ScriptCalls& each : server.scripts)
      scripts.push_back({{"command", each.command}, {"calls", each.calls}});
    nodes.push_back({{"name", pool.nodes[at].name},
                     {"looked", count.keys},
                     {"whole", count.whole},
                     {"elsewhere", count.strays},
                     {"error", of_fair(count.error_ppm())},
                     {"in_other_databases", unreached},
                     {"scripts", std::move(scripts)}});
  }
  Json json = {{"looked", look.fit.keys},
               {"elsewhere", look.fit.elsewhere},
               {"nodes", std::move(nodes)},
               {"fits", nullptr}};
  if (look.fit.better) {
    json["fits"] = {{"scheme", look.fit.better->scheme.name},
                    {"scheme_options", look.fit.better->scheme.options},
                    {"hashed", look.fit.better->hashed},
                    {"elsewhere", look.fit.better->elsewhere},
                    {"keys", look.fit.better->keys}};
  }
  return json;
}

void print_keys(const LookAtKeys& look, const AssessedPool& pool) {
  bool scripts = false;
  for (std::size_t at = 0; at < look.servers.size(); ++at) {
    const control::StrayCount& count = look.fit.nodes[at];
    const std::string& name = pool.nodes[at].name;
    if (count.strays > 0)
      std::cout << "node " << name << ": " << describe(count) << " are not where this ring looks"
                << examples_of(count, 3) << "\n";
    for (const control::OtherDatabase& each : look.servers[at].databases)
      std::cout << "node " << name << ": " << grouped(each.keys) << " keys in database "
                << each.number << ", which no client reaches through a router\n";
    if (!look.servers[at].scripts.empty()) {
      scripts = true;
      std::cout << "node " << name << ": scripts or functions were run here since the server's "
                << "start: " << control::describe(look.servers[at].scripts) << "\n";
    }
  }
  if (scripts) std::cout << script_rule() << "\n";
  if (look.fit.elsewhere == 0) std::cout << "every key is where this ring looks\n";
  if (look.fit.better)
    std::cout << "the scheme " << describe(*look.fit.better) << " finds all but "
              << grouped(look.fit.better->elsewhere) << " of " << grouped(look.fit.better->keys)
              << " that were tried\n";
}

Json assessment_json(const rehearse::Assessment& found, const MonitorSample& sample,
                     const AssessedPool& pool) {
  Json nodes = Json::array();
  for (std::size_t at = 0; at < found.nodes.size(); ++at) {
    const rehearse::AssessedNode& each = found.nodes[at];
    Json node = {{"name", each.name},
                 {"weight", each.weight},
                 {"load_over_fair", of_fair(each.before_ppm)},
                 {"load_over_fair_after", of_fair(each.after_ppm)}};
    if (!sample.servers.empty()) node["requests_seen"] = sample.servers[at].requests;
    nodes.push_back(std::move(node));
  }
  Json uncuttable = Json::array();
  for (const rehearse::UncuttableToken& each : found.uncuttable) {
    uncuttable.push_back({{"token", ring::to_hex(each.token)},
                          {"keys", each.keys},
                          {"key_count", each.key_count},
                          {"node", each.node},
                          {"load_share", of_fair(each.load_ppm)},
                          {"load_over_fair", of_fair(each.fair_ppm)},
                          {"limits", each.fair_ppm > 1'000'000}});
  }
  Json json = {{"requests", found.requests},
               {"keys", found.keys},
               {"bad_lines", sample.trace.bad},
               {"read_share", of_fair(found.read_ppm)},
               {"peak_over_mean", of_fair(found.before_ppm)},
               {"peak_over_mean_after", of_fair(found.after_ppm)},
               {"lower_bound", of_fair(found.bound_ppm)},
               {"keys_moved", found.keys_moved},
               {"keys_moved_bound", found.keys_moved_least},
               {"moves", found.moves},
               {"cuts", found.cuts},
               {"nodes", std::move(nodes)},
               {"uncuttable", std::move(uncuttable)}};
  if (!sample.servers.empty())
    json["peak_over_mean_seen"] = of_fair(measured_ppm(sample.servers, pool));
  return json;
}

std::string fair_times(std::uint64_t ppm) { return two_decimals(of_fair(ppm)); }

void print_uncuttable(const rehearse::Assessment& found) {
  if (found.uncuttable.empty()) return;
  std::cout << "\ncannot be cut: keys of one hash stay together\n";
  for (const rehearse::UncuttableToken& each : found.uncuttable) {
    std::cout << "  " << percent(each.load_ppm) << " of all load, " << fair_times(each.fair_ppm)
              << " times what a node should carry: ";
    for (const std::string& key : each.keys)
      std::cout << Json(key).dump(-1, ' ', true, Json::error_handler_t::replace) << " ";
    if (each.key_count > each.keys.size())
      std::cout << "and " << grouped(each.key_count - each.keys.size()) << " more ";
    std::cout << "on " << each.node << "\n";
  }
}

void print_assessment(const rehearse::Assessment& found, const MonitorSample& sample,
                      const AssessedPool& pool) {
  std::cout << grouped(found.requests) << " requests for " << grouped(found.keys) << " keys, "
            << percent(found.read_ppm) << " reads\n\n";
  Table table({"node", "weight", "load / fair", "after cuts"});
  for (const rehearse::AssessedNode& each : found.nodes) {
    table.add({each.name, std::to_string(each.weight), fair_times(each.before_ppm),
               fair_times(each.after_ppm)});
  }
  std::cout << table.text();
  if (!sample.servers.empty())
    std::cout << "\npeak over mean as the servers are asked now: "
              << fair_times(measured_ppm(sample.servers, pool)) << "\n";
  const bool own = pool.scheme.name == ring::kVnodeScheme;
  std::cout << "\npeak over mean " << (own ? "on cleave's ring" : "by " + pool.scheme.name) << ": "
            << fair_times(found.before_ppm) << " without cuts, " << fair_times(found.after_ppm)
            << " with " << found.cuts << " cuts; no placement is below "
            << fair_times(found.bound_ppm) << "\nthat moves " << grouped(found.keys_moved)
            << " of the " << grouped(found.keys) << " keys (at least "
            << grouped(found.keys_moved_least) << " have to) in " << found.moves << " moves\n";
  print_uncuttable(found);
  for (const balance::Verdict& verdict : found.run.verdicts) {
    std::cout << "  " << to_string(verdict.why) << ": " << verdict.text << "\n";
  }
}

Exit exit_of(const Error& error) {
  return error.code == Code::kUnavailable ? kExitUnreachable : kExitUsage;
}

// What was seen of the keys is told whatever the load is: that servers are idle is no fault.
int without_load(const Cli& cli, const Error& why, const std::optional<LookAtKeys>& look,
                 const AssessedPool& pool) {
  if (!look) return cli.fail(exit_of(why), why);
  const bool idle = why.code == Code::kNotFound;
  std::cerr << "cleave: " << printable(why.message)
            << (idle ? ", so how uneven its load is cannot be said" : "") << "\n";
  if (cli.json()) {
    Json json = {{"requests", 0}, {"servers_keys", keys_json(*look, pool)}};
    if (!idle) json["error"] = {{"code", to_string(why.code)}, {"message", why.message}};
    Cli::print_json(json);
  } else {
    print_keys(*look, pool);
  }
  return idle ? kExitOk : exit_of(why);
}

int assess(const Cli& cli, const AssessOptions& options) {
  const Result<AssessedPool> pool =
      options.config.path.empty() ? pool_of_names(options.nodes) : pool_of_config(options.config);
  if (!pool) return cli.fail(kExitUsage, pool.error());
  const Result<std::optional<LookAtKeys>> look = look_at_keys(options, *pool);
  if (!look) return cli.fail(exit_of(look.error()), look.error());
  const Result<MonitorSample> sample = sample_of(options, *pool);
  if (!sample) return without_load(cli, sample.error(), *look, *pool);
  const auto found = rehearse::assess(sample->trace, pool->nodes, options.seed, pool->scheme);
  if (!found) return cli.fail(kExitUsage, found.error());
  if (!options.pictures.empty()) {
    if (const auto drawn = draw::draw_all(found->run.record, options.pictures); !drawn)
      return cli.fail(kExitFailed, drawn.error());
  }
  if (cli.json()) {
    Json json = assessment_json(*found, *sample, *pool);
    if (*look) json["servers_keys"] = keys_json(**look, *pool);
    Cli::print_json(json);
  } else {
    print_assessment(*found, *sample, *pool);
    if (*look) std::cout << "\n";
    if (*look) print_keys(**look, *pool);
  }
  return kExitOk;
}

}  // namespace

void add_assess(Cli& cli) {
  const auto options = std::make_shared<AssessOptions>();
  CLI::App& command =
      cli.add(cli.root(),
              {.name = "assess",
               .description = "how uneven a pool's load is, and what cuts would do for it",
               .example = "cleave assess --node a=1 --node b=1 --monitor sample.txt"},
              [&cli, options] { return assess(cli, *options); });
  CLI::Option_group* pool = command.add_option_group("pool");
  pool->add_option("--config", options->config.path,
                   "of `cleave serve`, or of another proxy: its nodes and weights");
  pool->add_option("--node", options->nodes, "NAME=WEIGHT; once for each node");
  pool->require_option(1);
  add_pool_options(command, options->config);
  CLI::Option_group* load = command.add_option_group("load");
  load->add_option("--trace", options->trace, "CSV file: time,key,op,bytes");
  load->add_option("--monitor", options->monitor, "file with the output of redis-cli monitor");
  load->add_flag("--servers", options->servers,
                 "watch the servers of --config with MONITOR, and look at their keys");
  load->require_option(1);
  command.add_option("--seconds", options->seconds, "to watch servers; it costs them")
      ->check(CLI::Range(1, 60))
      ->capture_default_str();
  command.add_option("--seed", options->seed)->capture_default_str();
  command.add_option("--pictures", options->pictures, "draw the simulated run into this directory");
}

}  // namespace cleave::app
