// Stock: which of a node's stretches hold its keys and bytes, by a random sample of its keys.
//
//   sample   . .:   ::::  .     .  :        each point a key, with its bytes
//   slices   [    ][ ][|][       ][   ]     so many keys in each, evenly inside (an equi-depth
//                     ^                     histogram); a token that many keys share, or that holds
//                                           much of all bytes, is a slice of its own
//
// For the files of this folder. Pure. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/input.h"
#include "ring/token_range.h"

namespace cleave::balance {

// What of a node's keys lies in one range.
struct Slice {
  ring::TokenRange range;
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
};

class Stock {
 public:
  // `ranges`: disjoint, in token order, of the node; `sample` of all that the node holds: `keys`
  // and `bytes` in all. Cost: O((ranges + sample) log).
  Stock(const std::vector<ring::TokenRange>& ranges, std::span<const KeySample> sample,
        std::uint64_t keys, std::uint64_t bytes);

  // In token order.
  std::span<const Slice> slices() const { return slices_; }

  // Of the parts of the range that lie in the stock's ranges. Cost: O(log slices).
  std::uint64_t keys_in(const ring::TokenRange& range) const;
  std::uint64_t bytes_in(const ring::TokenRange& range) const;

 private:
  // Ranges that share one number of samples.
  struct Cell {
    std::vector<ring::TokenRange> ranges = {};
    std::uint64_t samples = 0;
    std::uint64_t bytes = 0;  // of the samples
  };

  void add_range(const ring::TokenRange& range, std::span<const KeySample> inside);
  void add_token(Token token, std::span<const KeySample> same);
  void close_cell(const ring::TokenRange& range);
  void spread_cells();
  std::uint64_t below(Token token, std::uint64_t Slice::* amount,
                      const std::vector<std::uint64_t>& before) const;

  std::uint64_t keys_;
  std::uint64_t bytes_;
  std::uint64_t samples_;
  std::uint64_t sampled_bytes_ = 0;
  std::vector<Cell> cells_;
  std::vector<Slice> slices_;
  std::vector<std::uint64_t> keys_before_;  // prefix sums, one more than slices
  std::vector<std::uint64_t> bytes_before_;
};

}  // namespace cleave::balance
