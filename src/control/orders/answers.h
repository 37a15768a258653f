// How a person's orders are answered.
//
// When the document says so, not when the work is done: a move is answered with its id when it has
// begun. Every order is refused with a reason a person can act on.
//
// They are answered within kOrderPatience (a rehearsal may take kHeatPatience more): kUnavailable,
// nothing was done and never will be; kTimeout, nobody knows yet (Operator::when_settled).
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/result.h"

namespace cleave::control {

template <class T>
using Done = std::function<void(Result<T>)>;

inline constexpr milliseconds kOrderPatience{1'800};
inline constexpr milliseconds kHeatPatience{4'500};  // two ticks of the balancer

// Whether an order is carried out although something speaks against it.
enum class Force : std::uint8_t { kNo, kYes };

}  // namespace cleave::control
