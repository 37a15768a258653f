#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"

namespace cleave::app {
namespace {

struct AbortOptions {
  std::uint64_t id = 0;
  bool all = false;
};

int abort(const Cli& cli, const AbortOptions& options) {
  if (options.all == (options.id != 0))
    return cli.fail(kExitUsage, {Code::kInvalid, "want either a move's ID or --all"});
  if (options.all) {
    return cli.show(cli.client().post("/moves/abort"),
                    [](const Json& json) { std::cout << json["moves"] << " moves aborted\n"; });
  }
  return cli.show(cli.client().post("/moves/" + std::to_string(options.id) + "/abort"),
                  [](const Json&) { std::cout << "aborted\n"; });
}

}  // namespace

void add_abort(Cli& cli) {
  const auto options = std::make_shared<AbortOptions>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "abort",
       .description = "take back a move that is under way: the source keeps the range",
       .example = "cleave abort 17"},
      [&cli, options] { return abort(cli, *options); });
  command.add_option("ID", options->id, "the move, as `cleave status` shows it");
  command.add_flag("--all", options->all, "every move that is under way and not committed");
}

}  // namespace cleave::app
