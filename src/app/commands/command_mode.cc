#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"

namespace cleave::app {

void add_mode(Cli& cli) {
  const auto mode = std::make_shared<std::string>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "mode",
       .description = "what the balancer may do: observe (only tell), approve (ask), auto",
       .example = "cleave mode observe"},
      [&cli, mode] {
        return cli.show(cli.client().post("/mode", {{"mode", *mode}}),
                        [&](const Json&) { std::cout << "mode " << *mode << "\n"; });
      });
  command.add_option("MODE", *mode, "observe, approve or auto")
      ->required()
      ->check(CLI::IsMember({"observe", "approve", "auto"}));
}

}  // namespace cleave::app
