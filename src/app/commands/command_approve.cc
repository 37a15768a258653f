#include <iostream>
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/text/plan_text.h"

namespace cleave::app {
namespace {

int approve(const Cli& cli, const std::string& plan) {
  const AdminClient::Answer answer = cli.client().post("/approve", {{"plan", plan}});
  // Another plan than the one that was read: show it, so that it can be read.
  if (!answer && !cli.json() && answer.error().body.contains("plan")) {
    const Json& now = answer.error().body["plan"];
    const std::string id = now.value("id", "");
    if (!id.empty() && id != plan) {
      std::cout << "plan " << id << " is the one now:\n";
      print_plan(now);
    }
  }
  return cli.show(answer, [](const Json& json) {
    std::cout << json["moves"] << " moves wanted; see `cleave moves`\n";
  });
}

}  // namespace

void add_approve(Cli& cli) {
  const auto plan = std::make_shared<std::string>();
  CLI::App& command = cli.add_remote(cli.root(),
                                     {.name = "approve",
                                      .description = "do what a plan proposed (mode approve)",
                                      .example = "cleave approve 1f2e3d4c"},
                                     [&cli, plan] { return approve(cli, *plan); });
  command.add_option("PLAN", *plan, "its id, as `cleave plan` shows it")->required();
}

}  // namespace cleave::app
