#include <iostream>
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/text/table.h"

namespace cleave::app {
namespace {

struct LeftoversOrder {
  std::uint64_t take_back = 0;
  std::uint64_t clean = 0;
  std::uint64_t forget = 0;
  bool last_copies = false;
};

void print_leftovers(const Json& status) {
  const Json& all = status["leftovers"];
  if (all.empty()) {
    std::cout << "no move left anything behind\n";
    return;
  }
  Table table({"move", "node", "ranges", "state", "deleted", "waits for"});
  bool kept = false;
  for (const Json& left : all) {
    const std::string state = left["state"];
    kept = kept || state.starts_with("kept");
    table.add({std::to_string(left["move"].get<std::uint64_t>()), left["node"],
               std::to_string(left["ranges"].size()), state,
               std::to_string(left["keys_deleted"].get<std::uint64_t>()), left["waits_for"]});
  }
  std::cout << table.text();
  for (const Json& left : all) {
    const std::string why = left.value("why", "");
    const std::string stuck = left.value("stuck", "");
    const std::string state = left["state"];
    if (state.starts_with("kept"))
      std::cout << "move " << left["move"] << " is kept: " << why << "\n";
    if (!stuck.empty())
      std::cout << "move " << left["move"] << " cannot be cleaned: " << stuck << "\n";
  }
  if (!kept) return;
  std::cout
      << "\n'kept': what lies there may be the only copy, or not be a copy of cleave's at all; "
         "nothing "
         "is\ndeleted before a person says so ('kept-begun': a part was deleted before that was "
         "seen).\n"
         "What is advised for each of them: `cleave status`.\n"
         "  cleave leftovers --take-back MOVE   where the server that the move went to lost its "
         "data: the source\n                                      owns the range again; what was "
         "written to the other\n                                      server since the commit is "
         "given up\n"
         "  cleave leftovers --clean MOVE       delete what lies there in these ranges, whoever "
         "put "
         "it there,\n                                      but for keys that their owner does not "
         "have: these stay, as\n                                      strays (with "
         "--also-last-copies they go too)\n"
         "  cleave leftovers --forget MOVE      leave it: what lies there are strays from now on\n";
}

}  // namespace

void add_leftovers(Cli& cli) {
  const auto order = std::make_shared<LeftoversOrder>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "leftovers",
       .description = "what moves left behind on servers: shown, taken back, or deleted",
       .example = "cleave leftovers --take-back 17"},
      [&cli, order] {
        if (order->take_back != 0) {
          return cli.show(
              cli.client().post("/moves/" + std::to_string(order->take_back) + "/take-back"),
              [](const Json& json) { std::cout << "move " << json["move"] << " begun\n"; });
        }
        if (order->clean != 0) {
          const Json body = order->last_copies ? Json{{"last_copies", true}} : Json::object();
          return cli.show(
              cli.client().post("/moves/" + std::to_string(order->clean) + "/clean", body),
              [](const Json&) { std::cout << "it is being deleted\n"; });
        }
        if (order->forget != 0) {
          return cli.show(cli.client().post("/moves/" + std::to_string(order->forget) + "/forget"),
                          [](const Json&) { std::cout << "forgotten; nothing was deleted\n"; });
        }
        return cli.show(cli.client().get("/status?leader"), print_leftovers);
      });
  auto* take =
      command.add_option("--take-back", order->take_back,
                         "the range of this move goes back to its source, whose copy is kept");
  auto* clean = command.add_option("--clean", order->clean, "what is kept of this move is deleted");
  clean->excludes(take);
  command
      .add_flag("--also-last-copies", order->last_copies,
                "with --clean: also keys that their owner does not have")
      ->needs(clean);
  command
      .add_option("--forget", order->forget,
                  "what is kept of this move stays where it lies, and is nobody's any more")
      ->excludes(take)
      ->excludes(clean);
}

}  // namespace cleave::app
