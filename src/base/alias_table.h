// AliasTable: draws places with given probabilities, at the same cost however many and however
// uneven (Walker 1977, built as in Vose 1991). Integers only: the probabilities are exact.
//
// Threads: immutable after construction; share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"

namespace cleave {

class AliasTable {
 public:
  // Each place is drawn in proportion to its weight. Requires: 1 .. 2^32 - 2 weights; their sum is
  // above 0 and, times their number, below 2^96. Cost: O(weights) time, 16 bytes a weight.
  explicit AliasTable(std::span<const std::uint64_t> weights);

  // Cost: about 10 ns and a cache miss. The same random numbers give the same places.
  std::size_t draw(Rng& rng) const {
    const auto at = static_cast<std::size_t>(rng.below(places_.size()));
    return rng.next() <= places_[at].threshold ? at : places_[at].alias;
  }

 private:
  struct Place {
    std::uint64_t threshold;  // up to it the place itself, above it the alias
    std::uint32_t alias;
  };

  std::vector<Place> places_;
};

}  // namespace cleave
