// Which of many ranges holds a token? A radix index over ranges that cover all tokens.
//
//   tokens   0 .......................................... 2^64-1
//   ranges   |   0   | 1 | 2 |      3        | 4 |    5    |
//   steps    |         |         |         |         |        equal parts, by the top bits
//
// Immutable. Threads: any, read-only. Cost: `find` O(1) expected when the ranges' ends are spread
// like hashes, O(log n) for ranges that crowd in one step; no allocation. Memory: 14 to 20 bytes a
// range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"

namespace cleave::ring {

class TokenIndex {
 public:
  // Finds nothing; only to be assigned to.
  TokenIndex() = default;

  // The first token of every range. Requires: ascending, the first of all is 0, 1 to 2^31 ranges.
  explicit TokenIndex(std::vector<Token> firsts);

  // The position of the range that holds the token.
  std::uint32_t find(Token token) const {
    const std::size_t step = token.value() >> shift_;
    const std::uint32_t at = radix_[step];
    const std::uint32_t end = radix_[step + 1];  // the last range that can hold the token
    if (end - at > kCompared || at >= searched_from_) return search(at, end, token);
    // How many ranges begin at or below the token, counted without a branch: which of so few it is
    // cannot be predicted, and a wrong guess costs more than all three comparisons. What begins
    // after `end` is above the token.
    std::uint32_t found = at;
    for (std::uint32_t i = 1; i <= kCompared; ++i) found += firsts_[at + i] <= token ? 1U : 0U;
    return found;
  }

  // The first range that may hold the token: `find` gives it or one shortly after it. For those who
  // want to read beside it early.
  std::uint32_t find_about(Token token) const { return radix_[token.value() >> shift_]; }

  // Calls memory for what `find` reads of the token first, and, when that is there, for the rest.
  void fetch_first(Token token) const { __builtin_prefetch(&radix_[token.value() >> shift_]); }
  void fetch_rest(Token token) const {
    // The ranges that `find` compares begin one after the first that may hold the token.
    const std::size_t compared = std::size_t{find_about(token)} + 1;
    __builtin_prefetch(firsts_.data() + compared);
  }

  // The first token of every range, as given.
  std::span<const Token> firsts() const { return firsts_; }

 private:
  // Ranges after the first one of a step that `find` compares in any case.
  static constexpr std::uint32_t kCompared = 3;

  std::uint32_t search(std::uint32_t at, std::uint32_t end, Token token) const;

  std::vector<Token> firsts_;
  std::vector<std::uint32_t> radix_;  // top bits -> first range that can hold them; one step more
  std::uint32_t searched_from_ = 0;   // fewer than kCompared ranges follow on these
  unsigned shift_ = 63;
};

}  // namespace cleave::ring
