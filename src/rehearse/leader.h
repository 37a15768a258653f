// Leader: what the leading router of a pool knows: the real ledger of heat, the facts of the nodes,
// and the past moves with what they promised and brought. It asks a policy what to do.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "balance/input/input.h"
#include "base/clock.h"
#include "heat/ledger.h"
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
  Decision tick(const Pool& pool, const std::vector<Amount>& amounts, Instant now, UnixMillis wall);

  // Load of the whole pool as it is seen: mean of about the last 30 s.
  std::uint64_t total_seen() const;

  void move_ended(const Transfer& transfer, bool committed, UnixMillis wall);

  const Policy& policy() const { return *policy_; }

 private:
  // Until a committed move's gain is measured.
  struct Promise {
    std::size_t past;  // of history_
    UnixMillis due;
    std::uint64_t source_before;
    std::uint64_t total_before;
  };

  std::vector<balance::NodeFacts> facts(const Pool& pool, const std::vector<Amount>& amounts,
                                        Instant now, UnixMillis wall);
  void measure_gains(UnixMillis wall);

  std::unique_ptr<Policy> policy_;
  balance::Constants constants_;
  std::uint64_t seed_;
  heat::Ledger ledger_;
  KeyWalk walk_;
  Instant walked_{0};
  ring::RingSnapshot view_;
  heat::Picture picture_;
  std::vector<balance::PastMove> history_;  // oldest first
  std::vector<Promise> promises_;
};

}  // namespace cleave::rehearse
