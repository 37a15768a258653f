// Moves that level memory, the other dimension of balance: a node far fuller than the others gives
// away the stretches that hold most bytes for their keys and load, to the node with most memory to
// spare that has room for their load.
//
// For the files of this folder. Pure.
#pragma once

#include "balance/plan/plan.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"

namespace cleave::balance {

// Adds moves and verdicts for these. Within the budgets of keys and cuts that moves by load have.
void plan_memory(Board& board, const Calm& calm, Plan& plan);

}  // namespace cleave::balance
