// Moves that level memory, the other dimension of balance: a node far fuller than the others gives
// away the stretches that hold most bytes for their keys and load, to the node with most memory to
// spare that has room for their load.
//
// For the files of this folder. Pure.
#pragma once

#include "balance/board.h"
#include "balance/calm.h"
#include "balance/plan.h"

namespace cleave::balance {

// Which nodes are to give bytes: begins far above the mean use, goes on until near it. Sets
// NodeTrigger::emptying of `next`, whose nodes are those of the board that are active.
void update_emptying(const Board& board, const Trigger& before, Trigger& next);

// Adds moves and verdicts for these. Within the budgets of keys and cuts that moves by load have.
void plan_memory(Board& board, const Calm& calm, Plan& plan);

}  // namespace cleave::balance
