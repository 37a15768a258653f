// Shares in millionths, without overflow and without floating point.
#pragma once

#include <cstdint>

#include "base/wide.h"

namespace cleave {

inline constexpr std::uint64_t kMillion = 1'000'000;

// So many millionths of the amount, rounded down. Requires: the result fits.
constexpr std::uint64_t ppm_of(std::uint64_t amount, std::uint64_t ppm) {
  return static_cast<std::uint64_t>(Wide{amount} * ppm / kMillion);
}

// How far the amount is above the limit; 0 below it.
constexpr std::uint64_t above(std::uint64_t amount, std::uint64_t limit) {
  return amount > limit ? amount - limit : 0;
}

}  // namespace cleave
