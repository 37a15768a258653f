#include "base/clock.h"

namespace cleave {

Instant SystemClock::now() const { return std::chrono::steady_clock::now().time_since_epoch(); }

UnixMillis SystemClock::wall_now() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return UnixMillis{std::chrono::duration_cast<milliseconds>(since).count()};
}

}  // namespace cleave
