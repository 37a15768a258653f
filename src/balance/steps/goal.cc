#include "balance/steps/goal.h"

#include <algorithm>

#include "base/ppm.h"
#include "base/wide.h"

namespace cleave::balance {
namespace {

// The least n for which n^2 x requests reaches 10^12: 10^6 / sqrt(requests), at most 10^6.
std::uint32_t error_ppm(std::uint64_t requests) {
  std::uint32_t error = 0;
  for (std::uint32_t bit = 1U << 19U; bit > 0; bit >>= 1U) {
    const Wide tried = error + bit;
    if (tried * tried * requests <= Wide{kMillion} * kMillion) error += bit;
  }
  return error;
}

std::uint32_t times_ppm(std::uint32_t left, std::uint32_t right) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(ppm_of(left, right), 0xFFFFFFFFU));
}

}  // namespace

Goal goal_of(std::uint64_t requests, std::uint32_t bound_ppm, Engaged engaged,
             const Constants& constants) {
  const std::uint64_t margin = std::uint64_t{error_ppm(requests)} * constants.stop_errors;
  const std::uint32_t wanted = engaged == Engaged::kHot
                                   ? constants.stop_least_ppm
                                   : static_cast<std::uint32_t>(above(constants.goal_ppm, margin));
  const std::uint32_t stop =
      std::min(std::max(wanted, constants.stop_least_ppm), constants.stop_ppm);
  const std::uint32_t sink = stop - std::min(stop, constants.sink_ppm);
  return {.stop_ppm = std::max(stop, times_ppm(bound_ppm, constants.stop_bound_ppm)),
          .sink_ppm = std::max(sink, times_ppm(bound_ppm, constants.bound_slack_ppm))};
}

}  // namespace cleave::balance
