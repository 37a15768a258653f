// Moves that level load: from nodes above their goal to nodes with room.
//
// For the files of this folder. Pure.
#pragma once

#include <cstdint>

#include "balance/input/trigger.h"
#include "balance/plan/plan.h"
#include "balance/steps/board.h"
#include "balance/steps/calm.h"
#include "balance/steps/expected.h"
#include "balance/steps/goal.h"

namespace cleave::balance {

// What is to be done, and how far.
struct HeatTask {
  Engaged engaged = Engaged::kIdle;
  Goal goal = {};
  // Nodes that expected load makes hot are worked on whatever `engaged` says: outside of the key
  // budget, because a person ordered it.
  const Phantoms& phantoms;
};

// Adds moves (carried out on the board too) and verdicts.
void plan_heat(Board& board, const Calm& calm, const HeatTask& task, Plan& plan);

}  // namespace cleave::balance
