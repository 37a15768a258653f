#include <iostream>
#include <memory>
#include <utility>

#include "app/cli.h"
#include "app/stray_text.h"
#include "app/table.h"
#include "app/times.h"

namespace cleave::app {
namespace {

constexpr std::uint32_t kLoadBarWidth = 24;

void print_nodes(const Json& nodes) {
  std::uint64_t most = 0;
  for (const Json& node : nodes) most = std::max(most, node.value("load_ns", std::uint64_t{0}));
  Table table({"node", "address", "state", "share", "keys", "requests/s", "load"});
  for (const Json& node : nodes) {
    const std::string error = node.value("error", "");
    const bool up = node.value("up", false);
    table.add({node.value("name", ""), node["members"][0].value("address", ""),
               up ? node.value("state", "") : "down: " + error,
               percent(node.value("share_ppm", std::uint64_t{0})),
               grouped(node.value("keys", std::uint64_t{0})),
               grouped(node.value("requests_per_s", std::uint64_t{0})),
               bar(node.value("load_ns", std::uint64_t{0}), most, kLoadBarWidth)});
  }
  std::cout << table.text();
}

void print_foreign_writes(const Json& nodes) {
  for (const Json& node : nodes) {
    if (!node.value("foreign_writes", false)) continue;
    std::cout << "node " << node.value("name", "") << ": about "
              << grouped(node.value("unattributed_writes", std::uint64_t{0}))
              << " writes/s reach it past the routers; no planned move touches it\n";
  }
}

void print_strays(const Json& nodes) {
  for (const Json& node : nodes) {
    if (!node.contains("strays") || node["strays"].value("seen", std::uint64_t{0}) == 0) continue;
    std::cout << "node " << node.value("name", "") << ": " << stray_text(node["strays"])
              << "; see `cleave strays`\n";
  }
}

std::string waiting_for(const Json& move) {
  const std::string what = move.value("waits_for", "");
  return what.empty() ? "" : ", waits for " + what;
}

void print_moves(const Json& moves) {
  for (const Json& move : moves) {
    std::cout << "move " << move["id"] << ": " << move.value("source", "") << " -> "
              << move.value("destination", "") << ", "
              << percent(move.value("share_ppm", std::uint64_t{0})) << " of the ring, "
              << move.value("step", "") << ", "
              << grouped(move.value("keys_copied", std::uint64_t{0})) << " keys copied"
              << waiting_for(move) << ": " << move.value("reason", "") << "\n";
  }
}

void print_routers(const Json& status) {
  if (status["routers"].size() < 2) return;
  Table table({"router", "reached at", "view", "heard", ""});
  for (const Json& router : status["routers"]) {
    const bool heard = router["heard_ms"].is_number();
    table.add({router.value("session", ""), router.value("peer", ""),
               router["view"].is_number() ? "epoch " + grouped(router["view"]) : "unknown",
               heard ? grouped(router["heard_ms"]) + " ms ago" : "not yet",
               router.value("leader", false) ? "leads, term " + grouped(status["term"]) : ""});
  }
  std::cout << "\n" << table.text();
}

void print_cuts(const Json& cuts) {
  Table table({"cut", "node", "made", "pinned until", "why"});
  for (const Json& cut : cuts) {
    const UnixMillis pinned{cut.value("pinned_until_ms", std::int64_t{0})};
    table.add({cut.value("first", "") + "-" + cut.value("last", ""), cut.value("node", ""),
               to_text(UnixMillis{cut.value("created_ms", std::int64_t{0})}),
               pinned == UnixMillis{} ? "" : to_text(pinned), cut.value("reason", "")});
  }
  std::cout << "\n" << table.text();
}

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

void print_status(const Json& status) {
  if (!status.contains("pool")) {
    std::cout << "not ready: coordinator " << status.value("coordinator", "") << "\n";
    return;
  }
  std::cout << "pool " << status.value("pool", "") << ", epoch " << status["epoch"] << ", mode "
            << status.value("mode", "") << (status.value("frozen", false) ? ", frozen" : "") << ", "
            << status["cuts"] << " cuts, coordinator " << status.value("coordinator", "") << "\n\n";
  print_nodes(status["nodes"]);
  print_foreign_writes(status["nodes"]);
  print_strays(status["nodes"]);
  print_routers(status);
  print_moves(status["moves"]);
  if (status.contains("ring")) print_cuts(status["ring"]["cuts"]);
}

}  // namespace

void add_status(Cli& cli) {
  const auto ranges = std::make_shared<bool>(false);
  CLI::App& command = cli.add_remote(
      cli.root(),
      {.name = "status",
       .description = "who owns how much, who is how hot, and what moves",
       .example = "cleave status"},
      [&cli, ranges] { return cli.show(ask_status(cli.client(), *ranges), print_status); });
  command.add_flag("--ranges", *ranges, "also each cut: whose it is, why, and until when pinned");
}

}  // namespace cleave::app
