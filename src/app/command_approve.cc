#include <iostream>

#include "app/cli.h"

namespace cleave::app {

void add_approve(Cli& cli) {
  cli.add_remote(cli.root(),
                 {.name = "approve",
                  .description = "begin what the last plan proposed (mode approve)",
                  .example = "cleave approve"},
                 [&cli] {
                   return cli.show(cli.client().post("/plan/approve"), [](const Json& json) {
                     std::cout << json["moves"] << " moves begun\n";
                   });
                 });
}

}  // namespace cleave::app
