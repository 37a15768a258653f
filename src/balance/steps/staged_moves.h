// Moves that bring ownership where a person's order wants it: away from draining nodes, and to
// nodes with less than their share of the ring (a join, a raised weight). They do not count against
// the key budget; one move a node at a time holds.
//
// For the files of this folder. Pure.
#pragma once

#include "balance/plan/plan.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"

namespace cleave::balance {

void plan_drains(Board& board, const Calm& calm, Plan& plan);
void plan_joins(Board& board, const Calm& calm, Plan& plan);

}  // namespace cleave::balance
