// Traffic: requests drawn from a scene and counted by the routers' real recorders.
//
// A second's load is drawn in a bounded number of requests, each standing for as much server time
// as it takes, so that a pool of thousands of nodes costs no more to simulate than a small one.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/alias_table.h"
#include "base/clock.h"
#include "base/rng.h"
#include "heat/recorder.h"
#include "rehearse/workloads/truth.h"
#include "ring/view/view.h"

namespace cleave::rehearse {

class Traffic {
 public:
  struct Options {
    std::size_t routers = 1;
    std::uint32_t draws_max = 50'000;        // a step
    std::uint32_t request_ns_least = 8'000;  // of a request: little load is few requests
    std::uint64_t seed = 1;
  };
  Traffic(const Options& options, Instant now);

  // Cost: O(keys).
  void set_scene(const Scene& scene, const Truth& truth);
  // Cost: O(keys + entries). Requires: a scene was set; the same keys ever since.
  void set_view(const ring::RingSnapshot& view, Instant now);

  // The requests of `time` until `now`, and what the routers report of them.
  std::vector<std::pair<SessionId, heat::Report>> serve(nanoseconds time, Instant now);

 private:
  struct Reporter {
    SessionId session;
    std::unique_ptr<heat::Recorder> recorder;
  };

  void record(heat::Recorder& recorder, std::uint32_t weight_ns);

  Options options_;
  Rng rng_;
  std::vector<Reporter> routers_;
  const Scene* scene_ = nullptr;
  const Truth* truth_ = nullptr;
  std::optional<AliasTable> keys_;  // nullopt: nobody asks for anything
  ring::RingSnapshot view_;
  std::vector<ring::RangeIndex> places_;  // of the keys in the view
};

}  // namespace cleave::rehearse
