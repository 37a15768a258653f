// Which of many ranges holds a token? A radix index over ranges that cover all tokens.
//
//   tokens   0 .......................................... 2^64-1
//   ranges   |   0   | 1 | 2 |      3        | 4 |    5    |
//   steps    |         |         |         |         |        equal parts, by the top bits
//
// Immutable. Threads: any, read-only. Cost: `find` O(1) expected when the ranges' ends are spread
// like hashes, O(log n) for ranges that crowd in one step; no allocation. Memory: 16 to 24 bytes a
// range.
#pragma once

#include <cstdint>
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
  std::uint32_t find(Token token) const;

 private:
  std::vector<Token> firsts_;
  std::vector<std::uint32_t> radix_;  // top bits -> first range that can hold them; one step more
  unsigned shift_ = 63;
};

}  // namespace cleave::ring
