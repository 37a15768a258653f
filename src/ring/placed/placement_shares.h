// How much each node of a placement owns beside what its weight says.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ring/placed/placement_diff.h"
#include "ring/width.h"

namespace cleave::ring {

// What one node has. In tokens; the wanted ones of all nodes sum to all tokens.
struct NodeShare {
  Wide wanted = 0;  // by its weight; nothing for a draining node
  Wide owned = 0;
  std::uint32_t arcs = 0;  // neighbours of one owner are one

  // owned / wanted in millionths, rounded down; 1'000'000 is just right. 0 where nothing is wanted.
  std::uint64_t load_ppm() const {
    return wanted == 0 ? 0 : static_cast<std::uint64_t>(owned * 1'000'000 / wanted);
  }
};

// One for each node, in their order. Cost: O(nodes + arcs x log nodes).
std::vector<NodeShare> node_shares(const PlacementSide& side);

// The same of any ring, with cuts over it or not. Requires: as `shares_of` (shares.h).
std::vector<NodeShare> node_shares(std::span<const Node> nodes, std::span<const Arc> arcs);

// The highest load_ppm: with equal weights, the peak over the mean. Requires: a node.
std::uint64_t peak_ppm(const std::vector<NodeShare>& shares);

}  // namespace cleave::ring
