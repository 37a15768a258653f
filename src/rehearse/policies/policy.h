// A policy: what decides, each tick, which ranges move where. cleave's own planner is one; the
// others are the rules that other systems publish, so that all can be judged in one simulated pool.
//
// Threads: one owner. Deterministic: equal inputs in equal order, equal answers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "balance/input/input.h"
#include "balance/plan/plan.h"

namespace cleave::rehearse {

// What a policy wants done at this tick, in this order. The pool carries out what it can: a move
// between two nodes that each may take part in one more, a boundary that lies inside of a range.
struct Proposal {
  std::vector<ring::Cut> cuts = {};  // boundaries that move nothing; owned by who owns it
  balance::Plan plan = {};           // what the policy has no idea of stays empty
};

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  virtual std::string_view name() const = 0;

  // Once a tick of two seconds. `trigger` of the input is that of the plan before.
  virtual Proposal decide(const balance::Input& input) = 0;
};

// "cleave", "static", "halve", "cockroach", "pd", "dicer"; nullptr: there is none of this name.
std::unique_ptr<Policy> make_policy(std::string_view name, std::uint64_t seed);

}  // namespace cleave::rehearse
