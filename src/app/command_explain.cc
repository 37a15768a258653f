#include <iostream>
#include <memory>

#include "app/cli.h"
#include "app/plan_text.h"
#include "app/times.h"

namespace cleave::app {
namespace {

// 12:34:56 in UTC.
std::string time_of_day(std::int64_t unix_ms) {
  const std::int64_t second = unix_ms / 1'000 % 86'400;
  const auto two = [](std::int64_t number) { return std::to_string(100 + number).substr(1); };
  return two(second / 3'600) + ":" + two(second / 60 % 60) + ":" + two(second % 60);
}

void print_decisions(const Json& json) {
  if (json["decisions"].empty()) std::cout << "nothing was decided yet\n";
  for (const Json& decision : json["decisions"]) {
    std::cout << time_of_day(decision.value("at_ms", std::int64_t{0})) << "  "
              << decision.value("kind", "") << "  " << decision.value("subject", "")
              << "\n          " << decision.value("reason", "") << "\n";
    const std::string predicted = decision.value("predicted", "");
    const std::string real = decision.value("real", "");
    if (!predicted.empty()) std::cout << "          expected: " << predicted << "\n";
    if (!real.empty()) std::cout << "          came: " << real << "\n";
    const UnixMillis until{decision.value("until_ms", std::int64_t{0})};
    if (until != UnixMillis{}) std::cout << "          until " << to_text(until) << "\n";
    const std::string others = passed_over(decision.value("alternatives", Json::array()));
    if (!others.empty()) std::cout << "          " << others << "\n";
  }
}

int explain(const Cli& cli, std::size_t count) {
  AdminClient::Answer answer = cli.client().get("/decisions");
  if (answer && answer->contains("decisions")) {
    Json& list = (*answer)["decisions"];
    while (list.size() > count) list.erase(list.size() - 1);
  }
  return cli.show(answer, print_decisions);
}

}  // namespace

void add_explain(Cli& cli) {
  const auto count = std::make_shared<std::size_t>(20);
  CLI::App& command = cli.add_remote(cli.root(),
                                     {.name = "explain",
                                      .description = "what was decided, newest first, and why",
                                      .example = "cleave explain --last 5"},
                                     [&cli, count] { return explain(cli, *count); });
  command.add_option("--last", *count, "how many decisions")->capture_default_str();
}

}  // namespace cleave::app
