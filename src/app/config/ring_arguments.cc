#include "app/config/ring_arguments.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ring/placed/key_spread.h"

namespace cleave::app {
namespace {

auto find_node(std::vector<ring::PlacedNode>& nodes, const std::string& name) {
  return std::ranges::find(nodes, name, &ring::PlacedNode::name);
}

std::unexpected<Error> no_node(const char* option, const std::string& name) {
  return fail(Code::kInvalid, std::string(option) + ": no node is named '" + name + "'");
}

}  // namespace

Result<PlacedRing> place_nodes(ring::SchemeSpec spec, std::vector<ring::PlacedNode> nodes) {
  auto placement = ring::place(spec, nodes);
  if (!placement) return std::unexpected(placement.error());
  return PlacedRing{std::move(spec), std::move(nodes), std::move(*placement)};
}

Result<PlacedRing> place_ring(const RingArguments& arguments) {
  if (!arguments.config.path.empty()) {
    auto pool = read_pool_file(arguments.config);
    if (!pool) return std::unexpected(pool.error());
    return place_nodes(std::move(pool->scheme), convert::placed_nodes(*pool));
  }
  if (arguments.empty()) {
    return fail(Code::kInvalid, "no ring: want --node for each of its nodes, or --config FILE");
  }
  auto spec = parse_scheme(arguments.scheme, arguments.options);
  if (!spec) return std::unexpected(spec.error());
  auto nodes = parse_placed_nodes(arguments.nodes);
  if (!nodes) return std::unexpected(nodes.error());
  return place_nodes(std::move(*spec), std::move(*nodes));
}

Result<std::vector<ring::PlacedNode>> edited_nodes(std::vector<ring::PlacedNode> nodes,
                                                   const NodeEdits& edits) {
  for (const std::string& name : edits.leaves) {
    const auto node = find_node(nodes, name);
    if (node == nodes.end()) return no_node("--leave", name);
    nodes.erase(node);
  }
  for (const std::string& text : edits.weights) {
    const auto wanted = parse_placed_node(text);
    if (!wanted || !text.contains('=')) {
      return fail(Code::kInvalid, "--weight: want NAME=WEIGHT, got '" + text + "'");
    }
    const auto node = find_node(nodes, wanted->name);
    if (node == nodes.end()) return no_node("--weight", wanted->name);
    node->weight = wanted->weight;
  }
  auto joiners = parse_placed_nodes(edits.joins);
  if (!joiners) return std::unexpected(joiners.error());
  std::ranges::move(*joiners, std::back_inserter(nodes));
  return nodes;
}

Result<std::vector<std::string>> keys_of(const KeyArguments& arguments) {
  if (arguments.file.empty()) return ring::sample_keys(arguments.seed, arguments.sample);
  auto keys = read_keys(arguments.file);
  if (keys && keys->empty()) {
    return fail(Code::kInvalid, "there are no keys in '" + arguments.file + "'");
  }
  return keys;
}

std::string scheme_text(const ring::SchemeSpec& spec) {
  std::string text = spec.name;
  for (const auto& [name, value] : spec.options) text.append(", " + name + "=").append(value);
  return text;
}

}  // namespace cleave::app
