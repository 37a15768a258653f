// Oscillations: work that undoes itself within an hour.
//
//   A -> B -> A        tokens that a move brings back to where an earlier one took them from
//   cut, merge, cut    a boundary that is laid again after it was merged away
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "balance/plan/plan.h"
#include "base/clock.h"
#include "ring/document/document.h"

namespace cleave::rehearse {

class Oscillations {
 public:
  static constexpr seconds kWithin{3'600};

  // A move was committed.
  void moved(const balance::PlannedMove& move, seconds at);
  // The document's cuts changed. `merged`: by a merge; else by a move or a cut.
  enum class By : std::uint8_t { kMerge, kOther };
  void cuts_changed(const ring::Document& document, By by, seconds at);

  // Moves that brought something back, and boundaries laid again.
  std::uint64_t count() const { return count_; }

 private:
  struct Past {
    balance::PlannedMove move;
    seconds at;
  };

  std::vector<Past> moves_;
  std::map<Token, seconds> boundaries_;  // that stand, and since when
  std::map<Token, seconds> merged_;      // boundaries merged away: when they had been laid
  std::uint64_t count_ = 0;
};

}  // namespace cleave::rehearse
