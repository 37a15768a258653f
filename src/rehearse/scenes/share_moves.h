// Moves that even the ownership of a ring after a join, a drain or a change of weight.
//
// Pure. Threads: values.
#pragma once

#include <optional>

#include "base/clock.h"
#include "ring/document/document.h"
#include "ring/edits/edits.h"

namespace cleave::rehearse {

// A node within so many thousandths of its weight's share is left alone.
inline constexpr std::uint64_t kSharePerMille = 10;

// The next move: from the node with most above its share to the one with most below, exactly as
// much as one of them needs, so that all moves together move no more than the least. What the base
// says is the destination's goes first, because its cuts then disappear. nullopt when every node
// has its share. Requires: a valid document without moves in flight. Cost: O(entries x arcs) at
// worst.
std::optional<ring::MoveRequest> next_share_move(const ring::Document& document, UnixMillis now);

}  // namespace cleave::rehearse
