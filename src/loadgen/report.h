// What a run of the load generator came to.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "loadgen/verifier.h"

namespace cleave::loadgen {

// One second of the run.
struct Second {
  std::uint64_t index = 0;  // 0 is the first
  std::uint64_t operations = 0;
  std::uint64_t errors = 0;
  std::uint64_t p50_us = 0;
  std::uint64_t p99_us = 0;
  std::uint64_t max_us = 0;
};

// Latency is from handing a request to the connection until its reply was read. A generator of
// `clients` x `pipeline` requests waits while the server does (closed loop), so a stall is seen
// once
// by each of them, not by the requests that would have come meanwhile.
struct Report {
  nanoseconds elapsed{};         // of the measured phase only
  std::uint64_t operations = 0;  // answered in it, errors not included
  std::uint64_t operations_per_second = 0;
  std::uint64_t p50_us = 0;
  std::uint64_t p99_us = 0;
  std::uint64_t max_us = 0;
  std::uint64_t errors = 0;  // error replies and lost requests, of all phases
  std::uint64_t connections_lost = 0;
  std::map<std::string, std::uint64_t> errors_by_text;  // the first few different ones
  std::vector<Second> seconds;
  Findings findings;            // all phases; zeros when nothing was verified
  std::uint64_t filled = 0;     // keys written before the measured phase
  std::uint64_t swept = 0;      // keys read at the end
  std::uint64_t unchecked = 0;  // keys that could not be read at the end: nothing is known of them

  // Every answer was legal, and every key was read at the end.
  bool clean() const {
    return findings.reads_wrong == 0 && findings.writes_lost == 0 && unchecked == 0;
  }
};

}  // namespace cleave::loadgen
