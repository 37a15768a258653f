#include "balance/steps/goal.h"

#include <gtest/gtest.h>

namespace cleave::balance {
namespace {

constexpr std::uint32_t kEven = 1'000'000;
constexpr Constants kConstants;

TEST(Goal, StopsTwoStandardErrorsBelowThePromise) {
  // 10,000 requests: an error of 1 %, two of them below 1.10.
  EXPECT_EQ(goal_of(10'000, kEven, Engaged::kIdle, kConstants).stop_ppm, 1'080'000U);
  EXPECT_EQ(goal_of(10'000, kEven, Engaged::kIdle, kConstants).sink_ppm, 1'075'000U);
}

TEST(Goal, IsAsFarAsEverForWhatWasHot) {
  const Goal goal = goal_of(~std::uint64_t{0}, kEven, Engaged::kHot, kConstants);
  EXPECT_EQ(goal.stop_ppm, kConstants.stop_least_ppm);
  EXPECT_EQ(goal_of(0, 2'000'000, Engaged::kHot, kConstants).stop_ppm, 2'024'000U);
}

TEST(Goal, KeepsWithinItsLimits) {
  EXPECT_EQ(goal_of(0, kEven, Engaged::kIdle, kConstants).stop_ppm, kConstants.stop_least_ppm);
  EXPECT_EQ(goal_of(1, kEven, Engaged::kIdle, kConstants).stop_ppm, kConstants.stop_least_ppm);
  EXPECT_EQ(goal_of(~std::uint64_t{0}, kEven, Engaged::kIdle, kConstants).stop_ppm,
            kConstants.stop_ppm);
}

TEST(Goal, IsABoundThatNoPlacementCanBetterAndALittleMore) {
  const Goal goal = goal_of(1'000'000, 2'000'000, Engaged::kIdle, kConstants);
  EXPECT_EQ(goal.stop_ppm, 2'024'000U);
  EXPECT_EQ(goal.sink_ppm, 2'012'000U);
  EXPECT_EQ(goal_of(0, 0xFFFFFFFFU, Engaged::kIdle, kConstants).stop_ppm, 0xFFFFFFFFU);
}

TEST(Goal, FallsAsRequestsGetFewerAndSinksBelowItsStop) {
  std::uint32_t before = 0;
  for (std::uint64_t requests = 1; requests < 1'000'000'000; requests *= 2) {
    for (const std::uint32_t bound : {0U, kEven, 1'045'000U, 1'500'000U}) {
      const Goal goal = goal_of(requests, bound, Engaged::kIdle, kConstants);
      EXPECT_LT(goal.sink_ppm, goal.stop_ppm);
    }
    const std::uint32_t stop = goal_of(requests, kEven, Engaged::kIdle, kConstants).stop_ppm;
    EXPECT_GE(stop, before);
    before = stop;
  }
}

}  // namespace
}  // namespace cleave::balance
