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

#include "balance/input/input.h"
#include "base/wide.h"
#include "ring/token_range.h"

namespace cleave::balance {

// What of a node's keys lies in one range.
struct Slice {
  ring::TokenRange range;
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  Wide variance = 0;  // of the bytes, because only some of the keys are known
};

// The largest number whose square is at most this. Cost: 64 steps.
std::uint64_t square_root(Wide square);

class Stock {
 public:
  // `ranges`: disjoint, in token order, of the node; `sample` of all that the node holds, sorted by
  // token: `keys` and `bytes` in all. Cost: O((ranges + sample) log).
  Stock(const std::vector<ring::TokenRange>& ranges, std::span<const KeySample> sample,
        std::uint64_t keys, std::uint64_t bytes);

  // In token order.
  std::span<const Slice> slices() const { return slices_; }

  // Of the parts of the range that lie in the stock's ranges. Cost: O(log slices).
  std::uint64_t keys_in(const ring::TokenRange& range) const;
  std::uint64_t bytes_in(const ring::TokenRange& range) const;
  // Of the bytes.
  Wide variance_in(const ring::TokenRange& range) const;

 private:
  // Ranges that share one number of samples.
  struct Cell {
    std::vector<ring::TokenRange> ranges = {};
    std::uint64_t samples = 0;
    Wide weight = 0;  // of the samples, in millionths
    Wide bytes = 0;   // times weight
    Wide variance = 0;
  };

  void add_range(const ring::TokenRange& range, std::span<const KeySample> inside);
  void add_token(Token token, const Cell& same);
  void count(Cell& cell, const KeySample& sample) const;
  bool own_slice(const Cell& same) const;
  bool most_are_known() const;
  void close_cell(const ring::TokenRange& range);
  void spread_cells();
  template <class Amount>
  Amount below(Token token, Amount Slice::* amount, const std::vector<Amount>& before) const;
  template <class Amount>
  Amount inside(const ring::TokenRange& range, Amount Slice::* amount,
                const std::vector<Amount>& before) const;

  std::uint64_t keys_;
  std::uint64_t bytes_;
  std::size_t samples_;
  Wide weight_ = 0;         // of all samples, in millionths
  Wide sampled_bytes_ = 0;  // times weight
  std::vector<Cell> cells_;
  std::vector<Slice> slices_;
  std::vector<std::uint64_t> keys_before_;  // prefix sums, one more than slices
  std::vector<std::uint64_t> bytes_before_;
  std::vector<Wide> variance_before_;
};

}  // namespace cleave::balance
