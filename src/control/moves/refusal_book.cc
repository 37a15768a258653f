#include "control/moves/refusal_book.h"

#include <algorithm>

#include "base/check.h"

namespace cleave::control {

milliseconds RefusalBook::note(const Refused& refused, Instant now) {
  CHECK(refused.node != NodeId{} && !refused.words.empty());
  Entry& entry = entries_[{refused.node, refused.end}];
  entry.rest = entry.rest == milliseconds{0} ? kFirst : std::min(entry.rest * 2, kMost);
  CHECK(entry.rest >= kFirst && entry.rest <= kMost);
  entry.words = refused.words;
  entry.until = now + entry.rest;
  return entry.rest;
}

std::string RefusalBook::words(NodeId node, backend::End end, Instant now) const {
  const auto found = entries_.find({node, end});
  return found == entries_.end() || found->second.until <= now ? "" : found->second.words;
}

}  // namespace cleave::control
