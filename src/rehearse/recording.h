// Recording: a run's Record as it grows.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "balance/plan/plan.h"
#include "rehearse/record.h"
#include "rehearse/summary.h"
#include "rehearse/workloads/pool.h"
#include "rehearse/workloads/truth.h"

namespace cleave::rehearse {

class Recording {
 public:
  static constexpr std::size_t kMomentsMax = 1'000;

  // `start`: what does not change during the run.
  Recording(Record start, seconds duration, seconds step);

  void set_nodes(const std::vector<PoolNode>& nodes);
  void set_cuts(const ring::Document& document, seconds at);

  // Kept when it is time for a moment. Loads and amounts by node number.
  void look(const Course::Point& point, std::span<const std::uint64_t> loads,
            std::span<const Amount> amounts, const Truth& truth, std::size_t moves_under_way);

  // The number of the move, for `move_ended`.
  std::size_t move_began(const balance::PlannedMove& move, const Amount& amount, seconds at);
  void move_ended(std::size_t move, bool committed, seconds at);

  // Cuts and moves that are still there end with the run.
  Record finish(seconds end);

 private:
  Record record_;
  seconds moments_apart_;
  std::map<std::pair<ring::TokenRange, std::size_t>, std::size_t> standing_;  // of record_.cuts
  std::vector<bool> move_over_;
};

}  // namespace cleave::rehearse
