// What the last calls to the coordinator showed of it, for the screen, the metrics and the log.
#pragma once

#include <cstdint>

namespace cleave::control {

enum class CoordinatorState : std::uint8_t {
  kOk,
  kAway,          // it does not answer
  kReadOnly,      // it answers, and takes no writes: a full disk, etcd's space quota
  kRingUnusable,  // what it holds: a newer cleave's ring, or an older one than was there before
};

}  // namespace cleave::control
