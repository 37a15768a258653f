#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"
#include "app/table.h"
#include "app/times.h"

namespace cleave::app {
namespace {

// As `move --range` and `undo --range` take them.
std::string ranges_text(const Json& move) {
  constexpr std::size_t kShown = 2;
  const Json ranges = move.value("ranges", Json::array());
  std::string text;
  for (std::size_t i = 0; i < ranges.size() && i < kShown; ++i) {
    text += text.empty() ? "" : " ";
    text += ranges[i].value("first", "") + "-" + ranges[i].value("last", "");
  }
  if (ranges.size() > kShown) text += " and " + std::to_string(ranges.size() - kShown) + " more";
  return text;
}

void print_moves(const Json& json, std::size_t count) {
  Table table({"id", "ended", "from", "to", "keys", "how", "ranges"});
  for (const Json& move : json.value("moves", Json::array())) {
    table.add({std::to_string(move.value("id", std::uint64_t{0})), "under way",
               move.value("source", ""), move.value("destination", ""),
               grouped(move.value("keys_copied", std::uint64_t{0})), move.value("step", ""),
               ranges_text(move)});
  }
  std::size_t shown = 0;
  for (const Json& move : json.value("ended", Json::array())) {
    if (++shown > count) break;
    const std::string why = move.value("why", "");
    table.add({std::to_string(move.value("id", std::uint64_t{0})),
               to_text(UnixMillis{move.value("ended_ms", std::int64_t{0})}),
               move.value("source", ""), move.value("destination", ""),
               grouped(move.value("keys_copied", std::uint64_t{0})),
               move.value("end", "") + (why.empty() ? "" : ": " + why), ranges_text(move)});
  }
  std::cout << table.text();
}

}  // namespace

void add_moves(Cli& cli) {
  const auto count = std::make_shared<std::size_t>(20);
  CLI::App& command =
      cli.add_remote(cli.root(),
                     {.name = "moves",
                      .description = "what moves, and what has moved, newest first",
                      .example = "cleave moves --last 5"},
                     [&cli, count] {
                       return cli.show(cli.client().get("/moves"),
                                       [&](const Json& json) { print_moves(json, *count); });
                     });
  command.add_option("--last", *count, "how many that have ended")->capture_default_str();
}

}  // namespace cleave::app
