#include <iostream>
#include <memory>

#include "app/commands/commands.h"
#include "app/text/plan_text.h"

namespace cleave::app {
namespace {

struct ExplainOptions {
  std::size_t count = 20;
  bool verbose = false;
};

int explain(const Cli& cli, const ExplainOptions& options) {
  AdminClient::Answer answer = cli.client().get("/decisions");
  if (answer && answer->contains("decisions")) {
    Json& list = (*answer)["decisions"];
    while (list.size() > options.count) list.erase(list.size() - 1);
  }
  return cli.show(answer, [&](const Json& json) {
    std::cout << decisions_text(json["decisions"],
                                options.verbose ? Sentences::kYes : Sentences::kNo);
  });
}

}  // namespace

void add_explain(Cli& cli) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App& command = cli.add_remote(cli.root(),
                                     {.name = "explain",
                                      .description = "what was decided, newest first, and why",
                                      .example = "cleave explain --last 5 -v"},
                                     [&cli, options] { return explain(cli, *options); });
  command.add_option("--last", options->count, "how many decisions")->capture_default_str();
  command.add_flag("-v,--verbose", options->verbose,
                   "in sentences: why, what was expected, and what came of it");
}

}  // namespace cleave::app
