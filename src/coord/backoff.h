// Backoff: delays between attempts, doubling, each drawn from its upper half, so that routers that
// lost a coordinator together do not come back together.
#pragma once

#include <algorithm>

#include "base/clock.h"
#include "base/rng.h"

namespace cleave::coord {

// Threads: one owner.
class Backoff {
 public:
  Backoff(milliseconds first, milliseconds max, std::uint64_t seed)
      : first_(first), max_(max), next_(first), rng_(seed) {}

  nanoseconds next() {
    const nanoseconds delay = next_;
    next_ = std::min(max_, next_ * 2);
    const auto half = static_cast<std::uint64_t>(delay.count()) / 2;
    return nanoseconds{static_cast<std::int64_t>(half + rng_.below(half + 1))};
  }
  void reset() { next_ = first_; }

 private:
  const milliseconds first_;
  const milliseconds max_;
  milliseconds next_;
  Rng rng_;
};

}  // namespace cleave::coord
