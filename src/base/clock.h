// Time as a parameter: core code receives an Instant, shell code asks a Clock (or its net::Loop).
#pragma once

#include <chrono>
#include <cstdint>

#include "base/ids.h"

namespace cleave {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Monotonic time since an arbitrary start. Never compared between processes.
using Instant = std::chrono::nanoseconds;

// Wall time in milliseconds since 1970-01-01 UTC. For people and for TTLs; carries no safety.
using UnixMillis = Strong<struct UnixMillisTag, std::int64_t>;

// Threads: any.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  virtual UnixMillis wall_now() const = 0;
};

// The machine's own clocks.
class SystemClock final : public Clock {
 public:
  Instant now() const override;
  UnixMillis wall_now() const override;
};

}  // namespace cleave
