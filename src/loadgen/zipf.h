// Zipf: ranks 0, 1, 2 ... drawn with probability proportional to 1 / (rank + 1)^exponent.
//
// Exponent 0 is uniform. Drawn from an alias table (base/alias_table.h), which takes any exponent
// and any number of ranks at the same cost, and whose probabilities are exact integers that a
// demonstration can compute its bounds from.
//
// Threads: immutable after construction; share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/alias_table.h"
#include "base/rng.h"
#include "base/wide.h"

namespace cleave::loadgen {

class Zipf {
 public:
  // Requires: ranks > 0. Cost: O(ranks) time, 24 bytes a rank.
  Zipf(std::size_t ranks, std::uint32_t exponent_thousandths);

  // Cost: about 10 ns and two cache misses. The same random numbers give the same ranks.
  std::size_t draw(Rng& rng) const { return places_->draw(rng); }

  std::size_t ranks() const { return weights_.size(); }
  // Probability of the rank in units of 2^-64, rounded down (one rank alone: 2^64 - 1).
  std::uint64_t share(std::size_t rank) const;

 private:
  std::vector<std::uint64_t> weights_;
  Wide total_ = 0;
  std::optional<AliasTable> places_;  // once the weights are known
};

}  // namespace cleave::loadgen
