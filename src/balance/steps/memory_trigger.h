// When a node holds so many more bytes than the others that it gives some away: as with load, at
// once when far above the mean, after minutes when a little, and then until it is near the mean.
//
// For the files of this folder. Pure.
#pragma once

#include <cstdint>

#include "balance/input/trigger.h"
#include "balance/steps/board.h"

namespace cleave::balance {

// What every node would use if all were filled alike, in millionths of its limit.
std::uint64_t mean_use_ppm(const Board& board);

// Which nodes are to give bytes: sets NodeTrigger::emptying and full_since of `next`, whose nodes
// are those of the board that are active.
void update_emptying(const Board& board, const Trigger& before, Trigger& next);

}  // namespace cleave::balance
