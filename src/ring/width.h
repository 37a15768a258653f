// Sizes of ranges. The whole ring has 2^64 tokens, one more than 64 bit can count.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "base/wide.h"
#include "ring/token_range.h"

namespace cleave::ring {

inline constexpr Wide kAllTokens = Wide{1} << 64U;

// How many tokens the range holds: 1 .. kAllTokens.
constexpr Wide width(const TokenRange& range) {
  CHECK(range.first <= range.last);
  return Wide{range.last.value()} - range.first.value() + 1;
}

// `tokens` of all tokens, in millionths, rounded down. Requires: tokens <= kAllTokens.
constexpr std::uint64_t ppm_of_all(Wide tokens) {
  CHECK(tokens <= kAllTokens);
  return static_cast<std::uint64_t>(tokens * 1'000'000 >> 64U);
}

}  // namespace cleave::ring
