// What the planner must not believe: input that contradicts itself or that no pool could have.
//
// For the files of this folder. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "balance/input/input.h"
#include "balance/plan/plan.h"
#include "base/wide.h"
#include "ring/document/document.h"

namespace cleave::balance {

// The most that anything may be, so that sums and products of it fit: a load (a million cores), a
// number of keys, of bytes, a time.
inline constexpr std::uint64_t kAmountMax = ring::kNumberMax;

// Why nothing can be planned from it; an empty text: it can. After it the picture is of the view,
// range by range, its lists are sorted, and the sums of its loads are at most kAmountMax. Cost:
// O(ranges + tokens).
Verdict distrust(const Input& input);

// Why no move may touch the node that was told of so; "" = it may.
std::string distrust(const NodeFacts& facts);

// A move that is over and cannot have been.
bool absurd(const PastMove& move);

}  // namespace cleave::balance
