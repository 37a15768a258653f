// What the system says of this process.
//
// Threads: any.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace cleave::supervise {

// What cannot be read is 0.
struct ProcessUsage {
  milliseconds cpu{0};  // user and system, of all threads
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_files = 0;
  std::uint64_t open_files_max = 0;
};

// Reads a few files of /proc: tens of microseconds.
ProcessUsage process_usage();

}  // namespace cleave::supervise
