// When a move under way will be done, by what it has copied so far: what `explain` tells of a node
// that waits for it.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace cleave::control {

// How far a move is.
struct MoveProgress {
  UnixMillis started = {};
  std::uint64_t keys_planned = 0;  // an estimate
  std::uint64_t keys_copied = 0;
};

// At the pace so far; nullopt before a hundredth is copied, or after all that was planned: then the
// plan was wrong, and nothing is known.
std::optional<UnixMillis> done_at(const MoveProgress& progress, UnixMillis now);

}  // namespace cleave::control
