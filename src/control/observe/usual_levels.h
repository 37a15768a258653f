// How hot each node usually is at this hour, from stored heat (history/heat_point.h): what is
// normal for it, against which the balancer judges (balance/input/trigger.h).
//
// Pure. Threads: any.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "balance/input/input.h"
#include "base/clock.h"
#include "history/heat_point.h"
#include "ring/document/document.h"

namespace cleave::control {

inline constexpr int kUsualDays = 7;

// The same hour of each of the last seven days: from half an hour before this time of day to half
// an hour after it, oldest first.
std::vector<std::pair<UnixMillis, UnixMillis>> usual_hours(UnixMillis now);

// Mean level of each node of the document, over all points weighted by the time that they cover. A
// node without any point, or in a pool that had no load, is left out: nothing is known of it.
std::vector<balance::UsualLevel> usual_levels(std::span<const history::HeatPoint> points,
                                              const ring::Document& document);

}  // namespace cleave::control
