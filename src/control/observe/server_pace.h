// What one second of a server's answers says to whoever paces copies.
#pragma once

#include "base/clock.h"

namespace cleave::control {

// One server's round trips of the last second, and what they were while no move touched it.
struct ServerPace {
  nanoseconds p99{0};
  nanoseconds baseline{0};  // 0: not known
};

}  // namespace cleave::control
