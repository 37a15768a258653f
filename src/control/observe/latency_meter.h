// LatencyMeter: one server's round trips, second by second, for whoever paces copies.
//
// Pure. Threads: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace cleave::control {

// One server's round trips of the last second, and what they were while no move touched it.
struct ServerPace {
  nanoseconds p99{0};
  nanoseconds baseline{0};  // 0: not known
};

// Turns one server's round trips into a ServerPace, second by second.
class LatencyMeter {
 public:
  enum class During : std::uint8_t { kQuiet, kMove };

  void add(nanoseconds round_trip) { samples_.push_back(round_trip); }
  // The percentile of what was added since the last call; nullopt: nothing was. Quiet seconds make
  // the baseline: an eighth of the newest, so that one bad second is not it.
  std::optional<ServerPace> end_second(During during);

 private:
  std::vector<nanoseconds> samples_;
  nanoseconds baseline_{0};
};

}  // namespace cleave::control
