#include <memory>
#include <string>

#include "app/cli.h"
#include "app/config/place.h"
#include "app/text/plan_text.h"

namespace cleave::app {
namespace {

struct UndoOptions {
  std::uint64_t id = 0;
  std::string range;
};

int undo(const Cli& cli, const UndoOptions& options) {
  if (options.range.empty() == (options.id == 0))
    return cli.fail(kExitUsage, {Code::kInvalid, "want either a move's ID or --range"});
  if (options.range.empty())
    return cli.show(cli.client().post("/moves/" + std::to_string(options.id) + "/undo"),
                    print_begun);
  const Result<ring::TokenRange> range = parse_range(options.range);
  if (!range) return cli.fail(kExitUsage, range.error());
  const Json ranges =
      Json::array({{{"first", ring::to_hex(range->first)}, {"last", ring::to_hex(range->last)}}});
  return cli.show(cli.client().post("/moves/undo", {{"ranges", ranges}}), print_begun);
}

}  // namespace

void add_undo(Cli& cli) {
  const auto options = std::make_shared<UndoOptions>();
  CLI::App& command = cli.add_remote(cli.root(),
                                     {.name = "undo",
                                      .description = "move the ranges of a finished move back",
                                      .example = "cleave undo 17"},
                                     [&cli, options] { return undo(cli, *options); });
  command.add_option("ID", options->id, "the move, as `cleave moves` shows it");
  command.add_option("--range", options->range,
                     "the newest move that moved all of FIRST-LAST, as `cleave moves` shows it");
}

}  // namespace cleave::app
