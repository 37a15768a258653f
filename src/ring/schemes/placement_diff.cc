#include "ring/schemes/placement_diff.h"

#include <map>
#include <string_view>

#include "ring/ownership.h"

namespace cleave::ring {
namespace {

// The arcs with their nodes numbered as in `numbers`.
std::vector<Arc> renumbered(const PlacementSide& side,
                            const std::map<std::string_view, NodeId>& numbers) {
  std::vector<NodeId> of_index;
  for (const PlacedNode& node : side.nodes) of_index.push_back(numbers.at(node.name));
  std::vector<Arc> arcs(side.placement.arcs().begin(), side.placement.arcs().end());
  for (Arc& arc : arcs) arc.node = of_index[arc.node.value() - 1];
  return arcs;
}

}  // namespace

Result<PlacementDiff> diff(const PlacementSide& before, const PlacementSide& after) {
  if (!before.placement.fixed_tokens() || !after.placement.fixed_tokens()) {
    return fail(Code::kInvalid,
                "the tokens of this scheme depend on its nodes: there are no ranges to compare");
  }
  PlacementDiff result;
  std::map<std::string_view, NodeId> numbers;
  for (const auto nodes : {after.nodes, before.nodes}) {
    for (const PlacedNode& node : nodes) {
      const NodeId next{static_cast<std::uint32_t>(numbers.size()) + 1};
      if (numbers.emplace(node.name, next).second) result.names.push_back(node.name);
    }
  }
  result.changes = differences(renumbered(before, numbers), renumbered(after, numbers));
  return result;
}

}  // namespace cleave::ring
