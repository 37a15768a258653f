// What is said of copies that moves left behind and that cleave does not, or cannot, clean
// (protocol rule 23): what lies there, why, and the ways on, as commands to copy.
//
// Pure. Threads: any.
#pragma once

#include <string>

#include "control/orders/status.h"

namespace cleave::admin {

// Shorter waits are part of the work: a restart, a failover.
inline constexpr milliseconds kLeftoverPatience{10'000};

// Of an entry that is kept.
std::string kept_text(const control::Status& status, const ring::Leftover& entry);
// Of one whose cleaning is stuck.
std::string waits_text(const control::Status& status, const control::LeftoverStatus& left);

}  // namespace cleave::admin
