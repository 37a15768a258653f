#include <iostream>
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/text/table.h"
#include "app/times.h"
#include "base/shown.h"

namespace cleave::app {
namespace {

constexpr std::size_t kNodeWidth = 16;

// As `move --range` and `undo --range` take them.
std::string ranges_text(const Json& move) {
  constexpr std::size_t kShown = 4;
  const Json ranges = move.value("ranges", Json::array());
  std::string text = ranges.size() == 1 ? "range" : "ranges";
  for (std::size_t i = 0; i < ranges.size() && i < kShown; ++i) {
    text += " ";
    text += ranges[i].value("first", "") + "-" + ranges[i].value("last", "");
  }
  if (ranges.size() > kShown) text += " and " + std::to_string(ranges.size() - kShown) + " more";
  return text;
}

void print_moves(const Json& json, std::size_t count) {
  Table table({"id", "ended", "from", "to", "keys", "how"});
  for (const Json& move : json.value("moves", Json::array())) {
    table.add({std::to_string(move.value("id", std::uint64_t{0})), "under way",
               shortened(move.value("source", ""), kNodeWidth),
               shortened(move.value("destination", ""), kNodeWidth),
               grouped(move.value("keys_copied", std::uint64_t{0})), move.value("step", "")});
    table.note(ranges_text(move));
  }
  std::size_t shown = 0;
  for (const Json& move : json.value("ended", Json::array())) {
    if (++shown > count) break;
    const std::string why = move.value("why", "");
    const auto id = move.value("id", std::uint64_t{0});  // 0: it never began
    table.add({id == 0 ? "-" : std::to_string(id),
               to_text(UnixMillis{move.value("ended_ms", std::int64_t{0})}),
               shortened(move.value("source", ""), kNodeWidth),
               shortened(move.value("destination", ""), kNodeWidth),
               grouped(move.value("keys_copied", std::uint64_t{0})), move.value("end", "")});
    if (!why.empty()) table.note(why);
    table.note(ranges_text(move));
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
