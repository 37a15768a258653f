#include <iostream>
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/config/pool_file.h"
#include "app/files.h"
#include "app/text/status_summary.h"
#include "convert/write/export.h"

namespace cleave::app {
namespace {

struct ExportArguments {
  std::string peer;
  PoolFile config;  // empty path: ask the router
  std::string listen;
  std::string out;
  bool force = false;
};

int write_out(const Cli& cli, const ExportArguments& given, convert::Pool pool) {
  if (!given.listen.empty()) pool.listener = given.listen;
  const auto peer = convert::parse_peer(given.peer);
  if (!peer) return cli.fail(kExitUsage, peer.error());
  const auto text = convert::export_pool(*peer, pool);
  if (!text) return cli.fail(kExitFailed, text.error());
  if (!given.out.empty()) {
    const auto written =
        write_file(given.out, *text, has_secrets(pool) ? Secrets::kSome : Secrets::kNone,
                   given.force ? Overwrite::kYes : Overwrite::kNo);
    if (!written) return cli.fail(kExitUsage, written.error());
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
  const auto ring = summary_of(*status);
  if (!ring) return cli.fail(kExitFailed, ring.error());
  if (const auto quiet = convert::check_exportable(*ring); !quiet)
    return cli.fail(kExitFailed, quiet.error());
  std::cerr << "the servers' password, where they have one, a router does not tell: export by "
               "--config, or add it\n";
  return write_out(cli, given, convert::pool_of(*ring));
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
  command.add_flag("--force", given->force, "overwrite a file that is there");
}

}  // namespace cleave::app
