// Leader: what the leading router of a pool does (balance/planning_loop.h), with the facts of a
// rehearsed pool and a policy in the planner's place.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "balance/input/input.h"
#include "balance/planning_loop.h"
#include "base/clock.h"
#include "heat/report.h"
#include "rehearse/policies/policy.h"
#include "rehearse/transfers.h"
#include "rehearse/workloads/key_walk.h"
#include "rehearse/workloads/pool.h"
#include "rehearse/workloads/truth.h"

namespace cleave::rehearse {

class Leader {
 public:
  // Requires: a policy.
  Leader(std::unique_ptr<Policy> policy, balance::Constants constants, std::uint64_t seed,
         Instant now);

  void set_view(const ring::RingSnapshot& view);
  // Which keys there are; only needed where nodes have limited memory.
  void set_scene(const Scene& scene) { walk_.set_scene(scene); }
  void fold(const std::vector<std::pair<SessionId, heat::Report>>& reports, Instant now);

  // What should be done; `amounts` is what each node holds. Requires: a view was set.
  Proposal tick(const Pool& pool, const std::vector<Amount>& amounts, Instant now, UnixMillis wall);

  balance::Promise promise(const balance::PlannedMove& move) const { return loop_.promise(move); }

  void move_ended(const Transfer& transfer, bool committed, Instant now, UnixMillis wall);

  const Policy& policy() const { return *policy_; }

 private:
  std::vector<balance::NodeFacts> facts(const Pool& pool, const std::vector<Amount>& amounts,
                                        Instant now, UnixMillis wall);

  std::unique_ptr<Policy> policy_;
  balance::Constants constants_;
  std::uint64_t seed_;
  balance::PlanningLoop loop_;
  KeyWalk walk_;
  Instant walked_{0};
};

}  // namespace cleave::rehearse
