#include <iostream>

#include "app/cli.h"

namespace cleave::app {

namespace {

std::string after_resume(const std::string& mode) {
  if (mode == "auto") return "; mode is auto";
  return "; mode is " + mode + ": nothing moves by itself, see `cleave mode auto`";
}

}  // namespace

void add_resume(Cli& cli) {
  cli.add_remote(
      cli.root(),
      {.name = "resume", .description = "let moves begin again", .example = "cleave resume"},
      [&cli] {
        return cli.show(cli.client().post("/resume"), [&cli](const Json&) {
          const AdminClient::Answer now = cli.client().get("/status");
          std::cout << "resumed" << (now ? after_resume(now->value("mode", "")) : "") << "\n";
        });
      });
}

}  // namespace cleave::app
