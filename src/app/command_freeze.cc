#include <iostream>

#include "app/cli.h"

namespace cleave::app {

void add_freeze(Cli& cli) {
  cli.add_remote(cli.root(),
                 {.name = "freeze",
                  .description = "let no move begin; those under way are aborted or finished",
                  .example = "cleave freeze"},
                 [&cli] {
                   return cli.show(cli.client().post("/freeze"), [](const Json&) {
                     std::cout << "frozen: no move will begin until `cleave resume`\n";
                   });
                 });
}

}  // namespace cleave::app
