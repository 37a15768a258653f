// Rings whose nodes come, go and change their weights, each made from the one before: as
// ring/schemes/placement_builder.h, with cuts, racks and datacenters.
//
// Threads: one owner; the rings are immutable and belong to whoever holds them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "ring/placed/placed_ring.h"
#include "ring/schemes/placement_builder.h"

namespace cleave::ring {

// Invariant: `ring()` is what the same changes of a PlacedRing (`with_node` and so on) give.
class PlacedRingBuilder {
 public:
  // Cost: as `place`.
  static Result<PlacedRingBuilder> start(PlacedRing ring);

  const PlacedRing& ring() const { return ring_; }

  // Each makes the next ring; on an error nothing changes. Errors: as the changes of a PlacedRing.
  // Cost: as PlacementBuilder, and O(nodes + cuts log cuts).
  Result<void> add(const RingNode& node);
  Result<void> remove(std::string_view name);
  Result<void> set_weight(std::string_view name, std::uint32_t weight);

 private:
  PlacedRingBuilder(PlacedRing ring, PlacementBuilder builder)
      : ring_(std::move(ring)), builder_(std::move(builder)) {}

  PlacedRing ring_;
  PlacementBuilder builder_;
};

}  // namespace cleave::ring
