// The planner: what to move, join or leave alone, and why.
//
//   ring + picture + facts + history ---> plan ---> moves, merges, reasons why not
//            ^                                         |
//            +------- trigger of the plan before <-----+
//
// Order of work: drains and joins that a person ordered, then load (heat_moves.h), then
// merges of cuts that are no longer needed. Deterministic: equal input, equal plan, whatever the
// order of its lists. At most one plan's moves should be begun before the next plan is made.
//
// Pure. Threads: any. Cost: a few ms for 10,000 ranges and 50,000 samples when there is work, else
// O(ranges + samples).
#pragma once

#include "balance/input/input.h"
#include "balance/plan/plan.h"

namespace cleave::balance {

// To be called once a tick (two seconds), with the trigger that the call before returned.
Plan plan(const Input& input);

}  // namespace cleave::balance
