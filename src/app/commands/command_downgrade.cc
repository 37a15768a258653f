#include <iostream>

#include "app/cli.h"

namespace cleave::app {

void add_downgrade(Cli& cli) {
  cli.add_remote(
      cli.root(),
      {.name = "downgrade",
       .description = "let routers of an older version join: no move begins until `cleave resume`",
       .example = "cleave downgrade"},
      [&cli] {
        return cli.show(cli.client().post("/downgrade"), [](const Json&) {
          std::cout << "no move begins; older routers can join once `cleave leftovers` is empty\n";
        });
      });
}

}  // namespace cleave::app
