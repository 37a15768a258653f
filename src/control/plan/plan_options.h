// PlanOptions: what is planned, and when.
//
// Threads: values.
#pragma once

#include <vector>

#include "balance/input/constants.h"
#include "balance/input/daily_windows.h"

namespace cleave::control {

struct PlanOptions {
  balance::Constants constants{};
  std::vector<balance::DailyWindow> windows{};  // in which the balancer begins moves; none: always
  bool enabled = true;  // false: heat is gathered, nothing is planned; only ordered moves begin
};

}  // namespace cleave::control
