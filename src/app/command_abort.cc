#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"

namespace cleave::app {

void add_abort(Cli& cli) {
  const auto id = std::make_shared<std::uint64_t>(0);
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "abort",
       .description = "take back a move that is under way: the source keeps the range",
       .example = "cleave abort 17"},
      [&cli, id] {
        return cli.show(cli.client().post("/moves/" + std::to_string(*id) + "/abort"),
                        [](const Json&) { std::cout << "aborted\n"; });
      });
  command.add_option("ID", *id, "the move, as `cleave status` shows it")->required();
}

}  // namespace cleave::app
