// How evenly keys fall over the nodes of a placement.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ring/schemes/placement_diff.h"

namespace cleave::ring {

// Which keys went where.
struct KeySpread {
  std::vector<std::uint64_t> counts;  // of each node, in their order
  std::uint64_t placed = 0;           // their sum
  std::uint64_t unplaced = 0;         // keys that the peer refuses or spreads round robin
};

// Cost: O(keys).
KeySpread spread_of(const PlacementSide& side, std::span<const std::string> keys);

// Pearson's test of counts against expected numbers (Philosophical Magazine 50, 1900).
struct ChiSquare {
  double value = 0;
  std::uint64_t degrees = 0;  // of freedom: one less than there are numbers
  // How far the value is above the mean of its distribution, in standard deviations: below 3 the
  // differences are those of chance.
  double sigma = 0;
};

// For reports. Requires: as many counts as expected numbers, all of those above 0.
ChiSquare chi_square(std::span<const std::uint64_t> counts, std::span<const double> expected);

// Keys for samples: decimal numbers of up to 18 digits, which every scheme can place.
std::vector<std::string> sample_keys(std::uint64_t seed, std::size_t count);

}  // namespace cleave::ring
