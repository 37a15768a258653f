// ScriptBook: what the leader knows of where scripts and functions named keys in the last seven
// days (heat/script_marks.h), from all routers.
//
// Pure. Threads: one owner.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/clock.h"
#include "heat/script_marks.h"
#include "ring/token_range.h"

namespace cleave::control {

class ScriptBook {
 public:
  void take(std::span<const heat::ScriptMark> marks, Instant now);
  // Whether scripts may have named keys of these ranges: those of a bucket that they overlap.
  bool named(const ring::RangeSet& ranges, Instant now) const;

 private:
  std::vector<Instant> seen_;  // by bucket; empty: none ran; 0: not there
};

}  // namespace cleave::control
