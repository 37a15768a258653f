#include <iostream>

#include "app/cli.h"
#include "app/table.h"

namespace cleave::app {
namespace {

std::string ratio(const Json& plan, const char* field) {
  const auto ppm = plan.value(field, std::uint64_t{0});
  const std::string digits = std::to_string(100 + ppm / 10'000 % 100);
  return std::to_string(ppm / 1'000'000) + "." + digits.substr(1);
}

void print_plan(const Json& plan) {
  std::cout << "hottest node at " << ratio(plan, "peak_ppm")
            << " of the mean; planned: " << ratio(plan, "predicted_ppm")
            << "; no placement is below " << ratio(plan, "bound_ppm") << " (mode "
            << plan.value("mode", "") << ")\n";
  for (const Json& move : plan["moves"]) {
    std::cout << "move  " << move.value("source", "") << " -> " << move.value("destination", "")
              << ": " << move.value("reason", "") << "\n";
  }
  for (const Json& range : plan["merges"]) {
    std::cout << "merge " << range.value("first", "") << "-" << range.value("last", "") << "\n";
  }
  for (const Json& verdict : plan["verdicts"]) {
    std::cout << "not   " << verdict.value("node", "") << ": " << verdict.value("text", "") << "\n";
  }
  if (plan["moves"].empty() && plan["merges"].empty()) std::cout << "nothing to do\n";
  const std::string advice = plan.value("advice", "");
  if (!advice.empty()) std::cout << "advice: " << advice << "\n";
}

}  // namespace

void add_plan(Cli& cli) {
  CLI::App& command =
      cli.add_remote(cli.root(),
                     {.name = "plan",
                      .description = "what the balancer would do now, and why not more",
                      .example = "cleave plan --dry-run"},
                     [&cli] { return cli.show(cli.client().get("/plan"), print_plan); });
  command.add_flag("--dry-run")->description("only show it; this is what `plan` always does");
}

}  // namespace cleave::app
