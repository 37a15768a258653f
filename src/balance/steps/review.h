// What a plan says of the pool as it is: levels, the bound, heavy tokens, advice, who waits.
//
// For the files of this folder. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balance/input/trigger.h"
#include "balance/plan/plan.h"
#include "balance/steps/board.h"
#include "heat/picture.h"

namespace cleave::balance {

// The active nodes as the picture has them, moves in flight not done: what the trigger judges.
std::vector<Level> levels_of(const Board& board, const heat::Picture& picture);

// balance/input/bound.h, for the tokens that enough samples show.
std::uint32_t bound_of(const Board& board);

// HeavyToken: heaviest first, at most 32.
std::vector<HeavyToken> heavy_of(const Board& board);

// Sets advice and advice_nodes.
void advise(const Board& board, Plan& plan);

// Adds verdicts for nodes that stand out and are not worked on: those at or below `stop_ppm`, which
// is as low as they can be brought, and, while nothing is worked on, those that the trigger does
// not believe yet.
void explain_waiting(const Board& board, const std::vector<Level>& levels, std::uint32_t stop_ppm,
                     Plan& plan);

// Adds verdicts for planned moves that would begin now, were a window open.
void explain_windows(const Input& input, Plan& plan);

}  // namespace cleave::balance
