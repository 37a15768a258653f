// Recorder: a worker's heat counters. At most 20 ns a request, thread-local, no atomics, no lock.
//
// One exact sum for each entry of the worker's ring snapshot, a thinned random sample of (token,
// weight), and Space-Saving over keys (heat/space_saving.h), fed by the sampled requests only.
//
// Memory: 32 bytes an entry, 16 bytes x 8,192 samples, about 4 KiB a node. Bounded also when nobody
// takes: a full sample is thinned by half, and only the newest reports are kept.
//
// Threads: one owner (a worker).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "heat/report.h"
#include "ring/view/view.h"

namespace cleave::heat {

enum class Access : std::uint8_t { kRead, kWrite };

class Recorder {
 public:
  // `seed` also names the recorder in its reports: give each worker of a session its own.
  Recorder(std::uint64_t seed, Instant now);
  ~Recorder();

  // New ranges: what was counted so far becomes a report of the old view, kept for `take`.
  void set_view(ring::RingSnapshot view, Instant now);

  // One request. `weight_ns` from heat/cost.h. Requires: set_view was called; `index` is of it.
  void record(ring::RangeIndex index, Token token, std::string_view key, Access access,
              std::uint32_t weight_ns);

  // A script or function named a key of this token.
  void record_script(Token token);

  // Everything since the last call, one report for each view that was counted under, oldest first;
  // at least one once set_view was called, so that silence and idleness can be told apart. Adapts
  // the thinning to about 2,000 samples a second. Cost: O(entries).
  std::vector<Report> take(Instant now);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::heat
