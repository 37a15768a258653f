// Servers that a killed `cleave up` left running in its directory, and their end.
//
// A process is ended only if it is known to be ours: the pid is that of the node's file, it began
// before that file was written (so the number was not given to another one since), it works in that
// node's data directory, and it is a redis-server.
//
// Linux only (/proc). Blocking. Threads: any.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace cleave::supervise {

// Where, and how long to wait.
struct LeftBehindOptions {
  std::string directory;
  milliseconds stop_max{10'000};  // until SIGTERM, and again as long until SIGKILL
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

// The names of the nodes whose servers ran and are ended now. Errors: kNotFound (no directory of a
// `cleave up`), kConflict (a `cleave up` has it: that one ends its servers itself), kTimeout (some
// run on).
Result<std::vector<std::string>> end_left_behind(const LeftBehindOptions& options);

}  // namespace cleave::supervise
