#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"
#include "app/table.h"

namespace cleave::app {
namespace {

struct AdoptOptions {
  bool yes = false;
};

// What will happen to a server, in a word.
std::string verdict(const Json& node) {
  if (!node.value("reachable", false)) return "unreachable: " + node.value("error", "");
  if (node.value("marked", false)) return "is ours already";
  if (!node.value("foreign_mark", "").empty()) return "belongs to another pool: refused";
  return "will be marked as ours";
}

void print_survey(const Json& survey, std::ostream& out) {
  Table table({"node", "version", "keys", "memory", "what happens"});
  for (const Json& node : survey["nodes"]) {
    table.add({node.value("name", ""), node.value("version", ""),
               grouped(node.value("keys", std::uint64_t{0})),
               grouped(node.value("memory_bytes", std::uint64_t{0})), verdict(node)});
  }
  out << table.text();
}

bool ask(std::ostream& out) {
  out << "cleave will move keys between these servers, and delete what it moved away.\n"
         "Mark them as this pool's? [y/N] "
      << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int adopt(const Cli& cli, const AdoptOptions& options) {
  const AdminClient::Answer survey = cli.client().get("/adopt");
  if (!survey) return cli.show(survey, {});
  std::ostream& out = cli.json() ? std::cerr : std::cout;
  print_survey(*survey, out);
  if (!options.yes && !ask(out)) {
    return cli.fail(kExitFailed, {Code::kConflict, "nothing was marked"});
  }
  return cli.show(cli.client().post("/adopt"), [](const Json&) { std::cout << "marked\n"; });
}

}  // namespace

void add_adopt(Cli& cli) {
  const auto options = std::make_shared<AdoptOptions>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "adopt",
       .description = "show what is on the servers, ask, and mark them as this pool's",
       .example = "cleave adopt --yes"},
      [&cli, options] { return adopt(cli, *options); });
  command.add_flag("--yes", options->yes, "do not ask");
}

}  // namespace cleave::app
