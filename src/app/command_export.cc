#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"
#include "app/pool_file.h"
#include "convert/export.h"

namespace cleave::app {
namespace {

struct ExportArguments {
  std::string peer;
  PoolFile config;  // empty path: ask the router
  std::string listen;
  std::string out;
};

// What `GET /status` tells of the pool, and of what stands in the way.
struct RunningPool {
  convert::Pool pool;
  convert::RingState state;
};

RunningPool running_pool(const Json& status) {
  RunningPool running;
  running.pool.name = status.value("pool", "");
  running.pool.scheme.name = status.value("scheme", "");
  const Json options = status.value("scheme_options", Json::object());
  for (const auto& [name, value] : options.items())
    running.pool.scheme.options[name] = value.get<std::string>();
  for (const Json& node : status.value("nodes", Json::array())) {
    if (node.value("state", "") == "draining") {
      running.state.draining.push_back(node.value("name", ""));
      continue;
    }
    convert::PoolNode& added = running.pool.nodes.emplace_back();
    added.name = node.value("name", "");
    added.hash_key = node.value("hash_key", "");
    added.weight = node.value("weight", 1U);
    // As the ring places it: the id stays when others leave.
    added.position = node.value("id", 1U) - 1;
    for (const Json& member : node.value("members", Json::array()))
      added.members.push_back(member.value("address", ""));
  }
  running.state.cuts = status.value("cuts", std::size_t{0});
  running.state.moves = status.value("moves", Json::array()).size();
  return running;
}

int write_out(const Cli& cli, const ExportArguments& given, convert::Pool pool) {
  if (!given.listen.empty()) pool.listener = given.listen;
  const auto peer = convert::parse_peer(given.peer);
  if (!peer) return cli.fail(kExitUsage, peer.error());
  const auto text = convert::export_pool(*peer, pool);
  if (!text) return cli.fail(kExitFailed, text.error());
  if (!given.out.empty()) {
    if (const auto written = write_file(given.out, *text); !written)
      return cli.fail(kExitFailed, written.error());
  }
  if (cli.json()) {
    Cli::print_json({{"pool", pool.name}, {"peer", given.peer}, {"text", *text}});
  } else if (given.out.empty()) {
    std::cout << *text;
  }
  return kExitOk;
}

int export_running(const Cli& cli, const ExportArguments& given) {
  const AdminClient::Answer status = cli.client().get("/status");
  if (!status) return cli.show(status, {});
  if (!status->contains("pool"))
    return cli.fail(kExitFailed, {Code::kUnavailable, "the router has no ring yet"});
  RunningPool running = running_pool(*status);
  if (const auto quiet = convert::check_exportable(running.state); !quiet)
    return cli.fail(kExitFailed, quiet.error());
  std::cerr << "the servers' password, where they have one, a router does not tell: export by "
               "--config, or add it\n";
  return write_out(cli, given, std::move(running.pool));
}

int export_file(const Cli& cli, const ExportArguments& given) {
  auto pool = read_pool_file(given.config);
  if (!pool) return cli.fail(kExitUsage, pool.error());
  return write_out(cli, given, std::move(*pool));
}

}  // namespace

void add_export(Cli& cli) {
  const auto given = std::make_shared<ExportArguments>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "export",
       .description = "the pool as another proxy's configuration: the way back, no key moves",
       .example = "cleave export twemproxy --out nutcracker.yml"},
      [&cli, given] {
        return given->config.path.empty() ? export_running(cli, *given) : export_file(cli, *given);
      });
  command.add_option("PEER", given->peer, "twemproxy, nginx, haproxy or envoy")->required();
  command
      .add_option("--config", given->config.path,
                  "the pool of this file, which knows of no cuts; default: the running router's")
      ->type_name("FILE");
  add_pool_options(command, given->config);
  command
      .add_option("--listen", given->listen,
                  "where the peer listens; default: as the file's pool, else 127.0.0.1:6380")
      ->type_name("HOST:PORT");
  command.add_option("--out", given->out, "write it here; default: standard output");
}

}  // namespace cleave::app
