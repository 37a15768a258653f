#include "ring/placed/placement_diff.h"

#include <map>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

// Base and cuts, with their nodes numbered as in `numbers`.
std::vector<Arc> renumbered(const PlacementSide& side, std::span<const NodeId> numbers) {
  std::vector<Arc> arcs = laid_arcs(side.placement, side.cuts);
  for (Arc& arc : arcs) {
    CHECK(arc.node != NodeId{} && arc.node.value() <= numbers.size());
    arc.node = numbers[arc.node.value() - 1];
  }
  return arcs;
}

}  // namespace

std::vector<Arc> laid_arcs(const Placement& placement, std::span<const Cut> cuts) {
  std::vector<Arc> arcs = arcs_of(placement);
  if (cuts.empty()) return arcs;
  return owners(overlay(arcs, cuts));
}

CommonNodes common_nodes(std::span<const PlacedNode> before, std::span<const PlacedNode> after) {
  CommonNodes common;
  std::map<std::string_view, NodeId> numbers;
  const auto number = [&](const PlacedNode& node) {
    const NodeId next{static_cast<std::uint32_t>(numbers.size()) + 1};
    const auto [found, added] = numbers.emplace(node.name, next);
    if (added) common.names.push_back(node.name);
    return found->second;
  };
  for (const PlacedNode& node : after) common.after.push_back(number(node));
  for (const PlacedNode& node : before) common.before.push_back(number(node));
  return common;
}

Result<PlacementDiff> diff(const PlacementSide& before, const PlacementSide& after) {
  if (!before.placement.fixed_tokens() || !after.placement.fixed_tokens()) {
    return fail(Code::kInvalid,
                "the tokens of this scheme depend on its nodes: there are no ranges to compare");
  }
  CommonNodes common = common_nodes(before.nodes, after.nodes);
  return PlacementDiff{
      .names = std::move(common.names),
      .changes = differences(renumbered(before, common.before), renumbered(after, common.after))};
}

}  // namespace cleave::ring
