// What a move brought: how much load its source has lost, beside the load it was to lose.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "heat/picture.h"

namespace cleave::balance {

// Loads in nanoseconds a second; those of now a minute after the move, when the slow mean has
// forgotten the time before it.
struct GainBasis {
  std::uint64_t source_before = 0;  // as the plan saw it
  std::uint64_t total_before = 0;   // of the whole pool
  std::uint64_t source_now = 0;
  std::uint64_t total_now = 0;
};

// By shares, so that a pool whose load grows or falls meanwhile does not look like a gain or a
// loss.
std::uint64_t real_gain(const GainBasis& basis);

// The slow means of the picture: of one node, and of all.
std::uint64_t slow_load(const heat::Picture& picture, NodeId node);
std::uint64_t slow_load(const heat::Picture& picture);

}  // namespace cleave::balance
