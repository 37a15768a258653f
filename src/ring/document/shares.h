// How much of the ring each node should own by its weight, and how much it does.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "ring/arc_table.h"
#include "ring/document/document.h"
#include "ring/width.h"

namespace cleave::ring {

// In tokens.
struct Share {
  NodeId node;
  Wide wanted = 0;
  Wide owned = 0;

  Wide excess() const { return owned > wanted ? owned - wanted : 0; }
  Wide deficit() const { return wanted > owned ? wanted - owned : 0; }

  // Whether `owned` is within so many thousandths of `wanted`; a draining node must own nothing.
  bool even(std::uint64_t per_mille) const {
    return (excess() + deficit()) * 1'000 <= wanted * per_mille;
  }
};

// One for each node, in their order. Draining nodes want nothing; the wanted shares sum to all
// tokens. Requires: `arcs` covers everything, its nodes are known; one node is active.
// Cost: O(nodes + arcs x log nodes).
std::vector<Share> shares_of(std::span<const Node> nodes, std::span<const Arc> arcs);

}  // namespace cleave::ring
