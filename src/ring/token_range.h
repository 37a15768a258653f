// Ranges of tokens and small set operations on them.
//
// Threads: values; no shared state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/result.h"

namespace cleave::ring {

inline constexpr Token kFirstToken{0};
inline constexpr Token kLastToken{std::numeric_limits<std::uint64_t>::max()};

// Both ends inclusive, first <= last. A range never wraps: the wrapping one is stored as two, so
// "contains", "cut" and "size" have no special case.
struct TokenRange {
  Token first;
  Token last;

  constexpr bool contains(Token token) const { return first <= token && token <= last; }
  constexpr bool overlaps(const TokenRange& other) const {
    return first <= other.last && other.first <= last;
  }
  friend constexpr auto operator<=>(const TokenRange&, const TokenRange&) = default;
};

// The tokens in both. Requires: they overlap.
constexpr TokenRange common(const TokenRange& left, const TokenRange& right) {
  CHECK(left.overlaps(right));
  return {std::max(left.first, right.first), std::min(left.last, right.last)};
}

// Sorted by `first`, disjoint; neighbours that touch are joined. The canonical form of a set.
using RangeSet = std::vector<TokenRange>;

// Any list of ranges in canonical form. Cost: O(n log n).
RangeSet normalised(std::vector<TokenRange> ranges);

// Requires: `set` in canonical form. Cost: O(log n).
bool contains(const RangeSet& set, Token token);

// True when some token is in both. Requires: canonical forms. Cost: O(n + m).
bool overlap(const RangeSet& left, const RangeSet& right);

// The tokens of `left` that are not in `right`, canonical. Requires: canonical forms.
RangeSet difference(const RangeSet& left, const RangeSet& right);

// The tokens of `range` that are not in `set`, canonical. Requires: canonical form. Cost: O(log n +
// ranges of the set that it meets), where `difference` would read all of the set.
RangeSet outside(const TokenRange& range, const RangeSet& set);

// Share of the whole token space in millionths (1'000'000 = everything), rounded down.
std::uint64_t share_ppm(const RangeSet& set);

// "00c0ffee00000000": 16 lower-case hexadecimal digits. 64 bit does not survive a JSON double.
std::string to_hex(Token token);

// The inverse; also takes a leading "0x" and fewer digits. Errors: kInvalid, names the text.
Result<Token> parse_token(std::string_view text);

// As people read it and orders take it: "first-last" in hexadecimal, both inside.
std::string to_string(const TokenRange& range);

}  // namespace cleave::ring
