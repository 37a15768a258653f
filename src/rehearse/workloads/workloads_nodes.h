// Workloads in which nodes differ, fail, join or leave: for make_workload.
//
// Threads: one owner each.
#pragma once

#include <vector>

#include "rehearse/workloads/workloads.h"

namespace cleave::rehearse {

// Nodes of weight 1, 2 and 4 in turn.
class CapacitiesWorkload final : public ZipfWorkload {
 public:
  explicit CapacitiesWorkload(const Setting& setting) : ZipfWorkload(setting, {.exponent = 0.99}) {}

  std::vector<NodeSpec> nodes() const override;
  Change set(seconds at, Scene& scene) override;
};

// Two nodes a rack; while the load is being levelled, one rack fails, and returns later.
class RackLossWorkload final : public ZipfWorkload {
 public:
  explicit RackLossWorkload(const Setting& setting) : ZipfWorkload(setting, {.exponent = 0.99}) {}

  std::vector<NodeSpec> nodes() const override;
  Change set(seconds at, Scene& scene) override;
};

// When the load is level, one more node joins.
class JoinWorkload final : public ZipfWorkload {
 public:
  explicit JoinWorkload(const Setting& setting) : ZipfWorkload(setting, {.exponent = 0.8}) {}

  Change set(seconds at, Scene& scene) override;
};

// When the load is level, a node is told to leave.
class LeaveWorkload final : public ZipfWorkload {
 public:
  explicit LeaveWorkload(const Setting& setting) : ZipfWorkload(setting, {.exponent = 0.8}) {}

  Change set(seconds at, Scene& scene) override;
};

}  // namespace cleave::rehearse
