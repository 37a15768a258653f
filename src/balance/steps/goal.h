// How far levelling goes: to a little below what is promised (1.10 x the mean, or 1.05 x what no
// placement can better), because what is seen is an estimate.
//
// For the files of this folder. Pure.
#pragma once

#include <cstdint>

#include "balance/input/constants.h"
#include "balance/input/trigger.h"

namespace cleave::balance {

struct Goal {
  std::uint32_t stop_ppm = 0;  // nodes above it are worked on
  std::uint32_t sink_ppm = 0;  // and sink to it; below stop_ppm
};

// `requests`: of a mean node, that its level is estimated from. Loads of independent requests add
// up to a relative error of about 1 / sqrt(requests), so a busy pool is levelled only just so far,
// and one with few requests farther. So is one that was far above (`engaged` is hot): much moves at
// once then, by estimates of load that was new. Cost: O(1).
Goal goal_of(std::uint64_t requests, std::uint32_t bound_ppm, Engaged engaged,
             const Constants& constants);

}  // namespace cleave::balance
