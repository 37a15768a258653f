// ScriptBook: what the leader knows of where scripts and functions named keys in the last seven
// days (heat/script_marks.h), from all routers.
//
// Routers forget it when they end, so a leader that has not watched for all of that time may not
// know all of it. Where the servers' own counters show that scripts were run, such a leader takes
// any range for one that they may have named.
//
// Pure. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "heat/script_marks.h"
#include "ring/token_range.h"

namespace cleave::control {

// Whether scripts ran on a server of the pool since it started, by its own counters.
enum class ScriptsRan : std::uint8_t { kNo, kYes };

class ScriptBook {
 public:
  enum class Named : std::uint8_t { kNo, kPerhaps, kYes };

  // Since when this leader has watched.
  explicit ScriptBook(Instant since) : since_(since) {}

  void take(std::span<const heat::ScriptMark> marks, Instant now);
  // Whether scripts have named keys of these ranges: those of a bucket that they overlap. kPerhaps:
  // nobody knows any more.
  Named named(const ring::RangeSet& ranges, ScriptsRan ran, Instant now) const;

 private:
  bool marked(const ring::RangeSet& ranges, Instant now) const;

  Instant since_;
  std::vector<Instant> seen_;  // by bucket; empty: none ran; 0: not there
};

}  // namespace cleave::control
