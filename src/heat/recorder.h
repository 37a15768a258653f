// Recorder: a worker's heat counters. At most 20 ns a request, thread-local, no atomics, no lock.
//
// One exact sum for each entry of the worker's ring snapshot, a thinned random sample of (token,
// weight), and Space-Saving over keys (Metwally, Agrawal, El Abbadi, ICDT 2005).
//
// Threads: one owner (a worker).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"
#include "heat/report.h"
#include "ring/view.h"

namespace cleave::heat {

enum class Access : std::uint8_t { kRead, kWrite };

class Recorder {
 public:
  Recorder(std::uint64_t seed, Instant now);
  ~Recorder();

  // New ranges: what was counted so far becomes a report of the old view, kept for `take`.
  void set_view(ring::RingSnapshot view, Instant now);

  // One request. `weight_ns` from heat/cost.h. Requires: set_view was called; `index` is of it.
  void record(ring::RangeIndex index, Token token, std::string_view key, Access access,
              std::uint32_t weight_ns);

  // Everything since the last call, one report for each view that was counted under.
  std::vector<Report> take(Instant now);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::heat
