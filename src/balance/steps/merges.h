// Which cuts are no longer needed: neighbours of one owner that together stay far below what is
// worth a cut, for long enough that the same cut cannot be made again soon. Owners never change, so
// a merge can never undo a cut's move.
//
// For the files of this folder. Pure.
#pragma once

#include <vector>

#include "balance/steps/board.h"
#include "balance/steps/calm.h"
#include "ring/token_range.h"

namespace cleave::balance {

// Ranges for ring::merge_cuts, coldest first, at most constants.merges_max.
std::vector<ring::TokenRange> plan_merges(const Board& board, const Calm& calm);

}  // namespace cleave::balance
