#include <iostream>

#include "app/commands/commands.h"
#include "app/text/plan_text.h"
#include "app/text/table.h"

namespace cleave::app {
namespace {

void print(const Json& plan) {
  std::cout << wrapped("hottest node at " + ratio(plan, "peak_ppm") + " of the mean; planned: " +
                           ratio(plan, "predicted_ppm") + "; no placement is below " +
                           ratio(plan, "bound_ppm") + " (mode " + plan.value("mode", "") + ")",
                       kTerminalWidth, 2);
  print_plan(plan);
  const std::string id = plan.value("id", "");
  if (!id.empty() && plan.value("mode", "") == "approve")
    std::cout << "to begin it: cleave approve " << id << "\n";
}

}  // namespace

void add_plan(Cli& cli) {
  CLI::App& command =
      cli.add_remote(cli.root(),
                     {.name = "plan",
                      .description = "what the balancer would do now, and why not more",
                      .example = "cleave plan --dry-run"},
                     [&cli] { return cli.show(cli.client().get("/plan"), print); });
  command.add_flag("--dry-run")->description("only show it; this is what `plan` always does");
}

}  // namespace cleave::app
