// `cleave demo auto-split`: thirty keys on one node, shown twice (rehearse/scenes/auto_split.h).
#include <iostream>
#include <string>
#include <vector>

#include "app/cli.h"
#include "app/commands/demo_commands.h"
#include "app/text/table.h"
#include "rehearse/scenes/auto_split.h"

namespace cleave::app {
namespace {

constexpr std::uint32_t kKeysBarWidth = 30;

Json to_json(const std::vector<rehearse::NodeKeys>& nodes) {
  Json json = Json::object();
  for (const rehearse::NodeKeys& node : nodes) json[node.node] = node.keys;
  return json;
}

Json to_json(const rehearse::NaiveAutoSplit& naive) {
  Json owners = Json::object();
  for (const char* key : {"用户1", "用户2", "用户3", "用户4"}) {
    owners[key] = rehearse::naive_auto_split_owner(key);
  }
  return {{"nodes", to_json(naive.nodes)},
          {"splits", naive.splits},
          {"why", naive.why},
          {"owners", std::move(owners)}};
}

Json to_json(const rehearse::SplitStage& stage) {
  Json pieces = Json::array();
  for (const rehearse::PieceMoved& piece : stage.pieces) {
    pieces.push_back({{"first", ring::to_hex(piece.range.first)},
                      {"last", ring::to_hex(piece.range.last)},
                      {"source", piece.source},
                      {"destination", piece.destination},
                      {"keys", piece.keys}});
  }
  return {{"before", to_json(stage.before)},
          {"after", to_json(stage.after)},
          {"pieces", std::move(pieces)},
          {"keys_hashed", stage.keys_hashed},
          {"keys_moved", stage.keys_moved},
          {"keys_moved_least", stage.keys_moved_least},
          {"cuts_merged", stage.cuts_merged},
          {"keys_max_reached", stage.keys_max_reached},
          {"limit_met", stage.limit_met},
          {"nodes_needed", stage.nodes_needed},
          {"why", stage.why}};
}

std::string bars(const std::vector<rehearse::NodeKeys>& nodes, std::uint64_t all) {
  Table table({"", "", ""});
  for (const rehearse::NodeKeys& node : nodes) {
    table.add({"  " + node.node, grouped(node.keys), bar(node.keys, all, kKeysBarWidth)});
  }
  const std::string text = table.text();
  return text.substr(text.find('\n') + 1);
}

void tell(const rehearse::SplitStage& stage, std::uint64_t all) {
  std::cout << bars(stage.after, all) << "  " << stage.pieces.size() << " pieces moved with "
            << stage.keys_moved << " keys (at least " << stage.keys_moved_least << " had to), "
            << stage.cuts_merged << " crumbs merged\n";
  if (!stage.why.empty()) std::cout << "  " << stage.why << "\n";
}

int demo_auto_split(const Cli& cli) {
  const rehearse::AutoSplitInput input = rehearse::auto_split_input();
  const rehearse::NaiveAutoSplit naive = rehearse::naive_auto_split(input);
  const rehearse::CleaveAutoSplit ours = rehearse::cleave_auto_split(input);
  if (cli.json()) {
    Cli::print_json({{"naive", to_json(naive)},
                     {"cleave",
                      {{"three_nodes", to_json(ours.three_nodes)},
                       {"six_nodes", to_json(ours.six_nodes)},
                       {"reads_missed", ours.reads_missed}}}});
  } else {
    std::cout << "The naive ring: " << input.keys.size() << " keys, at most " << input.keys_max
              << " a node\n"
              << bars(naive.nodes, input.keys.size()) << "  " << naive.why
              << "\n\ncleave, the same three nodes\n";
    tell(ours.three_nodes, input.keys.size());
    std::cout << "\ncleave, after three more joined\n";
    tell(ours.six_nodes, input.keys.size());
  }
  return ours.six_nodes.limit_met && ours.reads_missed == 0 ? kExitOk : kExitFailed;
}

}  // namespace

void add_demo_auto_split(Cli& cli, CLI::App& group) {
  cli.add(group,
          {.name = "auto-split",
           .description = "thirty keys that all fall on one node: a naive ring, and cleave",
           .example = "cleave demo auto-split"},
          [&cli] { return demo_auto_split(cli); });
}

}  // namespace cleave::app
