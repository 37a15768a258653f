#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"
#include "app/table.h"

namespace cleave::app {
namespace {

struct LeftoversOrder {
  std::uint64_t take_back = 0;
  std::uint64_t clean = 0;
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
  if (!kept) return;
  std::cout
      << "\n'kept': the server that the move went to lost its data after the commit, so what the "
         "source\nstill has may be the only copy ('kept-begun': a part of it was deleted before "
         "that was seen).\n  cleave leftovers --take-back MOVE   the source owns the range again; "
         "what was written to the\n                                    other server since the "
         "commit is given up\n  cleave leftovers --clean MOVE       delete what is kept\n";
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
          return cli.show(cli.client().post("/moves/" + std::to_string(order->clean) + "/clean"),
                          [](const Json&) { std::cout << "it is being deleted\n"; });
        }
        return cli.show(cli.client().get("/status?leader"), print_leftovers);
      });
  auto* take =
      command.add_option("--take-back", order->take_back,
                         "the range of this move goes back to its source, whose copy is kept");
  command.add_option("--clean", order->clean, "what is kept of this move is deleted")
      ->excludes(take);
}

}  // namespace cleave::app
