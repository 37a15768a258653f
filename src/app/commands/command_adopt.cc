#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "app/commands/commands.h"
#include "app/text/stray_text.h"
#include "app/text/table.h"

namespace cleave::app {
namespace {

constexpr int kLeaderTries = 100;
constexpr std::chrono::milliseconds kLeaderPause{200};

struct AdoptOptions {
  bool yes = false;
  bool force = false;
  bool new_ring = false;
};

// What will happen to a server, in a word.
std::string verdict(const Json& node) {
  if (!node.value("reachable", false)) return "unreachable: " + node.value("error", "");
  if (node.value("marked", false)) return "is ours already";
  if (!node.value("foreign_mark", "").empty()) {
    const std::string pool = node.value("pool", "");
    return "belongs to another ring" + (pool.empty() ? "" : " of pool '" + pool + "'") +
           ": refused without --new-ring";
  }
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
  out << "\n" << fit_text(survey["fits"]) << "\n";
}

// What moves would lose: keys whose names scripts make up.
void print_scripts(const Json& survey, std::ostream& out) {
  for (const Json& node : survey["nodes"]) {
    const std::string ran = scripts_text(node.value("scripts", Json::array()));
    if (!ran.empty()) out << "\nnode " << node.value("name", "") << ": " << ran << "\n";
  }
  out << "\n" << script_rule() << "\n";
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
  print_scripts(survey, out);
}

bool ask(std::ostream& out) {
  out << "\ncleave will move keys between these servers, and delete what it moved away.\n"
         "Mark them as this pool's? [y/N] "
      << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// What a server carries of the ring that it is to be taken from.
std::string belonging(const Json& server) {
  if (!server.value("reachable", false)) return "unreachable: " + server.value("error", "");
  if (server.value("mark", "").empty()) return "to none";
  if (server.value("pool", "").empty()) return "to a ring of mark " + server.value("mark", "");
  return "to pool '" + server.value("pool", "") + "' as '" + server.value("node", "") +
         "', epoch " + std::to_string(server.value("epoch", std::uint64_t{0}));
}

void print_situation(const Json& situation, std::ostream& out) {
  const std::string held = situation.value("held", "");
  if (!held.empty()) out << held << "\n\n";
  if (situation["servers"].empty()) return;
  Table table({"node", "address", "keys", "belongs"});
  for (const Json& server : situation["servers"]) {
    table.add({server.value("name", ""), server.value("address", ""),
               grouped(server.value("keys", std::uint64_t{0})), belonging(server)});
  }
  out << table.text();
}

bool ask_new_ring(std::ostream& out) {
  out << "A new ring looks for each key where the configuration puts it. Keys that were moved, or\n"
         "that another ring has put elsewhere, are not found any more, and this cannot be undone.\n"
         "Begin a new ring over these servers? Write 'new ring' if so: "
      << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "new ring";
}

// A ring first, then the markers by whoever leads it.
int begin_new_ring(const Cli& cli, const AdoptOptions& options) {
  const AdminClient client = cli.client();
  const AdminClient::Answer situation = client.get("/recovery");
  if (!situation) return cli.show(situation, {});
  std::ostream& out = cli.json() ? std::cerr : std::cout;
  print_situation(*situation, out);
  if (!options.yes && !ask_new_ring(out))
    return cli.fail(kExitFailed, {Code::kConflict, "nothing was changed"});
  AdminClient::Answer answer =
      client.post("/adopt", {{"new_ring", true}, {"force", options.force}});
  const bool begun = answer && answer->value("created", false);
  // What was looked at, or forced, before the ring was begun, is not looked at again.
  for (int tries = 0; begun && tries < kLeaderTries; ++tries) {
    std::this_thread::sleep_for(kLeaderPause);
    answer = client.post("/adopt", {{"new_ring", true}, {"force", true}});
    const bool marked = answer && !answer->value("created", false);
    if (marked || (!answer && answer.error().error.code != Code::kUnavailable &&
                   answer.error().error.code != Code::kConflict))
      break;
  }
  return cli.show(answer, [](const Json&) { std::cout << "a new ring; the servers are marked\n"; });
}

int adopt(const Cli& cli, const AdoptOptions& options) {
  if (options.new_ring) return begin_new_ring(cli, options);
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
  command.add_flag("--new-ring", options->new_ring,
                   "where the ring was lost: begin a new one, and take the servers from the old; "
                   "with --force also where it would not find the keys that are there");
}

}  // namespace cleave::app
