#include <iostream>
#include <memory>
#include <utility>

#include "app/commands/commands.h"
#include "app/text/status_text.h"

namespace cleave::app {
namespace {

struct StatusOptions {
  bool ranges = false;
  bool verbose = false;
};

// The leader knows most; while nobody can be asked for it, the router itself knows something.
AdminClient::Answer ask_status(const AdminClient& client, bool ranges) {
  AdminClient::Answer answer = client.get("/status?leader");
  if (!answer) answer = client.get("/status");
  if (!answer || !ranges) return answer;
  AdminClient::Answer ring = client.get("/ring");
  if (!ring) return ring;
  (*answer)["ring"] = std::move(*ring);
  return answer;
}

int status(const Cli& cli, const StatusOptions& options) {
  return cli.show(ask_status(cli.client(), options.ranges), [&](const Json& json) {
    std::cout << status_text(json, options.verbose ? StatusDetail::kServers : StatusDetail::kUsual);
  });
}

}  // namespace

void add_status(Cli& cli) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "status",
       .description = "who owns how much, who is how hot, what moves, and why not more",
       .example = "cleave status"},
      [&cli, options] { return status(cli, *options); });
  command.add_flag("--ranges", options->ranges,
                   "also each cut: whose it is, why, and until when pinned");
  command.add_flag("-v,--verbose", options->verbose,
                   "also where each server is, its version, and how fast it answers");
}

}  // namespace cleave::app
