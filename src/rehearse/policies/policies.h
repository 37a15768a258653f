// The two ends between which every policy lies: cleave's planner, and doing nothing.
//
// Threads: one owner each.
#pragma once

#include "balance/input/trigger.h"
#include "rehearse/policies/policy.h"

namespace cleave::rehearse {

// balance::plan, with its memory from tick to tick.
class CleavePolicy final : public Policy {
 public:
  std::string_view name() const override { return "cleave"; }
  Decision decide(const balance::Input& input) override;

 private:
  balance::Trigger trigger_;
};

// Whatever the base ring gives.
class StaticPolicy final : public Policy {
 public:
  std::string_view name() const override { return "static"; }
  Decision decide(const balance::Input& /*input*/) override { return {}; }
};

}  // namespace cleave::rehearse
