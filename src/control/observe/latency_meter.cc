#include "control/observe/latency_meter.h"

#include <algorithm>

#include "base/check.h"

namespace cleave::control {

std::optional<ServerPace> LatencyMeter::end_second(During during) {
  if (samples_.empty()) return std::nullopt;
  const std::size_t rank = (samples_.size() * 99 + 99) / 100 - 1;
  CHECK(rank < samples_.size());
  const auto at = samples_.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(samples_, at);
  const nanoseconds p99 = *at;
  samples_.clear();
  if (during == During::kQuiet)
    baseline_ = baseline_ == nanoseconds{0} ? p99 : (7 * baseline_ + p99) / 8;
  return ServerPace{.p99 = p99, .baseline = baseline_};
}

}  // namespace cleave::control
