// Evening the ownership of a new ring by a few cuts, while that costs nothing: no key exists yet.
//
// 128 points for each unit of weight leave the nodes' shares about 9 % apart (one standard
// deviation); the load of a uniform key set would differ as much.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "ring/arc_table.h"
#include "ring/document/document.h"

namespace cleave::ring {

// How far a node's share may be from its weight's share of the ring, as parts of the latter.
inline constexpr std::uint64_t kEvenPerMille = 15;

// Cuts, sorted and disjoint, that leave every active node of `nodes` within `kEvenPerMille` of its
// weight's share. None where the base is that even already. At most a few for each node that is
// out of bounds: always the most uneven pair meets, largest arcs first.
// Requires: `base` is the base of `nodes`. Cost: O(cuts x (nodes + arcs)).
std::vector<Cut> even_cuts(std::span<const Node> nodes, std::span<const Arc> base, UnixMillis now);

}  // namespace cleave::ring
