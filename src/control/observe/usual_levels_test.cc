#include "control/observe/usual_levels.h"

#include <gtest/gtest.h>

#include "ring/edits/ring_testing.h"

namespace cleave::control {
namespace {

history::HeatPoint point(std::vector<std::uint64_t> loads, int seconds_covered = 10) {
  history::HeatPoint point{.at = UnixMillis{1}, .covers = seconds{seconds_covered}};
  for (std::uint32_t i = 0; i < loads.size(); ++i) {
    if (loads[i] > 0) point.nodes.push_back({.id = i + 1, .load = loads[i]});
  }
  return point;
}

TEST(UsualLevels, AreTheMeanOfTheLevelsByTimeCovered) {
  const ring::Document document = ring::testing::make_document({1, 1});
  const std::vector<history::HeatPoint> points = {point({300, 100}, 30), point({100, 100}, 10)};
  const auto levels = usual_levels(points, document);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].node, NodeId{1});
  EXPECT_EQ(levels[0].ppm, 1'375'000U);  // 1.5 for 30 s, 1.0 for 10 s
  EXPECT_EQ(levels[1].ppm, 625'000U);
}

TEST(UsualLevels, HeedTheWeightsOfToday) {
  const auto levels =
      usual_levels(std::vector{point({300, 100})}, ring::testing::make_document({3, 1}));
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].ppm, 1'000'000U);
  EXPECT_EQ(levels[1].ppm, 1'000'000U);
}

TEST(UsualLevels, SayNothingOfWhatWasNotSeen) {
  const ring::Document document = ring::testing::make_document({1, 1});
  EXPECT_TRUE(usual_levels({}, document).empty());
  EXPECT_TRUE(usual_levels(std::vector{point({0, 0})}, document).empty());
  EXPECT_TRUE(usual_levels(std::vector{point({5, 5}, 0)}, document).empty());
  const auto gone = usual_levels(std::vector{point({100, 100, 800})}, document);
  ASSERT_EQ(gone.size(), 2U) << "the third node has left";
  EXPECT_EQ(gone[0].ppm, 1'000'000U);
}

TEST(UsualLevels, ComeFromTheSameHourOfSevenDays) {
  const UnixMillis now{20'000LL * 86'400'000 + 3'600'000};
  const auto hours = usual_hours(now);
  ASSERT_EQ(hours.size(), 7U);
  EXPECT_EQ(hours.back().first.value(), now.value() - 86'400'000 - 1'800'000);
  EXPECT_EQ(hours.front().second.value(), now.value() - 7 * 86'400'000LL + 1'800'000);
}

}  // namespace
}  // namespace cleave::control
