#include <iostream>
#include <memory>

#include "app/cli.h"

namespace cleave::app {

void add_freeze(Cli& cli) {
  const auto abort = std::make_shared<bool>(false);
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "freeze",
       .description = "let no move begin; those under way go on, unless --abort takes them back",
       .example = "cleave freeze --abort"},
      [&cli, abort] {
        const Json body = *abort ? Json{{"abort", true}} : Json::object();
        return cli.show(cli.client().post("/freeze", body), [](const Json& json) {
          std::cout << "frozen: no move will begin until `cleave resume`";
          if (json.contains("moves")) std::cout << "; " << json["moves"] << " aborted";
          std::cout << "\n";
        });
      });
  command.add_flag("--abort", *abort, "abort what is under way and not committed");
}

}  // namespace cleave::app
