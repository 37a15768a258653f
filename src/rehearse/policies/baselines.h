// The baselines: how other systems decide, by their published rules, on the same input as cleave's
// planner. Each file's header names its source, its rules, and what is left out and why.
//
// What all of them share, because none of these rules says it: ranges of a node that leaves the
// pool are given to the coldest nodes, and nothing is planned for a node that is sick, not ready or
// in a move (rehearse/policies/survey.h).
#pragma once

#include <cstdint>
#include <memory>

#include "rehearse/policies/policy.h"

namespace cleave::rehearse {

std::unique_ptr<Policy> make_halve_policy(std::uint64_t seed);
std::unique_ptr<Policy> make_cockroach_policy(std::uint64_t seed);
std::unique_ptr<Policy> make_pd_policy(std::uint64_t seed);
std::unique_ptr<Policy> make_dicer_policy(std::uint64_t seed);

}  // namespace cleave::rehearse
