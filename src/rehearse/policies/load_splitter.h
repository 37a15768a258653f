// When and where CockroachDB and TiKV cut a range by its load. Both have the same mathematics, with
// other thresholds.
//
// Source: CockroachDB pkg/kv/kvserver/split/{decider,unweighted_finder}.go; TiKV
// components/raftstore/src/store/worker/split_{controller,config}.rs.
//
// A range that is at or above a threshold for ten seconds is looked at: 20 requests are drawn at
// random, each is a candidate with the load left and right of it; those with |l - r| / (l + r) <
// 0.25 are valid and the best is cut at. One suggestion a range a minute. A single dip below the
// thresholds forgets everything, as there.
//
// Left out: `contained`, which counts requests that span a candidate (a request here has one
// token), and the least count of 100 requests a candidate (a range at the threshold always has it).
//
// Threads: one owner. Deterministic by its seed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "rehearse/policies/survey.h"

namespace cleave::rehearse {

class LoadSplitter {
 public:
  // Either engages.
  struct Thresholds {
    std::uint64_t requests = 0;  // a second
    std::uint64_t load = 0;      // nanoseconds of server time a second
  };

  LoadSplitter(Thresholds thresholds, std::uint64_t seed) : thresholds_(thresholds), rng_(seed) {}

  // To be called once a tick.
  std::vector<ring::Cut> cuts(const Survey& survey);

 private:
  struct Watch {
    UnixMillis since = {};
    UnixMillis suggested = {};
  };

  std::optional<Token> find(const SurveyRange& range);

  Thresholds thresholds_;
  Rng rng_;
  std::map<ring::TokenRange, Watch> watches_;
};

}  // namespace cleave::rehearse
