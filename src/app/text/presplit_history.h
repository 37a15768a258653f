// Recorded heat made into an event to come: "expect what there was last Friday evening, and half as
// much again".
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/admin_client.h"
#include "base/clock.h"
#include "base/result.h"

namespace cleave::app {

// Hours of a day that was, and what to make of them.
struct Replay {
  UnixMillis day = {};           // its midnight
  std::uint32_t from_hour = 0;   // 0..23
  std::uint32_t until_hour = 0;  // 1..24, above from_hour
  std::uint32_t scale_ppm = 1'000'000;
  milliseconds lead{3'600'000};

  UnixMillis from() const;
  UnixMillis until() const;
};

// "20-22": two whole hours, UTC. Errors: kInvalid.
Result<void> read_hours(std::string_view text, Replay& replay);

// "1.5". Errors: kInvalid, also outside of 0.01 .. 100.
Result<std::uint32_t> parse_scale(std::string_view text);

// The list `events` of POST /presplit: one event at the same hours of today, or of tomorrow where
// they are over today. Each strip of the ring is expected to carry the most that it carried in any
// recorded interval: what is cut must hold for all of the window, and a mean would hide the minutes
// that hurt. The strips need not have had their most together, so the sum may be above what there
// ever was. `history` is the answer of GET /heat?from=..&to=... Errors: kNotFound when nothing was
// recorded then.
Result<Json> events_of(const Json& history, const Replay& replay, UnixMillis now);

}  // namespace cleave::app
