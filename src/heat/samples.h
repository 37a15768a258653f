// The samples of about the last 30 s: the shape of the load, at the resolution of single tokens.
//
// Newer ones count more (a linear taper), so that a hot set that has moved on is soon forgotten.
// Memory: at most 8,192 tokens for each of 15 ticks. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "heat/picture.h"
#include "heat/report.h"
#include "heat/series.h"
#include "ring/token_range.h"

namespace cleave::heat {

// Tokens with weights, ready to be asked for any range. Cost of a question: O(log tokens).
class Shape {
 public:
  Shape() = default;
  // Requires: sorted by token, each token once.
  explicit Shape(std::vector<TokenLoad> tokens);

  std::span<const TokenLoad> tokens() const { return tokens_; }
  std::span<const TokenLoad> tokens_in(const ring::TokenRange& range) const;
  std::uint64_t load_in(const ring::TokenRange& range) const;
  std::uint64_t samples_in(const ring::TokenRange& range) const;

  // Which part of the load of `whole` lies in `piece`: by samples where there are enough of them,
  // else by width (tokens are hashes: keys lie evenly). Requires: `piece` within `whole`.
  Fraction share(const ring::TokenRange& piece, const ring::TokenRange& whole) const;

 private:
  std::size_t at(Token token) const;  // the first that is not below

  std::vector<TokenLoad> tokens_;
  std::vector<std::uint64_t> loads_before_;  // prefix sums, one more than tokens
  std::vector<std::uint64_t> samples_before_;
};

// The samples as they come, by tick.
class SampleBook {
 public:
  static constexpr std::size_t kTicks = 15;  // 30 s at a tick of 2 s
  static constexpr std::size_t kTokensPerTick = 8'192;

  // Each sample stands for `thinning` requests like it.
  void add(std::span<const Sample> samples, std::uint32_t thinning);

  // What was added since the last tick becomes the newest of the kept ones.
  void tick();

  // Forgets all but the newest ticks: the load has changed since.
  void keep_ticks(std::size_t count) {
    if (closed_.size() > count) closed_.resize(count);
  }

  // All kept ticks, weighted. Loads are relative to each other only. Cost: O(n log n).
  Shape shape() const;

 private:
  std::vector<TokenLoad> open_;
  std::deque<std::vector<TokenLoad>> closed_;  // newest first; each sorted, each token once
};

}  // namespace cleave::heat
