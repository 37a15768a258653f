#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"

namespace cleave::app {

void add_undo(Cli& cli) {
  const auto id = std::make_shared<std::uint64_t>(0);
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "undo",
       .description = "move the ranges of a finished move back",
       .example = "cleave undo 17"},
      [&cli, id] {
        return cli.show(
            cli.client().post("/moves/" + std::to_string(*id) + "/undo"),
            [](const Json& json) { std::cout << "move " << json["move"] << " begun\n"; });
      });
  command.add_option("ID", *id, "the move, as `cleave status` shows it")->required();
}

}  // namespace cleave::app
