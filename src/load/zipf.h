// Zipf: ranks 0, 1, 2 ... drawn with probability proportional to 1 / (rank + 1)^exponent.
//
// Exponent 0 is uniform. Drawn from an alias table (Walker 1977, built as in Vose 1991), which
// takes any exponent and any number of ranks at the same cost, and whose probabilities are exact
// integers that a demonstration can compute its bounds from.
//
// Threads: immutable after construction; share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "base/wide.h"

namespace cleave::load {

class Zipf {
 public:
  // Requires: ranks > 0. Cost: O(ranks) time, 20 bytes a rank.
  Zipf(std::size_t ranks, std::uint32_t exponent_thousandths);

  // Cost: about 10 ns and two cache misses. The same random numbers give the same ranks.
  std::size_t draw(Rng& rng) const;

  std::size_t ranks() const { return weights_.size(); }
  // Probability of the rank in units of 2^-64, rounded down (one rank alone: 2^64 - 1).
  std::uint64_t share(std::size_t rank) const;

 private:
  void build_alias();

  std::vector<std::uint64_t> weights_;
  Wide total_ = 0;
  // A place is drawn evenly; then its own rank below `threshold`, else its alias.
  std::vector<std::uint64_t> thresholds_;
  std::vector<std::uint32_t> aliases_;
};

}  // namespace cleave::load
