#include "rehearse/policies/policies.h"

#include <utility>

#include "balance/planner.h"

namespace cleave::rehearse {

Decision CleavePolicy::decide(const balance::Input& input) {
  balance::Input asked = input;
  asked.trigger = trigger_;
  balance::Plan plan = balance::plan(asked);
  trigger_ = std::move(plan.trigger);
  return {.cuts = {},
          .moves = std::move(plan.moves),
          .merges = std::move(plan.merges),
          .verdicts = std::move(plan.verdicts),
          .advice = std::move(plan.advice)};
}

}  // namespace cleave::rehearse
