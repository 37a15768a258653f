// Moves back to where the base has it, so that cuts disappear: all of them for `flatten`, which a
// person ordered, and the crumbs that load left behind when there are many of them.
//
// For the files of this folder. Pure.
#pragma once

#include "balance/plan/plan.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"

namespace cleave::balance {

// Outside of the key budget; one move a node at a time.
void plan_flatten(Board& board, Plan& plan);

// Cuts that have been cold for long and lie on another node than the base says go home, few keys at
// a time, while the pool has more than constants.gather_cuts_per_node cuts a node on average.
void plan_gather(Board& board, const Calm& calm, Plan& plan);

}  // namespace cleave::balance
