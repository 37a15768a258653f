#include "ring/token_index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace cleave::ring {
namespace {

// Steps of the radix index for each range: with two, most steps hold at most one boundary.
constexpr std::size_t kStepsPerRange = 2;

// More ranges than this in one step (a finely cut hot range): search by halves.
constexpr std::uint32_t kScanMax = 8;

constexpr std::size_t kRangesMax = std::size_t{1} << 31U;

}  // namespace

TokenIndex::TokenIndex(std::vector<Token> firsts) : firsts_(std::move(firsts)) {
  CHECK(!firsts_.empty() && firsts_.size() <= kRangesMax && firsts_.front() == Token{0});
  const std::size_t steps = std::bit_ceil(firsts_.size() * kStepsPerRange);
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(steps));
  radix_.reserve(steps + 1);
  std::uint32_t at = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Token first{step << shift_};
    while (at + 1 < firsts_.size() && firsts_[at + 1] <= first) ++at;
    radix_.push_back(at);
  }
  // One step past the end, so that `find` reads the end of a step as the start of the next.
  radix_.push_back(static_cast<std::uint32_t>(firsts_.size()) - 1);
}

std::uint32_t TokenIndex::find(Token token) const {
  const std::size_t step = token.value() >> shift_;
  std::uint32_t at = radix_[step];
  const std::uint32_t end = radix_[step + 1];  // the last range that can hold the token
  if (end - at > kScanMax) {
    const auto begin = firsts_.begin();
    const auto above = std::upper_bound(begin + at + 1, begin + end + 1, token);
    return static_cast<std::uint32_t>(above - begin) - 1;
  }
  while (at < end && firsts_[at + 1] <= token) ++at;
  return at;
}

}  // namespace cleave::ring
