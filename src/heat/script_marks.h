// ScriptMarks: where on the ring scripts and functions named keys lately, by buckets of a 4,096th
// of all tokens. A script may write keys that it did not name; where strays appear, these are the
// ranges where that may have been (docs/formats/strays.md).
//
// A worker notes into a bitmap: one bit a call, no clock, no allocation. When its report is taken
// the bits become times; each report also tells a sixteenth of what is known from before, so that a
// new leader knows all of it within some 16 s.
//
// Pure. Threads: one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"

namespace cleave::heat {

inline constexpr std::size_t kScriptBuckets = 4'096;
inline constexpr seconds kScriptMemory{7 * 24 * 3'600};

constexpr std::uint16_t script_bucket(Token token) {
  return static_cast<std::uint16_t>(token.value() >> 52U);
}

// A bucket, and how long ago a script named a key of it.
struct ScriptMark {
  std::uint16_t bucket = 0;
  std::uint32_t age_s = 0;

  friend bool operator==(const ScriptMark&, const ScriptMark&) = default;
};

class ScriptMarks {
 public:
  void note(Token token) {
    const std::uint16_t bucket = script_bucket(token);
    noted_[bucket / 64U] |= std::uint64_t{1} << (bucket % 64U);
    any_ = true;
  }

  // What was noted since the last call, and a sixteenth of the rest. Cost: O(buckets) once a script
  // ran; else nothing.
  std::vector<ScriptMark> take(Instant now);

 private:
  static constexpr std::size_t kTurns = 16;

  std::array<std::uint64_t, kScriptBuckets / 64> noted_{};
  bool any_ = false;
  std::vector<Instant> seen_;  // by bucket; empty: no script ever ran; 0: not there
  std::size_t turn_ = 0;
};

}  // namespace cleave::heat
