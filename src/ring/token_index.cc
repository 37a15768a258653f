#include "ring/token_index.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "base/check.h"

namespace cleave::ring {
namespace {

// The radix index has 1.5 to 3 steps a range, a power of two: then few steps hold more than one
// boundary, and all is at most 8 + 3 x 4 bytes a range.
constexpr std::size_t kStepsPerRangeMax = 3;

constexpr std::size_t kRangesMax = std::size_t{1} << 31U;

}  // namespace

TokenIndex::TokenIndex(std::vector<Token> firsts) : firsts_(std::move(firsts)) {
  CHECK(!firsts_.empty() && firsts_.size() <= kRangesMax && firsts_.front() == Token{0});
  CHECK(std::ranges::adjacent_find(firsts_, std::greater_equal{}) == firsts_.end());
  const auto ranges = static_cast<std::uint32_t>(firsts_.size());
  const std::size_t steps = std::bit_floor(ranges * kStepsPerRangeMax);
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(steps));
  // One step past the end, so that `find` reads the end of a step as the start of the next. Each
  // range is noted at the first step that begins within or after it, the last one of a step stays;
  // then steps without one take over what is before them.
  radix_.resize(steps + 1);
  for (std::uint32_t i = 1; i < ranges; ++i) {
    radix_[((firsts_[i].value() - 1) >> shift_) + 1] = i;
  }
  std::uint32_t at = 0;
  for (std::uint32_t& first : radix_) first = at = std::max(at, first);
  CHECK(radix_.back() == ranges - 1);
  if (ranges > kCompared) searched_from_ = ranges - kCompared;
}

std::uint32_t TokenIndex::search(std::uint32_t at, std::uint32_t end, Token token) const {
  const auto begin = firsts_.begin();
  const auto above = std::upper_bound(begin + at + 1, begin + end + 1, token);
  return static_cast<std::uint32_t>(above - begin) - 1;
}

}  // namespace cleave::ring
