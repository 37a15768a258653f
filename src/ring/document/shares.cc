#include "ring/document/shares.h"

#include <algorithm>

#include "base/check.h"

namespace cleave::ring {
namespace {

std::uint64_t active_weight(const Node& node) {
  return node.state == NodeState::kActive ? node.weight : 0;
}

}  // namespace

std::vector<Share> shares_of(std::span<const Node> nodes, std::span<const Arc> arcs) {
  std::uint64_t weights = 0;
  for (const Node& node : nodes) weights += active_weight(node);
  CHECK(weights > 0);
  std::vector<Share> shares;
  std::uint64_t passed = 0;
  for (const Node& node : nodes) {
    // The difference of two roundings: so the sum is exact.
    const Wide start = kAllTokens * passed / weights;
    passed += active_weight(node);
    shares.push_back({.node = node.id, .wanted = kAllTokens * passed / weights - start});
  }
  for (const Arc& arc : arcs) {
    const auto share = std::ranges::lower_bound(shares, arc.node, {}, &Share::node);
    CHECK(share != shares.end() && share->node == arc.node);
    share->owned += width(arc.range);
  }
  return shares;
}

}  // namespace cleave::ring
