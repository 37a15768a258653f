// The two ends between which every policy lies: cleave's planner, and doing nothing.
//
// Threads: one owner each.
#pragma once

#include "rehearse/policies/policy.h"

namespace cleave::rehearse {

// balance::plan.
class CleavePolicy final : public Policy {
 public:
  std::string_view name() const override { return "cleave"; }
  Proposal decide(const balance::Input& input) override;
};

// Whatever the base ring gives.
class StaticPolicy final : public Policy {
 public:
  std::string_view name() const override { return "static"; }
  Proposal decide(const balance::Input& /*input*/) override { return {}; }
};

}  // namespace cleave::rehearse
