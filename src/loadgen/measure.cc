#include "loadgen/measure.h"

#include <algorithm>
#include <utility>

#include "base/wide.h"

namespace cleave::loadgen {
namespace {

constexpr std::size_t kTextsMax = 16;  // different error texts kept; the rest count as one
constexpr std::uint64_t kHalf = 500'000;
constexpr std::uint64_t kMost = 990'000;

std::uint64_t whole_us(nanoseconds time) {
  const auto us = std::chrono::duration_cast<microseconds>(time).count();
  return us < 0 ? 0 : static_cast<std::uint64_t>(us);
}

}  // namespace

void Measure::answer(nanoseconds latency) {
  const std::uint64_t us = whole_us(latency);
  ++totals_.operations;
  latency_.add(us);
  recent_.add(us);
  second_.add(us);
}

void Measure::error(std::string_view text) {
  ++totals_.errors;
  ++second_errors_;
  note(text);
}

void Measure::connection_lost(std::string_view why) {
  ++totals_.connections_lost;
  note(why);
}

void Measure::note(std::string_view text) {
  auto& texts = totals_.errors_by_text;
  const auto found = texts.find(std::string(text));
  if (found != texts.end()) {
    ++found->second;
  } else if (texts.size() < kTextsMax) {
    texts.emplace(text, 1);
  } else {
    ++texts["(others)"];
  }
}

const Second& Measure::end_second() {
  totals_.seconds.push_back({.index = totals_.seconds.size(),
                             .operations = second_.count(),
                             .errors = std::exchange(second_errors_, 0),
                             .p50_us = second_.quantile(kHalf),
                             .p99_us = second_.quantile(kMost),
                             .max_us = second_.max()});
  second_ = {};
  return totals_.seconds.back();
}

Report Measure::report(nanoseconds elapsed) const {
  Report report = totals_;
  report.elapsed = elapsed;
  report.p50_us = latency_.quantile(kHalf);
  report.p99_us = latency_.quantile(kMost);
  report.max_us = latency_.max();
  const std::uint64_t us = std::max<std::uint64_t>(whole_us(elapsed), 1);
  report.operations_per_second =
      static_cast<std::uint64_t>(Wide{report.operations} * 1'000'000 / us);
  return report;
}

Histogram Measure::take_latency() { return std::exchange(recent_, {}); }

}  // namespace cleave::loadgen
