#include <iostream>
#include <memory>
#include <string>

#include "app/cli.h"
#include "app/stray_text.h"
#include "app/table.h"

namespace cleave::app {
namespace {

struct AdoptOptions {
  bool yes = false;
  bool force = false;
};

// What will happen to a server, in a word.
std::string verdict(const Json& node) {
  if (!node.value("reachable", false)) return "unreachable: " + node.value("error", "");
  if (node.value("marked", false)) return "is ours already";
  if (!node.value("foreign_mark", "").empty()) return "belongs to another pool: refused";
  return "will be marked as ours";
}

// Where the ring does not look for the keys that are there: what makes adoption want --force.
void print_misplaced(const Json& survey, std::ostream& out) {
  for (const Json& node : survey["nodes"]) {
    const std::string name = node.value("name", "");
    const Json& strays = node["strays"];
    if (strays.value("seen", std::uint64_t{0}) > 0)
      out << "\nnode " << name << ": " << stray_text(strays) << "\n";
    for (const Json& each : node["other_databases"]) {
      out << "\nnode " << name << ": " << grouped(each.value("keys", std::uint64_t{0}))
          << " keys in database " << each["database"]
          << ", which no client reaches through a router\n";
    }
  }
  if (!survey["fits"].is_object()) return;
  const Json& fit = survey["fits"];
  std::string options;
  for (const auto& [option, value] : fit["scheme_options"].items())
    options += ", " + option + ": " + value.get<std::string>();
  out << "\nof " << grouped(fit["keys"]) << " keys that were tried, all but "
      << grouped(fit["elsewhere"])
      << " are where this ring would look:\n  ring: {scheme: " << fit.value("scheme", "") << options
      << "}   # nodes hashed by " << fit.value("hashed", "") << "\n";
}

void print_survey(const Json& survey, std::ostream& out) {
  Table table({"node", "version", "keys", "memory", "what happens"});
  for (const Json& node : survey["nodes"]) {
    table.add({node.value("name", ""), node.value("version", ""),
               grouped(node.value("keys", std::uint64_t{0})),
               grouped(node.value("memory_bytes", std::uint64_t{0})), verdict(node)});
  }
  out << table.text();
  print_misplaced(survey, out);
}

bool ask(std::ostream& out) {
  out << "\ncleave will move keys between these servers, and delete what it moved away. Scripts "
         "must\nname every key that they touch (or share a {tag} with one that they name): others "
         "stay behind.\n"
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
  const Json body = options.force ? Json{{"force", true}} : Json::object();
  return cli.show(cli.client().post("/adopt", body), [](const Json&) { std::cout << "marked\n"; });
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
  command.add_flag("--force", options->force,
                   "also where the ring does not look for keys that are there");
}

}  // namespace cleave::app
