#include "heat/script_marks.h"

#include <utility>

#include "base/check.h"

namespace cleave::heat {

std::vector<ScriptMark> ScriptMarks::take(Instant now) {
  std::vector<ScriptMark> marks;
  if (!any_ && seen_.empty()) return marks;
  if (seen_.empty()) seen_.assign(kScriptBuckets, Instant{0});
  any_ = false;
  turn_ = (turn_ + 1) % kTurns;
  for (std::size_t bucket = 0; bucket < kScriptBuckets; ++bucket) {
    const bool noted = (noted_[bucket / 64U] >> (bucket % 64U) & 1U) != 0;
    if (noted) seen_[bucket] = now;
    if (seen_[bucket] == Instant{0} || (!noted && bucket % kTurns != turn_)) continue;
    const nanoseconds age = now - seen_[bucket];
    CHECK(age >= nanoseconds{0});
    if (age > kScriptMemory) continue;
    marks.push_back(
        {.bucket = static_cast<std::uint16_t>(bucket),
         .age_s = static_cast<std::uint32_t>(std::chrono::duration_cast<seconds>(age).count())});
  }
  noted_ = {};
  return marks;
}

}  // namespace cleave::heat
