#include <iostream>

#include "app/cli.h"

namespace cleave::app {

void add_resume(Cli& cli) {
  cli.add_remote(
      cli.root(),
      {.name = "resume", .description = "let moves begin again", .example = "cleave resume"},
      [&cli] {
        return cli.show(cli.client().post("/resume"),
                        [](const Json&) { std::cout << "resumed\n"; });
      });
}

}  // namespace cleave::app
