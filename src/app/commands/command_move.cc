#include <memory>
#include <string>

#include "app/cli.h"
#include "app/config/place.h"
#include "app/text/plan_text.h"

namespace cleave::app {
namespace {

struct MoveOptions {
  std::string range;
  std::string key;
  std::string to;
  std::string reason;
};

int move(const Cli& cli, const MoveOptions& options) {
  Json body = {{"to", options.to}};
  if (!options.reason.empty()) body["reason"] = options.reason;
  if (options.range.empty()) {
    body["key"] = options.key;
  } else {
    const Result<ring::TokenRange> range = parse_range(options.range);
    if (!range) return cli.fail(kExitUsage, range.error());
    body["ranges"] =
        Json::array({{{"first", ring::to_hex(range->first)}, {"last", ring::to_hex(range->last)}}});
  }
  return cli.show(cli.client().post("/moves", body), print_begun);
}

}  // namespace

void add_move(Cli& cli) {
  const auto options = std::make_shared<MoveOptions>();
  CLI::App& command = cli.add_remote(cli.root(),
                                     {.name = "move",
                                      .description = "move a range, or all keys of one token, live",
                                      .example = "cleave move --range 0x10-0x1fff --to b"},
                                     [&cli, options] { return move(cli, *options); });
  CLI::Option_group* what = command.add_option_group("what", "what to move");
  what->add_option("--range", options->range, "FIRST-LAST, two tokens, both inside");
  what->add_option("--key", options->key,
                   "a key, as it is shown (\\xNN is a byte); all with its token goes along");
  what->require_option(1);
  command.add_option("--to", options->to, "the node that shall own it")->required();
  command.add_option("--reason", options->reason, "why, for the record");
}

}  // namespace cleave::app
