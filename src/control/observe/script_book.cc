#include "control/observe/script_book.h"

#include <algorithm>

#include "base/check.h"

namespace cleave::control {

void ScriptBook::take(std::span<const heat::ScriptMark> marks, Instant now) {
  if (marks.empty()) return;
  if (seen_.empty()) seen_.assign(heat::kScriptBuckets, Instant{0});
  for (const heat::ScriptMark& mark : marks) {
    if (mark.bucket >= seen_.size()) continue;
    // Before this machine was up there is no Instant; such an age counts from its start.
    const Instant then = std::max(now - seconds{mark.age_s}, Instant{1});
    seen_[mark.bucket] = std::max(seen_[mark.bucket], then);
  }
}

ScriptBook::Named ScriptBook::named(const ring::RangeSet& ranges, ScriptsRan ran,
                                    Instant now) const {
  if (marked(ranges, now)) return Named::kYes;
  return ran == ScriptsRan::kYes && now - since_ < heat::kScriptMemory ? Named::kPerhaps
                                                                       : Named::kNo;
}

bool ScriptBook::marked(const ring::RangeSet& ranges, Instant now) const {
  if (seen_.empty()) return false;
  CHECK(seen_.size() == heat::kScriptBuckets);
  return std::ranges::any_of(ranges, [&](const ring::TokenRange& range) {
    CHECK(range.first <= range.last);
    for (std::size_t bucket = heat::script_bucket(range.first);
         bucket <= heat::script_bucket(range.last); ++bucket) {
      if (seen_[bucket] != Instant{0} && now - seen_[bucket] <= heat::kScriptMemory) return true;
    }
    return false;
  });
}

}  // namespace cleave::control
