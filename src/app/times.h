// Times as people write them. Always UTC: a pool has one clock, and daylight saving would shift or
// double an hour.
//
// Pure. Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace cleave::app {

inline constexpr std::int64_t kDayMs = 86'400'000;

// "500ms", "90s", "15m", "2h", "7d": a whole number and its unit. Errors: kInvalid, also above
// 10 years.
Result<milliseconds> parse_duration(std::string_view text);

// "2026-11-27". Errors: kInvalid.
Result<UnixMillis> parse_date(std::string_view text);

// "2026-11-27T08:00:00Z" (RFC 3339; the seconds may be left out), "now", or "+2h" from `now` on.
// Errors: kInvalid.
Result<UnixMillis> parse_time(std::string_view text, UnixMillis now);

// "2026-11-27 08:00:00Z".
std::string to_text(UnixMillis time);

}  // namespace cleave::app
