#include "control/observe/latency_meter.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

TEST(LatencyMeter, TakesThe99thPercentileOfEachSecond) {
  LatencyMeter meter;
  for (int i = 1; i <= 100; ++i) meter.add(milliseconds{i});
  EXPECT_EQ(meter.end_second(LatencyMeter::During::kMove)->p99, milliseconds{99});
  meter.add(milliseconds{7});
  EXPECT_EQ(meter.end_second(LatencyMeter::During::kMove)->p99, milliseconds{7});
  EXPECT_FALSE(meter.end_second(LatencyMeter::During::kMove).has_value());
}

TEST(LatencyMeter, OnlyQuietSecondsMakeTheBaseline) {
  LatencyMeter meter;
  const auto second = [&](milliseconds value, LatencyMeter::During during) {
    meter.add(value);
    return meter.end_second(during)->baseline;
  };
  EXPECT_EQ(second(milliseconds{50}, LatencyMeter::During::kMove), nanoseconds{0});
  EXPECT_EQ(second(milliseconds{8}, LatencyMeter::During::kQuiet), milliseconds{8});
  EXPECT_EQ(second(milliseconds{90}, LatencyMeter::During::kMove), milliseconds{8});
  EXPECT_EQ(second(milliseconds{16}, LatencyMeter::During::kQuiet), milliseconds{9});
}

}  // namespace
}  // namespace cleave::control
