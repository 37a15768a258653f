// What differs between two rings: which ranges change hands.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "ring/token_range.h"
#include "ring/view/view.h"

namespace cleave::ring {

// The range belonged to `from` and belongs to `to`.
struct Change {
  TokenRange range;
  NodeId from;
  NodeId to;

  friend bool operator==(const Change&, const Change&) = default;
};

// Sorted by token, neighbours with the same ends joined. Cost: O(entries of both).
std::vector<Change> diff(const RingView& before, const RingView& after);

// The share of all tokens that changes hands, in millionths.
std::uint64_t moved_ppm(const std::vector<Change>& changes);

}  // namespace cleave::ring
