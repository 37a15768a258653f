// What moves from one placement to another, and how little could: by tokens, which is exact, where
// both have the same tokens; else by keys.
//
// Pure. Threads: values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "ring/placed/placement_diff.h"
#include "ring/width.h"

namespace cleave::ring {

// What goes from one node to another one.
struct Flow {
  NodeId from;
  NodeId to;
  Wide amount = 0;

  friend bool operator==(const Flow&, const Flow&) = default;
};

// Amounts are tokens or keys. NodeId{i + 1} is names[i]: those of after, then those only in before.
struct PlacementMoves {
  std::vector<std::string> names;
  std::vector<Wide> before;  // of a name
  std::vector<Wide> after;
  std::vector<Flow> flows;  // the largest first
  Wide total = 0;
  Wide moved = 0;
  // No way from these shares to those moves less: what the nodes gain that gain.
  Wide least = 0;

  // Of `total`, in millionths, rounded down. Requires: something lies somewhere.
  std::uint64_t ppm(Wide amount) const {
    CHECK(total > 0);
    return static_cast<std::uint64_t>(amount * 1'000'000 / total);
  }
};

// Errors: those of `diff`. Cost: O(arcs x log nodes).
Result<PlacementMoves> moves_by_tokens(const PlacementSide& before, const PlacementSide& after);

// Keys that one of the two has no place for do not count. Errors: kInvalid when that is every key.
// Cost: O(keys x log nodes).
Result<PlacementMoves> moves_by_keys(const PlacementSide& before, const PlacementSide& after,
                                     std::span<const std::string> keys);

}  // namespace cleave::ring
