#include "ring/placed/placement_shares.h"

#include <algorithm>

#include "base/check.h"
#include "ring/document/shares.h"

namespace cleave::ring {

std::vector<NodeShare> node_shares(const PlacementSide& side) {
  std::vector<Node> nodes;
  nodes.reserve(side.nodes.size());
  for (const PlacedNode& each : side.nodes) {
    nodes.emplace_back();
    nodes.back().id = NodeId{static_cast<std::uint32_t>(nodes.size())};
    nodes.back().weight = each.weight;
  }
  return node_shares(nodes, arcs_of(side.placement));
}

std::vector<NodeShare> node_shares(std::span<const Node> nodes, std::span<const Arc> arcs) {
  const std::vector<Share> shares = shares_of(nodes, arcs);
  std::vector<NodeShare> result;
  result.reserve(shares.size());
  for (const Share& share : shares)
    result.push_back({.wanted = share.wanted, .owned = share.owned});
  for (const Arc& arc : arcs) {
    const auto share = std::ranges::lower_bound(shares, arc.node, {}, &Share::node);
    CHECK(share != shares.end() && share->node == arc.node);
    ++result[static_cast<std::size_t>(share - shares.begin())].arcs;
  }
  return result;
}

std::uint64_t peak_ppm(const std::vector<NodeShare>& shares) {
  CHECK(!shares.empty());
  return std::ranges::max(shares, {}, &NodeShare::load_ppm).load_ppm();
}

}  // namespace cleave::ring
