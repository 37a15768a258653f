#include <algorithm>
#include <iostream>
#include <memory>

#include "app/commands/ring_commands.h"
#include "app/text/table.h"
#include "draw/ring_charts.h"
#include "ring/placed/placement_moves.h"

namespace cleave::app {
namespace {

constexpr std::size_t kFlowsShown = 20;

struct DiffRingOptions {
  RingArguments before;
  NodeEdits edits;
  std::string to_scheme;
  std::vector<std::string> to_options;
  std::vector<std::string> to_nodes;
  PoolFile to_config;
  KeyArguments keys;
  bool by_keys = false;  // asked for
  PictureFiles pictures;
};

// Both rings, and what changes from one to the other.
struct RingChange {
  PlacedRing before;
  PlacedRing after;
  ring::PlacementMoves moves;
  std::vector<ring::Change> changes;  // empty when only keys were compared
  bool by_tokens = true;
};

// The ring that the options name, before its nodes are edited.
Result<PlacedRing> named_after(const DiffRingOptions& given, const PlacedRing& before) {
  if (!given.to_config.path.empty()) return place_ring({.config = given.to_config});
  PlacedRing after = before;
  if (!given.to_scheme.empty() || !given.to_options.empty()) {
    const std::string& name = given.to_scheme.empty() ? before.spec.name : given.to_scheme;
    auto spec = parse_scheme(name, given.to_options);
    if (!spec) return std::unexpected(spec.error());
    after.spec = std::move(*spec);
  }
  if (given.to_nodes.empty()) return after;
  auto nodes = parse_placed_nodes(given.to_nodes);
  if (!nodes) return std::unexpected(nodes.error());
  after.nodes = std::move(*nodes);
  return after;
}

Result<PlacedRing> place_after(const DiffRingOptions& given, const PlacedRing& before) {
  if (given.to_config.path.empty() && given.to_scheme.empty() && given.to_options.empty() &&
      given.to_nodes.empty() && given.edits.empty()) {
    return fail(Code::kInvalid,
                "nothing changes: give --join, --leave, --weight, --to-node, --to-scheme, "
                "--to-option or --to-config");
  }
  auto named = named_after(given, before);
  if (!named) return std::unexpected(named.error());
  auto nodes = edited_nodes(std::move(named->nodes), given.edits);
  if (!nodes) return std::unexpected(nodes.error());
  auto after = place_nodes(std::move(named->spec), std::move(*nodes));
  if (!after) return fail("after the change", after.error());
  return after;
}

Result<RingChange> change_of(const DiffRingOptions& given) {
  auto before = place_ring(given.before);
  if (!before) return std::unexpected(before.error());
  auto after = place_after(given, *before);
  if (!after) return std::unexpected(after.error());
  RingChange change{std::move(*before), std::move(*after), {}, {}};
  const bool same_tokens = change.before.spec.name == change.after.spec.name &&
                           change.before.spec.options == change.after.spec.options &&
                           change.before.placement->fixed_tokens();
  change.by_tokens = same_tokens && !given.by_keys;
  if (change.by_tokens) {
    auto moves = ring::moves_by_tokens(change.before.side(), change.after.side());
    auto diff = ring::diff(change.before.side(), change.after.side());
    if (!moves) return std::unexpected(moves.error());
    if (!diff) return std::unexpected(diff.error());
    change.moves = std::move(*moves);
    change.changes = std::move(diff->changes);
    return change;
  }
  const auto keys = keys_of(given.keys);
  if (!keys) return std::unexpected(keys.error());
  auto moves = ring::moves_by_keys(change.before.side(), change.after.side(), *keys);
  if (!moves) return std::unexpected(moves.error());
  change.moves = std::move(*moves);
  return change;
}

std::string moved_text(const RingChange& change) {
  const ring::PlacementMoves& moves = change.moves;
  std::string text = percent(moves.ppm(moves.moved)) + " of ";
  text +=
      change.by_tokens ? "all tokens" : grouped(static_cast<std::uint64_t>(moves.total)) + " keys";
  text += " change owner; the least possible is " + percent(moves.ppm(moves.least));
  if (change.by_tokens) text += ", in " + grouped(change.changes.size()) + " arcs";
  return text;
}

void print_moves_of(const RingChange& change) {
  const ring::PlacementMoves& moves = change.moves;
  std::cout << scheme_text(change.before.spec) << ", " << change.before.nodes.size() << " nodes -> "
            << scheme_text(change.after.spec) << ", " << change.after.nodes.size() << " nodes\n"
            << moved_text(change) << "\n\n";
  Table nodes({"node", "before", "after"});
  for (std::size_t i = 0; i < moves.names.size(); ++i) {
    nodes.add(
        {moves.names[i], percent(moves.ppm(moves.before[i])), percent(moves.ppm(moves.after[i]))});
  }
  std::cout << nodes.text() << "\n";
  if (moves.flows.empty()) return;
  Table flows({"from", "to", "share"});
  for (std::size_t i = 0; i < std::min(moves.flows.size(), kFlowsShown); ++i) {
    const ring::Flow& flow = moves.flows[i];
    flows.add({moves.names[flow.from.value() - 1], moves.names[flow.to.value() - 1],
               percent(moves.ppm(flow.amount))});
  }
  std::cout << flows.text();
  if (moves.flows.size() > kFlowsShown) {
    std::cout << "... and " << moves.flows.size() - kFlowsShown << " smaller ones\n";
  }
}

Json change_json(const RingChange& change) {
  const ring::PlacementMoves& moves = change.moves;
  const auto share = [&](Wide amount) { return share_of(amount, moves.total); };
  const auto name = [&](NodeId node) { return moves.names[node.value() - 1]; };
  Json nodes = Json::array();
  for (std::size_t i = 0; i < moves.names.size(); ++i) {
    nodes.push_back({{"name", moves.names[i]},
                     {"before", share(moves.before[i])},
                     {"after", share(moves.after[i])}});
  }
  Json flows = Json::array();
  for (const ring::Flow& flow : moves.flows) {
    flows.push_back(
        {{"from", name(flow.from)}, {"to", name(flow.to)}, {"share", share(flow.amount)}});
  }
  Json json{{"by", change.by_tokens ? "tokens" : "keys"},
            {"moved", share(moves.moved)},
            {"least", share(moves.least)},
            {"nodes", std::move(nodes)},
            {"flows", std::move(flows)}};
  if (!change.by_tokens) {
    json["keys"] = static_cast<std::uint64_t>(moves.total);
    return json;
  }
  json["arcs"] = Json::array();
  for (const ring::Change& each : change.changes) {
    json["arcs"].push_back({{"first", ring::to_hex(each.range.first)},
                            {"last", ring::to_hex(each.range.last)},
                            {"from", name(each.from)},
                            {"to", name(each.to)}});
  }
  return json;
}

Result<void> draw_change(const DiffRingOptions& given, const RingChange& change) {
  const ring::PlacementMoves& moves = change.moves;
  draw::RingDiffChart chart{.title = "What changes owner: " + scheme_text(change.before.spec),
                            .nodes = {},
                            .gained = std::vector<double>(moves.names.size()),
                            .changes = change.changes,
                            .least = share_of(moves.least, moves.total),
                            .keys = change.by_tokens ? 0 : static_cast<std::uint64_t>(moves.total)};
  const std::string after = scheme_text(change.after.spec);
  if (after != scheme_text(change.before.spec)) chart.title += " to " + after;
  for (std::size_t i = 0; i < moves.names.size(); ++i) {
    chart.nodes.push_back({moves.names[i], share_of(moves.after[i], moves.total),
                           share_of(moves.before[i], moves.total)});
  }
  for (const ring::Flow& flow : moves.flows) {
    chart.gained[flow.to.value() - 1] += share_of(flow.amount, moves.total);
  }
  return write_pictures(given.pictures, chart.title,
                        [&](draw::Canvas& canvas) { draw::draw_ring_diff(canvas, chart); });
}

int diff_rings(const Cli& cli, const DiffRingOptions& given) {
  const auto change = change_of(given);
  if (!change) return cli.fail(kExitUsage, change.error());
  if (auto drawn = draw_change(given, *change); !drawn) {
    return cli.fail(kExitFailed, drawn.error());
  }
  if (cli.json()) {
    Cli::print_json(change_json(*change));
  } else {
    print_moves_of(*change);
  }
  return kExitOk;
}

}  // namespace

void add_ring_diff(Cli& cli, CLI::App& group) {
  const auto given = std::make_shared<DiffRingOptions>();
  CLI::App& command =
      cli.add(group,
              {.name = "diff",
               .description = "what changes owner when nodes or the scheme change",
               .example = "cleave ring diff --node a --node b --join c --svg diff.svg"},
              [&cli, given] { return diff_rings(cli, *given); });
  add_ring_arguments(command, given->before);
  const auto many = [&](const char* name, std::vector<std::string>& values, const char* text) {
    return command.add_option(name, values, text)->allow_extra_args(false);
  };
  many("--join", given->edits.joins, "a node that joins, NAME or NAME=WEIGHT");
  many("--leave", given->edits.leaves, "a node that leaves");
  many("--weight", given->edits.weights, "a node's new weight, NAME=WEIGHT");
  CLI::Option* config =
      command.add_option("--to-config", given->to_config.path, "the new ring, as with --config")
          ->type_name("FILE");
  command.add_option("--to-pool", given->to_config.pool, "which pool of that file")->needs(config);
  many("--to-node", given->to_nodes, "a node of the new list, which replaces the old one")
      ->excludes(config);
  command.add_option("--to-scheme", given->to_scheme, "the new scheme")->excludes(config);
  many("--to-option", given->to_options, "an option of the new scheme, name=value")
      ->excludes(config);
  command.add_flag("--by-keys", given->by_keys,
                   "compare keys, also where tokens could be compared, which is exact");
  add_key_arguments(command, given->keys);
  add_picture_files(command, given->pictures);
}

}  // namespace cleave::app
