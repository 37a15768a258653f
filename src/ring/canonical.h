// Whether a set of ranges is in its canonical form (ring/token_range.h).
//
// Pure. Threads: values.
#pragma once

#include <cstddef>

#include "ring/token_range.h"

namespace cleave::ring {

// Sorted, disjoint, no two that touch, none that ends before it begins. Cost: O(n).
inline bool is_canonical(const RangeSet& set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i].last < set[i].first) return false;
    if (i == 0) continue;
    const Token before = set[i - 1].last;
    if (set[i].first <= before || set[i].first.value() - 1 == before.value()) return false;
  }
  return true;
}

}  // namespace cleave::ring
