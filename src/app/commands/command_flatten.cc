#include <iostream>

#include "app/cli.h"

namespace cleave::app {

void add_flatten(Cli& cli) {
  cli.add_remote(cli.root(),
                 {.name = "flatten",
                  .description = "take every cut back, live: the way out of cleave's placement",
                  .example = "cleave flatten"},
                 [&cli] {
                   return cli.show(cli.client().post("/flatten"), [](const Json& json) {
                     std::cout << json["ranges"]
                               << " ranges will move; see `cleave status`. The mode is observe: "
                                  "nothing else moves by itself. `cleave resume` ends this, then "
                                  "`cleave mode auto` balances again\n";
                   });
                 });
}

}  // namespace cleave::app
