#include "app/text/shown_ring.h"

#include <map>
#include <string_view>

#include "app/text/status_summary.h"
#include "ring/token_range.h"

namespace cleave::app {
namespace {

// Neighbours of one owner are joined, as those of a placement are.
void append(std::vector<ring::Arc>& arcs, const ring::Arc& arc) {
  if (!arcs.empty() && arcs.back().node == arc.node) {
    arcs.back().range.last = arc.range.last;
  } else {
    arcs.push_back(arc);
  }
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
  auto summary = summary_of(status);
  if (!summary) return std::unexpected(summary.error());
  std::vector<ring::Node>& nodes = summary->nodes;
  // Arcs count the nodes that are shown, whatever their ids.
  for (std::uint32_t i = 0; i < nodes.size(); ++i) nodes[i].id = NodeId{i + 1};
  auto arcs = read_arcs(ring, nodes);
  if (!arcs) return std::unexpected(arcs.error());
  ShownRing shown{.spec = std::move(summary->scheme), .nodes = {}, .arcs = {}, .shares = {}};
  for (const ring::Node& node : nodes) shown.nodes.push_back({node.name, node.weight});
  shown.shares = ring::node_shares(nodes, *arcs);
  shown.arcs = std::move(*arcs);
  return shown;
}

}  // namespace cleave::app
