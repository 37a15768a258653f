#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"
#include "app/config/place.h"

namespace cleave::app {
namespace {

int merge(const Cli& cli, const std::string& text) {
  const Result<ring::TokenRange> range = parse_range(text);
  if (!range) return cli.fail(kExitUsage, range.error());
  const Json body = {
      {"range", {{"first", ring::to_hex(range->first)}, {"last", ring::to_hex(range->last)}}}};
  return cli.show(cli.client().post("/merges", body),
                  [](const Json&) { std::cout << "merged; every key stays where it is\n"; });
}

}  // namespace

void add_merge(Cli& cli) {
  const auto range = std::make_shared<std::string>("0-ffffffffffffffff");
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "merge",
       .description = "take away boundaries that no longer matter; owners stay the same",
       .example = "cleave merge --range 0x0-0x7fffffffffffffff"},
      [&cli, range] { return merge(cli, *range); });
  command.add_option("--range", *range, "where; everywhere if left out");
}

}  // namespace cleave::app
