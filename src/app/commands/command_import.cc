#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/config/pool_file.h"
#include "app/files.h"
#include "convert/write/cleave_yaml.h"

namespace cleave::app {
namespace {

struct ImportArguments {
  PoolFile file;
  std::string listen;
  std::string out;
  bool force = false;
};

bool has_secrets(const convert::Imported& imported) {
  return std::ranges::any_of(imported.pools,
                             [](const convert::Pool& pool) { return app::has_secrets(pool); });
}

Json pool_json(const convert::Pool& pool) {
  Json nodes = Json::array();
  for (const convert::PoolNode& node : pool.nodes)
    nodes.push_back({{"name", node.name}, {"weight", node.weight}, {"members", node.members}});
  Json remarks = Json::array();
  for (const convert::Remark& remark : pool.remarks)
    remarks.push_back({{"line", remark.line}, {"text", remark.text}});
  return {{"name", pool.name},
          {"kind", pool.kind == convert::Kind::kStore ? "store" : "cache"},
          {"scheme", pool.scheme.name},
          {"options", pool.scheme.options},
          {"listener", pool.listener},
          {"nodes", std::move(nodes)},
          {"remarks", std::move(remarks)}};
}

void tell_remarks(const convert::Imported& imported, const std::string& path) {
  for (const std::string& why : imported.passed_over) std::cerr << "passed over: " << why << "\n";
  for (const convert::Pool& pool : imported.pools) {
    for (const convert::Remark& remark : pool.remarks) {
      std::cerr << path << (remark.line == 0 ? "" : ":" + std::to_string(remark.line)) << ": pool '"
                << pool.name << "': " << remark.text << "\n";
    }
  }
  if (imported.pools.size() > 1)
    std::cerr << "a router serves one pool: import each by its own with --pool NAME\n";
}

int import(const Cli& cli, const ImportArguments& given) {
  auto imported = import_file(given.file);
  if (!imported) {
    const bool no_file = imported.error().code == Code::kNotFound;
    return cli.fail(no_file ? kExitUsage : kExitFailed, imported.error());
  }
  if (!given.listen.empty()) {
    if (const auto address = net::parse_address(given.listen); !address)
      return cli.fail(kExitUsage, {Code::kInvalid, "--listen: " + address.error().message});
    for (convert::Pool& pool : imported->pools) pool.listener = given.listen;
  }
  tell_remarks(*imported, given.file.path);
  const auto yaml = convert::to_cleave_yaml(*imported, given.file.path);
  if (!yaml) return cli.fail(kExitFailed, yaml.error());
  if (!given.out.empty()) {
    const auto written =
        write_file(given.out, *yaml, has_secrets(*imported) ? Secrets::kSome : Secrets::kNone,
                   given.force ? Overwrite::kYes : Overwrite::kNo);
    if (!written) return cli.fail(kExitUsage, written.error());
  }
  if (cli.json()) {
    Json pools = Json::array();
    for (const convert::Pool& pool : imported->pools) pools.push_back(pool_json(pool));
    Cli::print_json({{"from", convert::to_string(imported->from)},
                     {"pools", std::move(pools)},
                     {"passed_over", imported->passed_over},
                     {"yaml", *yaml}});
  } else if (given.out.empty()) {
    std::cout << *yaml;
  }
  return kExitOk;
}

}  // namespace

void add_import(Cli& cli) {
  const auto given = std::make_shared<ImportArguments>();
  CLI::App& command =
      cli.add(cli.root(),
              {.name = "import",
               .description = "a cleave.yaml that places keys as another proxy's configuration",
               .example = "cleave import nutcracker.yml --out cleave.yaml"},
              [&cli, given] { return import(cli, *given); });
  command
      .add_option("FILE", given->file.path,
                  "of twemproxy, nginx, HAProxy or Envoy, or a Codis slot table")
      ->required();
  add_pool_options(command, given->file);
  command
      .add_option(
          "--listen", given->listen,
          "where the router listens, to run beside the other proxy; default: where that does")
      ->type_name("HOST:PORT");
  command.add_option("--out", given->out, "write the cleave.yaml here; default: standard output");
  command.add_flag("--force", given->force, "overwrite a file that is there");
}

}  // namespace cleave::app
