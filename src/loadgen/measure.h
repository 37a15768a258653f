// Measure: the counts and latencies of a run, as a whole, since the last look, and second by
// second.
//
// Threads: one owner. Cost: about 10 ns an answer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "loadgen/histogram.h"
#include "loadgen/report.h"

namespace cleave::loadgen {

class Measure {
 public:
  void answer(nanoseconds latency);
  void error(std::string_view text);
  void connection_lost(std::string_view why);

  // Closes the second that is being counted and begins the next.
  const Second& end_second();

  // The report's own part of it: all but what the verifier and the phases know.
  Report report(nanoseconds elapsed) const;
  Histogram take_latency();

 private:
  void note(std::string_view text);

  Report totals_;
  Histogram latency_;  // of the whole run
  Histogram recent_;   // since the last look
  Histogram second_;   // of the second that is being counted
  std::uint64_t second_errors_ = 0;
};

}  // namespace cleave::loadgen
