#include "rehearse/oscillations.h"

#include <algorithm>

namespace cleave::rehearse {

void Oscillations::moved(const balance::PlannedMove& move, seconds at) {
  std::erase_if(moves_, [&](const Past& past) { return at - past.at > kWithin; });
  const bool back = std::ranges::any_of(moves_, [&](const Past& past) {
    return past.move.source == move.destination && past.move.destination == move.source &&
           ring::overlap(past.move.ranges, move.ranges);
  });
  if (back) ++count_;
  moves_.push_back({.move = move, .at = at});
}

void Oscillations::cuts_changed(const ring::Document& document, By by, seconds at) {
  std::set<Token> now;
  for (const ring::Cut& cut : document.cuts) {
    now.insert(cut.range.first);
    if (cut.range.last < ring::kLastToken) now.insert(Token{cut.range.last.value() + 1});
  }
  for (const auto& [token, since] : boundaries_) {
    if (!now.contains(token) && by == By::kMerge) merged_[token] = since;
  }
  std::erase_if(boundaries_, [&](const auto& each) { return !now.contains(each.first); });
  for (const Token token : now) {
    if (!boundaries_.emplace(token, at).second) continue;
    const auto before = merged_.find(token);
    if (before == merged_.end()) continue;
    if (at - before->second <= kWithin) ++count_;
    merged_.erase(before);
  }
}

}  // namespace cleave::rehearse
