#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/text/table.h"
#include "supervise/new_file.h"

namespace cleave::app {
namespace {

struct StraysOptions {
  bool to_owner = false;
  bool accept = false;
  std::string set_aside;           // path of the file; empty: not asked for
  std::vector<std::string> nodes;  // only theirs; empty: of all
};

// What was done with strays so far.
struct Tally {
  std::uint64_t handled = 0;
  Json kept = Json::array();
};

// A key as people read it: the router has escaped what a terminal would obey (base/shown.h).
std::string shown(const Json& key) { return '"' + key.value("key", "") + '"'; }

void print_list(const Json& answer) {
  std::uint64_t strays = 0;
  for (const Json& node : answer["nodes"]) {
    strays += node.value("strays", std::uint64_t{0});
    std::cout << "node " << node.value("node", "") << ": ";
    if (const std::string error = node.value("error", ""); !error.empty()) {
      std::cout << "could not be looked at: " << error << "\n";
      continue;
    }
    std::cout << grouped(node.value("strays", std::uint64_t{0})) << " of "
              << grouped(node.value("keys_looked", std::uint64_t{0})) << " keys"
              << (node.value("whole", false) ? "" : " that were looked at") << "\n";
    for (const Json& key : node["keys"])
      std::cout << "  " << shown(key) << " -> " << key.value("owner", "?") << "\n";
  }
  if (strays == 0) return;
  std::cout
      << "No client reads them through a router, and no move takes them along. cleave deletes "
         "none\nby itself; --to-owner moves them to where the ring looks, --set-aside FILE "
         "into a file.\n";
}

void print_tally(const Tally& tally, const char* what) {
  std::cout << grouped(tally.handled) << " strays " << what << "\n";
  for (const Json& key : tally.kept)
    std::cout << "  stays: " << shown(key) << ": " << key.value("why", "") << "\n";
}

// The lines of the file of --set-aside (docs/formats/strays.md).
std::string lines_of(const std::string& node, const Json& dumps) {
  std::string text;
  for (const Json& dump : dumps) {
    const Json line = {{"node", node},
                       {"key_hex", dump["key_hex"]},
                       {"expires_at_ms", dump["expires_at_ms"]},
                       {"dump_hex", dump["dump_hex"]}};
    text += line.dump() + "\n";
  }
  return text;
}

// A person's order about strays, carried out page by page.
class StrayPasses {
 public:
  StrayPasses(const Cli& cli, const StraysOptions& options)
      : cli_(cli), client_(cli.client()), options_(options) {}

  // Each node's pages one after the other; `page` gives the answer that says where to go on.
  template <class Page>
  int over_all(const Page& page, const char* what) {
    AdminClient::Answer listed = client_.get("/strays");
    if (!listed) return cli_.show(listed, {});
    for (const Json& node : (*listed)["nodes"]) {
      if (!wanted(node) || node.value("strays", std::uint64_t{0}) == 0) continue;
      std::string cursor;
      do {
        const AdminClient::Answer answer = page(node.value("node", ""), cursor);
        if (!answer) return cli_.show(answer, {});
        cursor = answer->value("next", "");
      } while (!cursor.empty());
    }
    (void)client_.get("/strays");  // so that `status` counts them anew
    if (cli_.json()) {
      Cli::print_json({{"handled", tally_.handled}, {"kept", tally_.kept}});
    } else {
      print_tally(tally_, what);
    }
    return tally_.kept.empty() ? kExitOk : kExitFailed;
  }

  int to_owner() {
    return over_all(
        [this](const std::string& node, const std::string& cursor) {
          return note(client_.post("/strays/move", {{"node", node}, {"cursor", cursor}}));
        },
        "moved to their owners");
  }

  int set_aside() {
    supervise::NewFile file(options_.set_aside);
    return over_all(
        [&](const std::string& node, const std::string& cursor) -> AdminClient::Answer {
          AdminClient::Answer dumps =
              note(client_.post("/strays/read", {{"node", node}, {"cursor", cursor}}));
          if (!dumps || (*dumps)["dumps"].empty()) return dumps;
          if (const Result<void> kept = file.append(lines_of(node, (*dumps)["dumps"])); !kept)
            return std::unexpected(CallFailure{.unreachable = false, .error = kept.error()});
          return removed(node, cursor, *dumps);
        },
        "set aside");
  }

 private:
  bool wanted(const Json& node) const {
    return options_.nodes.empty() ||
           std::ranges::find(options_.nodes, node.value("node", "")) != options_.nodes.end();
  }

  AdminClient::Answer note(AdminClient::Answer answer) {
    if (!answer) return answer;
    tally_.handled += answer->value("handled", std::uint64_t{0});
    for (const Json& key : (*answer)["kept"]) tally_.kept.push_back(key);
    return answer;
  }

  // They are in the file: now they go, in orders that a router takes.
  AdminClient::Answer removed(const std::string& node, const std::string& cursor, Json dumps) {
    constexpr std::size_t kKeysBytes = std::size_t{1} << 18U;
    const std::uint64_t before = tally_.handled;
    Json keys = Json::array();
    std::size_t bytes = 0;
    const auto send = [&] {
      const Json body = {{"node", node}, {"keys", std::exchange(keys, Json::array())}};
      bytes = 0;
      return note(client_.post("/strays/remove", body));
    };
    for (const Json& dump : dumps["dumps"]) {
      bytes += dump["key_hex"].get_ref<const std::string&>().size();
      keys.push_back({{"key_hex", dump["key_hex"]}, {"hash", dump["hash"]}});
      if (bytes < kKeysBytes) continue;
      if (const AdminClient::Answer sent = send(); !sent) return sent;
    }
    if (const AdminClient::Answer sent = send(); !sent) return sent;
    const bool stands_still = tally_.handled == before && dumps.value("next", "") == cursor;
    if (stands_still) dumps["next"] = "";
    return dumps;
  }

  const Cli& cli_;
  AdminClient client_;
  const StraysOptions& options_;
  Tally tally_;
};

int strays(const Cli& cli, const StraysOptions& options) {
  if (options.to_owner) return StrayPasses(cli, options).to_owner();
  if (options.accept) {
    return cli.show(cli.client().post("/strays/accept"), [](const Json& answer) {
      std::cout << grouped(answer.value("strays", std::uint64_t{0})) << " strays are known now\n";
    });
  }
  if (!options.set_aside.empty()) return StrayPasses(cli, options).set_aside();
  return cli.show(cli.client().get("/strays"), print_list);
}

}  // namespace

void add_strays(Cli& cli) {
  const auto options = std::make_shared<StraysOptions>();
  CLI::App& command =
      cli.add_remote(cli.root(),
                     {.name = "strays",
                      .description = "keys that lie where the ring does not look for them",
                      .example = "cleave strays --to-owner"},
                     [&cli, options] { return strays(cli, *options); });
  CLI::Option* const owner = command.add_flag(
      "--to-owner", options->to_owner,
      "move each to the node where the ring looks, never over a key that is there");
  CLI::Option* const aside =
      command.add_option("--set-aside", options->set_aside,
                         "write them into this new file, then remove them from the servers");
  owner->excludes(aside);
  command
      .add_flag("--accept", options->accept,
                "those that are there are known: only more of them hold moves back")
      ->excludes(owner)
      ->excludes(aside);
  command.add_option("--node", options->nodes, "only those at this node; may be given again");
}

}  // namespace cleave::app
