#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "app/config/pool_file.h"
#include "app/config/scheme_arguments.h"
#include "app/text/table.h"
#include "net/url.h"
#include "ring/schemes/placement.h"

namespace cleave::app {
namespace {

constexpr const char* kLocateExample = "cleave locate user:1 user:2";

struct LocateOptions {
  std::vector<std::string> keys;
  std::string key_file;
  std::string scheme;  // empty: ask a router
  std::vector<std::string> nodes;
  std::vector<std::string> options;
  PoolFile config;  // empty path: none
};

int locate_on_router(const Cli& cli, const std::vector<std::string>& keys) {
  Json places = Json::array();
  for (const std::string& key : keys) {
    const AdminClient::Answer place = cli.client().get("/locate?key=" + net::encode_component(key));
    if (!place) return cli.show(place, {});
    places.push_back(*place);
  }
  return cli.show(Json{{"keys", places}}, [](const Json& json) {
    Table table({"key", "node", "address", "token"});
    for (const Json& place : json["keys"]) {
      table.add({place.value("key", ""), place.value("node", ""), place.value("address", ""),
                 "0x" + place.value("token", "")});
    }
    std::cout << table.text();
  });
}

void print_owners(const ring::Placement& placement, const std::vector<ring::PlacedNode>& nodes,
                  const std::vector<std::string>& keys) {
  Table table({"key", "node", "token"});
  for (const std::string& key : keys) {
    const auto token = placement.token_of(key);
    if (token) {
      table.add({key, nodes[placement.owner(*token)].name, "0x" + ring::to_hex(*token)});
    } else {
      table.add({key, "-", "-"});
    }
  }
  std::cout << table.text();
}

// One line: indexes in the order of the nodes given, null where the peer places nothing.
void print_owners_json(const ring::Placement& placement, const std::vector<ring::PlacedNode>& nodes,
                       const std::vector<std::string>& keys) {
  Json names = Json::array();
  for (const ring::PlacedNode& node : nodes) names.push_back(node.name);
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<std::size_t> found(keys.size());
  placement.owners(views, found);
  Json owners = Json::array();
  for (const std::size_t owner : found) {
    owners.push_back(owner == ring::kNoNode ? Json(nullptr) : Json(owner));
  }
  Cli::print_json(Json{{"nodes", std::move(names)}, {"owners", std::move(owners)}});
}

int locate_placed(const Cli& cli, const ring::SchemeSpec& spec,
                  const std::vector<ring::PlacedNode>& nodes,
                  const std::vector<std::string>& keys) {
  const auto placement = ring::place(spec, nodes);
  if (!placement) return cli.fail(kExitUsage, placement.error());
  if (cli.json()) {
    print_owners_json(**placement, nodes, keys);
  } else {
    print_owners(**placement, nodes, keys);
  }
  return kExitOk;
}

int locate_by_scheme(const Cli& cli, const LocateOptions& given,
                     const std::vector<std::string>& keys) {
  const auto spec = parse_scheme(given.scheme, given.options);
  if (!spec) return cli.fail(kExitUsage, spec.error());
  const auto nodes = parse_placed_nodes(given.nodes);
  if (!nodes) return cli.fail(kExitUsage, nodes.error());
  return locate_placed(cli, *spec, *nodes, keys);
}

int locate_by_file(const Cli& cli, const PoolFile& file, const std::vector<std::string>& keys) {
  const auto pool = read_pool_file(file);
  if (!pool) return cli.fail(kExitUsage, pool.error());
  return locate_placed(cli, pool->scheme, convert::placed_nodes(*pool), keys);
}

int locate(const Cli& cli, const LocateOptions& given) {
  auto keys = given.keys;
  if (!given.key_file.empty()) {
    auto read = read_keys(given.key_file);
    if (!read) return cli.fail(kExitUsage, read.error());
    keys = std::move(*read);
  } else if (keys.empty()) {
    return cli.fail(kExitUsage, {Code::kInvalid, "no keys: want KEY... or --keys FILE"});
  }
  if (!given.config.path.empty()) return locate_by_file(cli, given.config, keys);
  return given.scheme.empty() ? locate_on_router(cli, keys) : locate_by_scheme(cli, given, keys);
}

std::string locate_footer() {
  return std::string("Example:\n  ") + kLocateExample +
         "\n  cleave locate --scheme twemproxy-ketama --node a=1 --node b=2 --option hash=md5 "
         "user:1\n\nSchemes, with the peers that they place keys as, and their options:\n" +
         scheme_help();
}

}  // namespace

void add_locate(Cli& cli) {
  const auto given = std::make_shared<LocateOptions>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "locate",
       .description = "which node keys are on: in a running pool, by a placement scheme, or by the "
                      "file of a pool",
       .example = kLocateExample},
      [&cli, given] { return locate(cli, *given); });
  CLI::Option* keys = command.add_option("KEY", given->keys, "one or more keys");
  command.add_option("--keys", given->key_file, "a file of keys, one a line, any bytes")
      ->type_name("FILE")
      ->excludes(keys);
  CLI::Option* scheme =
      command.add_option("--scheme", given->scheme, "place by this scheme; no router is asked");
  command.add_option("--node", given->nodes, "a node, NAME or NAME=WEIGHT; as many as there are")
      ->allow_extra_args(false)
      ->needs(scheme);
  command.add_option("--option", given->options, "an option of the scheme, name=value")
      ->allow_extra_args(false)
      ->needs(scheme);
  command
      .add_option("--config", given->config.path,
                  "place by the pool of this file, of cleave or of another proxy, without its cuts")
      ->type_name("FILE")
      ->excludes(scheme);
  add_pool_options(command, given->config);
  command.footer(locate_footer());
}

}  // namespace cleave::app
