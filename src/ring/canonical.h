// What is assumed of ranges: a set in its canonical form (ring/token_range.h), and disjoint ones.
//
// Pure. Threads: values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

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

// Whether no token is in two of them. Requires: sorted by `range`. Cost: O(n).
template <class Ranged>
bool are_disjoint(const std::vector<Ranged>& sorted) {
  return std::ranges::adjacent_find(sorted, [](const Ranged& left, const Ranged& right) {
           return left.range.overlaps(right.range);
         }) == sorted.end();
}

}  // namespace cleave::ring
