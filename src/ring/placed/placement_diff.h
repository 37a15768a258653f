// What changes owner from one placement to another of the same scheme, as nodes join, leave or
// change their weight.
//
// Pure. Threads: values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ring/document/document.h"
#include "ring/schemes/placement.h"
#include "ring/view/diff.h"

namespace cleave::ring {

// A placement, the nodes that it was made of, and the cuts over it (sorted, disjoint; the node of
// index i is NodeId{i + 1}).
struct PlacementSide {
  const Placement& placement;
  std::span<const PlacedNode> nodes;
  std::span<const Cut> cuts = {};
};

// A copy, for what wants all of them at once.
inline std::vector<Arc> arcs_of(const Placement& placement) {
  const auto arcs = placement.arcs();
  return {arcs.begin(), arcs.end()};
}

// The nodes of two lists under common numbers: the same when their names are.
struct CommonNodes {
  std::vector<std::string> names;  // of NodeId{i + 1}: those of after, then those only in before
  std::vector<NodeId> before;      // of each index of the list
  std::vector<NodeId> after;
};

// Cost: O(nodes log nodes).
CommonNodes common_nodes(std::span<const PlacedNode> before, std::span<const PlacedNode> after);

// NodeId{i + 1} in `changes` is the node names[i]: those of after, then those only in before.
struct PlacementDiff {
  std::vector<std::string> names;
  std::vector<Change> changes;  // `moved_ppm` (ring/view/diff.h) tells their share
};

// Who owns what once the cuts are laid: every token once, sorted, neighbours of one owner joined.
// Requires: cuts sorted, disjoint. Cost: O(arcs + cuts).
std::vector<Arc> laid_arcs(const Placement& placement, std::span<const Cut> cuts);

// Nodes are the same when their names are. Requires: both of one scheme with the same options for
// keys. Errors: kInvalid when tokens depend on the nodes, so that there are no ranges to compare.
// Cost: O(arcs and cuts of both + nodes log nodes).
Result<PlacementDiff> diff(const PlacementSide& before, const PlacementSide& after);

}  // namespace cleave::ring
