// Daily windows: when the balancer may begin moves on its own. In UTC, because a fleet has one
// clock and daylight saving would open a window twice or never.
//
//   {22:00 - 06:00}      ======|.........................|======     wraps midnight
//                         06:00                     22:00
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace cleave::balance {

// Minutes since midnight, 0 to 1439. `until` is not part of it; below `from` it is the next day's;
// equal to it the window is the whole day.
struct DailyWindow {
  std::uint32_t from = 0;
  std::uint32_t until = 0;

  friend bool operator==(const DailyWindow&, const DailyWindow&) = default;
};

// "22:00-06:00". Errors: kInvalid.
Result<DailyWindow> parse_window(std::string_view text);
std::string to_string(const DailyWindow& window);

// Whether one of them is open; without any, always.
bool is_open(std::span<const DailyWindow> windows, UnixMillis now);

// When the next one opens; `now` where one is open.
UnixMillis opens_at(std::span<const DailyWindow> windows, UnixMillis now);

}  // namespace cleave::balance
