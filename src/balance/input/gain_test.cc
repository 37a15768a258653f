#include "balance/input/gain.h"

#include <gtest/gtest.h>

namespace cleave::balance {
namespace {

TEST(RealGain, ComparesSharesSoThatGrowthOfThePoolIsNoLoss) {
  // 40 of 100 became 50 of 200: of today's load the source has lost 30.
  EXPECT_EQ(
      real_gain({.source_before = 40, .total_before = 100, .source_now = 50, .total_now = 200}),
      30U);
}

TEST(RealGain, IsZeroWhereTheSourceGrewOrNothingWasKnown) {
  EXPECT_EQ(
      real_gain({.source_before = 40, .total_before = 100, .source_now = 41, .total_now = 100}),
      0U);
  EXPECT_EQ(real_gain({.source_before = 0, .total_before = 0, .source_now = 5, .total_now = 100}),
            0U);
}

TEST(SlowLoad, OfOneNodeOrOfAll) {
  heat::Picture picture;
  picture.nodes.push_back({.node = NodeId{1}, .load = {.slow = 3}});
  picture.nodes.push_back({.node = NodeId{2}, .load = {.slow = 4}});
  EXPECT_EQ(slow_load(picture), 7U);
  EXPECT_EQ(slow_load(picture, NodeId{2}), 4U);
  EXPECT_EQ(slow_load(picture, NodeId{3}), 0U);
}

}  // namespace
}  // namespace cleave::balance
