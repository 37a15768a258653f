// Rhythm: when a world is busy and when it is quiet.
//
//   |#####|----------------|#####|----------------|#####|--
//    burst     quiet
//
// A world lives for a minute and more, so that leases, timeouts and long outages have their time,
// but only in the bursts do clients, moves and faults come thick.
//
// Threads: values.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace cleave::sim {

struct Rhythm {
  nanoseconds burst = milliseconds{800};
  nanoseconds period = milliseconds{10'000};

  // How long it is until the next burst; 0: now is one.
  nanoseconds quiet_left(Instant now) const {
    const nanoseconds within = now % period;
    return within < burst ? nanoseconds{0} : period - within;
  }
  bool busy(Instant now) const { return quiet_left(now) == nanoseconds{0}; }
  // A wait of that length in a burst; in quiet times a wait of `quiet`, but not past the next one.
  nanoseconds wait(Instant now, nanoseconds in_burst, nanoseconds quiet) const {
    const nanoseconds left = quiet_left(now);
    return left == nanoseconds{0} ? in_burst : std::min(std::max(quiet, in_burst), left + in_burst);
  }
};

}  // namespace cleave::sim
