// What one worker counted in one interval: exact sums per range, a random sample for the shape, and
// the hottest keys. Shipped to the leader each second and folded there (heat/ledger.h).
//
// Plain values. Weights are in nanoseconds of estimated server time (see heat/cost.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "heat/script_marks.h"
#include "ring/token_range.h"

namespace cleave::heat {

// One sampled request. The sampling rate is in the report: a sample stands for
// `weight_ns x thinning` of load.
struct Sample {
  Token token;
  std::uint32_t weight_ns = 0;

  friend bool operator==(const Sample&, const Sample&) = default;
};

// Everything that was asked of one range of one view.
struct RangeSum {
  ring::TokenRange range;
  NodeId node;
  std::uint64_t requests = 0;
  std::uint64_t writes = 0;
  std::uint64_t weight_ns = 0;

  friend bool operator==(const RangeSum&, const RangeSum&) = default;
};

// A key that asked for much (Space-Saving: true weight is in [weight_ns - error_ns, weight_ns]).
struct HotKey {
  std::string key;  // at most 128 bytes of it
  Token token;
  NodeId node;
  std::uint64_t weight_ns = 0;
  std::uint64_t error_ns = 0;

  friend bool operator==(const HotKey&, const HotKey&) = default;
};

struct Report {
  // Which recorder of the session, and the number of its report: one told twice counts once.
  std::uint64_t recorder = 0;
  std::uint64_t sequence = 0;
  Epoch epoch = {};                 // the view the ranges belong to
  nanoseconds covers{0};            // how long it was counted
  std::uint32_t thinning = 1;       // 1 of so many requests was sampled
  std::vector<RangeSum> sums = {};  // ranges with no request are left out; sorted
  std::vector<Sample> samples = {};
  std::vector<HotKey> hot_keys = {};
  std::vector<ScriptMark> scripts = {};  // where scripts named keys, of this and of older intervals
};

}  // namespace cleave::heat
