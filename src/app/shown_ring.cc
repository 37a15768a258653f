#include "app/shown_ring.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "ring/token_range.h"

namespace cleave::app {
namespace {

std::unexpected<Error> not_understood(const std::string& what) {
  return fail(Code::kInvalid, "the router's answer is not understood: " + what);
}

// Neighbours of one owner are joined, as those of a placement are.
void append(std::vector<ring::Arc>& arcs, const ring::Arc& arc) {
  if (!arcs.empty() && arcs.back().node == arc.node) {
    arcs.back().range.last = arc.range.last;
  } else {
    arcs.push_back(arc);
  }
}

Result<std::vector<ring::Node>> read_nodes(const Json& status) {
  std::vector<ring::Node> nodes;
  const Json list = status.value("nodes", Json::array());
  for (const Json& each : list) {
    ring::Node node;
    node.id = NodeId{static_cast<std::uint32_t>(nodes.size()) + 1};
    node.name = each.value("name", "");
    node.weight = each.value("weight", std::uint32_t{0});
    if (each.value("state", "") == "draining") node.state = ring::NodeState::kDraining;
    if (node.name.empty() || node.weight == 0) return not_understood(each.dump());
    nodes.push_back(std::move(node));
  }
  const bool active = std::ranges::any_of(
      nodes, [](const ring::Node& node) { return node.state == ring::NodeState::kActive; });
  if (!active) return not_understood("no active node");
  return nodes;
}

Result<std::vector<ring::Arc>> read_arcs(const Json& ring, std::span<const ring::Node> nodes) {
  std::map<std::string_view, NodeId> ids;
  for (const ring::Node& node : nodes) ids.emplace(node.name, node.id);
  std::vector<ring::Arc> arcs;
  const Json list = ring.value("entries", Json::array());
  Token next = ring::kFirstToken;
  for (const Json& each : list) {
    const auto first = ring::parse_token(each.value("first", ""));
    const auto last = ring::parse_token(each.value("last", ""));
    if (!first || !last || *first != next || *last < *first) return not_understood(each.dump());
    const auto id = ids.find(each.value("node", ""));
    if (id == ids.end()) return fail(Code::kConflict, "the ring changes just now: try again");
    append(arcs, {{*first, *last}, id->second});
    next = Token{last->value() + 1};
  }
  if (arcs.empty() || arcs.back().range.last != ring::kLastToken) {
    return not_understood("the entries do not reach to the last token");
  }
  return arcs;
}

}  // namespace

ShownRing shown_ring(const PlacedRing& placed) {
  return {.spec = placed.spec,
          .nodes = placed.nodes,
          .arcs = ring::arcs_of(*placed.placement),
          .shares = ring::node_shares(placed.side())};
}

Result<ShownRing> shown_ring(const Json& status, const Json& ring) {
  const auto nodes = read_nodes(status);
  if (!nodes) return std::unexpected(nodes.error());
  auto arcs = read_arcs(ring, *nodes);
  if (!arcs) return std::unexpected(arcs.error());
  ShownRing shown{
      .spec = {.name = ring.value("scheme", "")}, .nodes = {}, .arcs = {}, .shares = {}};
  const Json options = ring.value("scheme_options", Json::object());
  for (const auto& [name, value] : options.items()) {
    shown.spec.options.emplace(name, value.get<std::string>());
  }
  for (const ring::Node& node : *nodes) shown.nodes.push_back({node.name, node.weight});
  shown.shares = ring::node_shares(*nodes, *arcs);
  shown.arcs = std::move(*arcs);
  return shown;
}

}  // namespace cleave::app
