// Demand: which keys the clients of a world ask for, and how often, second by second: a workload of
// the rehearsal layer, whose hot sets, flashes and days the balancer has to follow here as it
// follows them there.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alias_table.h"
#include "base/clock.h"
#include "base/rng.h"
#include "rehearse/workloads/scene.h"
#include "rehearse/workloads/workload.h"

namespace cleave::sim {

// Which workload, and how its time passes.
struct DemandOptions {
  std::string workload = {};  // as make_workload knows it; empty: no demand of this kind
  std::size_t nodes = 3;
  std::size_t keys = 200;
  std::uint64_t seed = 1;
  seconds from{0};   // of the workload when the world begins,
  seconds speed{1};  // and how much of it passes in a second of the world
};

class Demand {
 public:
  // Requires: a workload that there is.
  explicit Demand(const DemandOptions& options);

  // All that are ever asked for.
  const std::vector<std::string>& keys() const { return keys_; }
  // One of them, as it is asked for now. Requires: `now` never goes back.
  const std::string& draw(Rng& rng, Instant now);

 private:
  void go_to(seconds at);

  DemandOptions options_;
  std::unique_ptr<rehearse::Workload> workload_;
  rehearse::Scene scene_;
  seconds at_{0};  // of the workload: the scene is of this time
  std::vector<std::string> keys_;
  std::optional<AliasTable> table_;
};

}  // namespace cleave::sim
