// Moves that level memory: a node whose memory is almost full gives its coldest ranges to nodes
// with
// room, a few keys at a time.
//
// For the files of this folder. Pure.
#pragma once

#include "balance/board.h"
#include "balance/calm.h"
#include "balance/plan.h"

namespace cleave::balance {

// Within the budgets of keys and cuts that moves by load have.
void plan_memory(Board& board, const Calm& calm, Plan& plan);

}  // namespace cleave::balance
