// One node more, from a placement alone: a new snapshot without the points of everybody else.
//
//   before   |   a     | b |    a     |  c  |        whose arcs the joiner's points meet is hashed
//   joiner       ^                 ^                  again, to see where their points lie
//   after    | x | a   | b |  a | x |  c  |
//
// Pure. Threads: any.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

// What `place(spec, nodes)` gives, made from the placement of all nodes but the last. Requires:
// `before` is `place(spec, nodes but the last)`. Errors: as `place`. Cost: O(arcs + points of the
// joiner and of those whose arcs it meets), on circles where a node's points depend on that node
// alone and the first point at or above owns a token (vnode, murmur64a-vnode, java-vnode, named
// jedis, nginx consistent); otherwise as `place`.
Result<std::shared_ptr<const Placement>> place_joined(const Placement& before,
                                                      const SchemeSpec& spec,
                                                      std::span<const PlacedNode> nodes);

}  // namespace cleave::ring
