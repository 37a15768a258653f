#include "control/moves/throttle.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

TEST(Throttle, WithoutARateNeverWaits) {
  Throttle throttle(0);
  throttle.spend(1'000'000'000, seconds{1});
  EXPECT_EQ(throttle.wait(seconds{1}), nanoseconds{0});
}

TEST(Throttle, DebtIsWaitedFor) {
  Throttle throttle(1'000);
  throttle.spend(1'000, seconds{10});  // a quarter of a second was saved up
  EXPECT_EQ(throttle.wait(seconds{10}), milliseconds{750});
  EXPECT_EQ(throttle.wait(seconds{11}), nanoseconds{0});
}

TEST(Throttle, HoldsItsRateOverTime) {
  Throttle throttle(1'000'000);
  Instant now = seconds{5};
  const Instant began = now;
  for (int i = 0; i < 1'000; ++i) {
    now += throttle.wait(now);
    throttle.spend(10'000, now);
  }
  // 10 MB at 1 MB/s, less what was saved up and the debt of the last batch.
  EXPECT_NEAR(static_cast<double>((now - began).count()) / 1e9, 9.74, 0.02);
}

}  // namespace
}  // namespace cleave::control
