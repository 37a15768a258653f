#include <iostream>
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/log.h"
#include "supervise/left_behind.h"

namespace cleave::app {
namespace {

int down(const Cli& cli, const std::string& directory) {
  const Result<std::vector<std::string>> ended =
      supervise::end_left_behind({.directory = directory, .log = log_info});
  if (!ended) {
    const bool usage = ended.error().code == Code::kNotFound;
    return cli.fail(usage ? kExitUsage : kExitFailed, ended.error());
  }
  if (cli.json()) {
    Cli::print_json({{"ended", *ended}});
  } else if (ended->empty()) {
    std::cout << "no server runs there\n";
  } else {
    for (const std::string& name : *ended) std::cout << "server " << name << " ended\n";
  }
  return kExitOk;
}

}  // namespace

void add_down(Cli& cli) {
  const auto directory = std::make_shared<std::string>("cleave-data");
  CLI::App& command = cli.add(cli.root(),
                              {.name = "down",
                               .description = "end the servers that a killed `up` left running",
                               .example = "cleave down --dir cleave-data"},
                              [&cli, directory] { return down(cli, *directory); });
  command.add_option("--dir", *directory, "the directory of that `up`")->capture_default_str();
}

}  // namespace cleave::app
