// How evenly keys fall over the nodes of a placement.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ring/placed/placement_diff.h"

namespace cleave::ring {

// Which keys went where.
struct KeySpread {
  std::vector<std::uint64_t> counts;  // of each node, in their order
  std::uint64_t placed = 0;           // their sum
  std::uint64_t unplaced = 0;         // keys that the peer refuses or spreads round robin
};

// Cost: O(keys).
KeySpread spread_of(const PlacementSide& side, std::span<const std::string> keys);

// Keys for samples: decimal numbers of up to 18 digits, which every scheme can place.
std::vector<std::string> sample_keys(std::uint64_t seed, std::size_t count);

}  // namespace cleave::ring
