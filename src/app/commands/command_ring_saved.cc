#include <filesystem>
#include <iostream>
#include <memory>

#include "app/commands/ring_commands.h"
#include "app/config/pool_file.h"
#include "app/files.h"
#include "app/serve/saved_rings.h"
#include "app/text/table.h"
#include "supervise/files.h"

namespace cleave::app {
namespace {

// Every key of a server where copies of moves may lie is looked at.
constexpr milliseconds kRestorePatience{660'000};

struct SaveOptions {
  std::string file;
  bool force = false;
};

struct RestoreOptions {
  std::string file;
  bool rename = false;
  bool force = false;
  bool dry_run = false;
};

int save_ring(const Cli& cli, const SaveOptions& options) {
  const AdminClient::Answer answer = cli.client().get("/ring?document");
  if (!answer) return cli.show(answer, {});
  const Result<ring::Document> document = ring::parse_document(answer->dump());
  if (!document) return cli.fail(kExitFailed, document.error());
  std::error_code ignored;
  if (std::filesystem::exists(options.file, ignored) && !options.force) {
    return cli.fail(kExitUsage, {Code::kConflict, options.file + " is there already; --force "
                                                                 "writes over it"});
  }
  const std::string text =
      saved_ring_text(ring::to_text(*document), *document, SystemClock().wall_now());
  if (const auto written = supervise::write_file(options.file, text); !written)
    return cli.fail(kExitFailed, written.error());
  if (cli.json()) {
    Cli::print_json(
        {{"file", options.file}, {"pool", document->pool}, {"epoch", document->epoch.value()}});
  } else {
    std::cout << "the ring of pool '" << document->pool << "', epoch " << document->epoch.value()
              << ", is in " << options.file << "\n";
  }
  return kExitOk;
}

void print_report(const Json& report) {
  Table table({"node", "address", "keys", "looked at", "elsewhere", "not found"});
  for (const Json& server : report["servers"]) {
    const Json& keys = server["looked_at"];
    const bool reachable = server.value("reachable", false);
    table.add({server.value("name", ""), server.value("address", ""),
               reachable ? grouped(server.value("keys", std::uint64_t{0})) : "?",
               reachable ? grouped(keys.value("looked", std::uint64_t{0})) : "?",
               reachable ? grouped(keys.value("elsewhere", std::uint64_t{0})) : "?",
               reachable ? grouped(keys.value("lost", std::uint64_t{0})) : "?"});
  }
  std::cout << table.text() << "\n";
  for (const Json& doubt : report["doubts"]) std::cout << doubt.get<std::string>() << "\n";
  for (const Json& each : report["kept"]) {
    const Json found = each.value("looked_at", Json::object());
    std::cout << "copies of move " << each["move"] << " may lie at " << each.value("node", "")
              << ", in " << each["ranges"].size()
              << " ranges: " << grouped(found.value("elsewhere", std::uint64_t{0})) << " keys, "
              << grouped(found.value("lost", std::uint64_t{0}))
              << " of them not at their owner. Kept, and no move to\nit there, until you decide by "
                 "`cleave leftovers`\n";
  }
  if (!report.value("written", false)) {
    std::cout << "nothing was written (--dry-run)\n";
    return;
  }
  std::cout << "restored as epoch " << report.value("epoch", std::uint64_t{0})
            << "; the pool is frozen: look at `cleave status`, then `cleave resume`\n";
}

int restore_ring(const Cli& cli, const RestoreOptions& options) {
  const Result<std::string> text = read_file(options.file);
  if (!text) return cli.fail(kExitUsage, text.error());
  const Result<ring::Document> document = parse_saved_ring(*text);
  if (!document) return cli.fail(kExitUsage, fail(options.file, document.error()).error());
  return cli.show(cli.client().post("/recovery",
                                    {{"document", Json::parse(ring::to_text(*document))},
                                     {"rename", options.rename},
                                     {"force", options.force},
                                     {"dry_run", options.dry_run}},
                                    kRestorePatience),
                  print_report);
}

}  // namespace

void add_ring_save(Cli& cli, CLI::App& group) {
  const auto given = std::make_shared<SaveOptions>();
  CLI::App& command = cli.add_remote(
      group,
      {.name = "save",
       .description = "the ring as a file, for the day on which the coordinator loses it",
       .example = "cleave ring save main.ring"},
      [&cli, given] { return save_ring(cli, *given); });
  command.add_option("FILE", given->file, "where to")->required();
  command.add_flag("--force", given->force, "write over a file that is there");
}

void add_ring_restore(Cli& cli, CLI::App& group) {
  const auto given = std::make_shared<RestoreOptions>();
  CLI::App& command = cli.add_remote(
      group,
      {.name = "restore",
       .description =
           "give a coordinator that has lost its ring a saved one, through a router that "
           "waits for it",
       .example = "cleave ring restore main.ring --dry-run"},
      [&cli, given] { return restore_ring(cli, *given); });
  command.add_option("FILE", given->file, "what `ring save` or a router wrote")->required();
  command.add_flag("--dry-run", given->dry_run, "look at the servers, write nothing");
  command.add_flag("--rename", given->rename, "the pool has another name in the configuration now");
  command.add_flag("--force", given->force, "although what is found speaks against it");
}

}  // namespace cleave::app
