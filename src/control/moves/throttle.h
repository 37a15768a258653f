// Throttle: bytes per second, as a bucket that may go into debt for one batch and then waits.
//
// Pure: time is an argument. Threads: one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace cleave::control {

class Throttle {
 public:
  // 0 = no limit. A quarter of a second's worth may be saved up.
  explicit Throttle(std::uint64_t bytes_per_second) : rate_(bytes_per_second) {}

  // How long to wait from `now` until the next batch may begin; 0: at once.
  nanoseconds wait(Instant now) const {
    return rate_ == 0 || free_at_ <= now ? nanoseconds{0} : free_at_ - now;
  }

  void spend(std::uint64_t bytes, Instant now) {
    if (rate_ == 0) return;
    const Instant saved = now - milliseconds{250};
    free_at_ = std::max(free_at_, saved) + nanoseconds{bytes * 1'000'000'000 / rate_};
  }

  std::uint64_t rate() const { return rate_; }
  void set_rate(std::uint64_t bytes_per_second) { rate_ = bytes_per_second; }

 private:
  std::uint64_t rate_;
  Instant free_at_{0};
};

}  // namespace cleave::control
