// CopyPace: how fast copies may be, so that clients of the two servers do not feel them.
//
//   no server slower than it was before:   rate + 1/16 of the maximum   each second
//   one of them is:                        rate / 2                     each second
//   never below 1/16 of the maximum: a move that stands still helps nobody
//
// Additive increase, multiplicative decrease (Chiu and Jain, 1989), on the 99th percentile: the
// copy shares a server's one thread with its clients, who wait behind each batch.
//
// Pure. Threads: one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "control/observe/latency_meter.h"

namespace cleave::control {

class CopyPace {
 public:
  static constexpr std::uint64_t kParts = 16;
  // Twice of very little is very little: nobody suffers below this.
  static constexpr nanoseconds kFine = milliseconds{5};

  // 0 = no limit, whatever clients feel.
  explicit CopyPace(std::uint64_t bytes_per_second_max)
      : max_(bytes_per_second_max), rate_(bytes_per_second_max) {}

  // Once a second, with the servers that moves touch.
  void step(const std::vector<ServerPace>& servers);

  std::uint64_t rate() const { return rate_; }  // bytes a second

 private:
  std::uint64_t max_;
  std::uint64_t rate_;
};

}  // namespace cleave::control
