#include "balance/input/trigger.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::balance {
namespace {

constexpr Constants kTriggerConstants;
constexpr std::uint64_t kCapacity = 1'000'000'000;

heat::Load steady(std::uint64_t load) {
  return {.tick = load, .mean = load, .slow = load, .peak = load};
}

// One node of interest among others whose fair load is 200 ms/s.
Level level(std::uint64_t percent_of_fair, std::uint64_t fair = 200'000'000) {
  return {.node = NodeId{1},
          .load = steady(fair / 100 * percent_of_fair),
          .fair = steady(fair),
          .capacity = kCapacity};
}

class TriggerTest : public ::testing::Test {
 protected:
  Engaged tick(const Level& each) {
    now_ = UnixMillis{now_.value() + 2'000};
    trigger_ = next_trigger(trigger_, std::vector{each}, kTriggerConstants.stop_ppm,
                            kTriggerConstants, now_);
    trigger_.calm_plans = kTriggerConstants.polish_plans;  // as if nothing was to be planned
    return trigger_.engaged;
  }

  UnixMillis now_{1'000'000};
  Trigger trigger_;
};

TEST_F(TriggerTest, ActsAtTheThirdHotTickOfFive) {
  EXPECT_EQ(tick(level(160)), Engaged::kIdle);
  EXPECT_EQ(tick(level(160)), Engaged::kIdle);
  EXPECT_EQ(tick(level(160)), Engaged::kHot);
}

TEST_F(TriggerTest, ADipBetweenDoesNotBeginTheCountAgain) {
  EXPECT_EQ(tick(level(160)), Engaged::kIdle);
  EXPECT_EQ(tick(level(140)), Engaged::kIdle);
  EXPECT_EQ(tick(level(160)), Engaged::kIdle);
  EXPECT_EQ(tick(level(140)), Engaged::kIdle);
  EXPECT_EQ(tick(level(160)), Engaged::kHot);
}

TEST_F(TriggerTest, WhatIsUsualAtThisHourIsLeftToTheSlowTrigger) {
  Level daily = level(160);
  daily.usual_ppm = 1'450'000;  // 1.15 x of it are 1.67
  EXPECT_TRUE(hot_as_usual(daily, kTriggerConstants));
  for (int count = 0; count < 150; ++count) ASSERT_EQ(tick(daily), Engaged::kIdle) << count;
  EXPECT_EQ(tick(daily), Engaged::kSlow);
}

TEST_F(TriggerTest, AboveWhatIsUsualItActsAtOnce) {
  Level daily = level(170);
  daily.usual_ppm = 1'450'000;
  EXPECT_FALSE(hot_as_usual(daily, kTriggerConstants));
  tick(daily);
  tick(daily);
  EXPECT_EQ(tick(daily), Engaged::kHot);
}

TEST_F(TriggerTest, AlmostFullActsHoweverUsual) {
  Level daily = level(160, 580'000'000);
  daily.usual_ppm = 2'000'000;
  EXPECT_EQ(tick(daily), Engaged::kHot);
}

TEST_F(TriggerTest, AClockPutBackDoesNotDelayTheSlowTrigger) {
  for (int count = 0; count < 10; ++count) tick(level(120));
  now_ = UnixMillis{1'000};
  for (int count = 0; count < 150; ++count) ASSERT_LT(tick(level(120)), Engaged::kSlow) << count;
  EXPECT_EQ(tick(level(120)), Engaged::kSlow);
}

TEST_F(TriggerTest, HotTicksFarApartDoNotAct) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(tick(level(160)), Engaged::kIdle);
    EXPECT_EQ(tick(level(100)), Engaged::kIdle);
    EXPECT_EQ(tick(level(100)), Engaged::kIdle);
  }
}

TEST_F(TriggerTest, SpikesThatTheMeanDoesNotShareDoNotAct) {
  Level spiky = level(160);
  spiky.load.mean = spiky.fair.mean * 120 / 100;
  for (int round = 0; round < 10; ++round) EXPECT_EQ(tick(spiky), Engaged::kIdle);
}

TEST_F(TriggerTest, AlmostFullActsAtOnce) {
  EXPECT_EQ(tick(level(130, 700'000'000)), Engaged::kHot);
}

TEST_F(TriggerTest, FullLikeEverybodyElseDoesNotAct) {
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(tick(level(101, 950'000'000)), Engaged::kIdle);
  }
}

TEST_F(TriggerTest, AlmostIdleNodesNeverAct) {
  for (int round = 0; round < 300; ++round) {
    EXPECT_EQ(tick(level(400, 1'000'000)), Engaged::kIdle);
  }
}

TEST_F(TriggerTest, GoesOnDownToTheStopLevelAndNotOnlyToTheTrigger) {
  for (int round = 0; round < 3; ++round) tick(level(160));
  EXPECT_EQ(tick(level(140)), Engaged::kHot);
  EXPECT_EQ(tick(level(115)), Engaged::kHot);
  EXPECT_EQ(tick(level(107)), Engaged::kIdle);
  EXPECT_EQ(tick(level(115)), Engaged::kIdle);  // and does not begin again there
}

TEST_F(TriggerTest, StopsWhereNoCutCanBetterIt) {
  for (int round = 0; round < 3; ++round) tick(level(160));
  now_ = UnixMillis{now_.value() + 2'000};
  const Trigger next =
      next_trigger(trigger_, std::vector{level(140)}, 1'450'000, kTriggerConstants, now_);
  EXPECT_EQ(next.engaged, Engaged::kIdle);
}

TEST_F(TriggerTest, ALittleHighActsSlowlyAfterFiveMinutes) {
  for (int round = 0; round < 10; ++round) ASSERT_EQ(tick(level(120)), Engaged::kIdle) << round;
  for (int round = 10; round < 150; ++round) ASSERT_EQ(tick(level(120)), Engaged::kCheap) << round;
  EXPECT_EQ(tick(level(120)), Engaged::kSlow);
  EXPECT_EQ(tick(level(160)), Engaged::kSlow);
  EXPECT_EQ(tick(level(160)), Engaged::kSlow);
  EXPECT_EQ(tick(level(160)), Engaged::kHot);  // it became worse
  EXPECT_EQ(tick(level(120)), Engaged::kHot);
}

TEST_F(TriggerTest, ALittleHighNowAndThenNeverActsSlowly) {
  for (int round = 0; round < 1'000; ++round) {
    ASSERT_LT(tick(level(round % 100 == 0 ? 108 : 120)), Engaged::kSlow) << round;
    ASSERT_TRUE(round % 100 >= 11 || trigger_.engaged == Engaged::kIdle) << round;
  }
}

TEST_F(TriggerTest, WhatWasBegunIsPolishedForAFewPlans) {
  for (int round = 0; round < 3; ++round) tick(level(160));
  for (std::uint8_t plans = 0; plans < kTriggerConstants.polish_plans; ++plans) {
    trigger_.calm_plans = plans;
    EXPECT_EQ(tick(level(107)), Engaged::kHot);
  }
  EXPECT_EQ(tick(level(107)), Engaged::kIdle);
}

TEST_F(TriggerTest, ForgetsNodesThatAreGone) {
  tick(level(160));
  Level other = level(100);
  other.node = NodeId{2};
  tick(other);
  ASSERT_EQ(trigger_.nodes.size(), 1U);
  EXPECT_EQ(trigger_.nodes[0].node, NodeId{2});
  EXPECT_EQ(trigger_.nodes[0].hot_ticks, 0U);
}

// However load jumps about: working begins only on a hot or long warm node, and ends only when
// nobody is above the stop level.
TEST_F(TriggerTest, BeginsAndEndsOnlyWithAReason) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    trigger_ = {};
    int hot = 0;
    for (int round = 0; round < 50; ++round) {
      const std::uint64_t percent = 80 + rng.below(120);
      hot = percent >= 150 ? hot + 1 : 0;
      const Engaged before = trigger_.engaged;
      const Engaged after = tick(level(percent));
      if (percent <= 109) {
        ASSERT_EQ(after, Engaged::kIdle) << "seed " << seed;
      }
      if (percent > 109 && before != Engaged::kIdle) {
        ASSERT_GE(after, before) << "seed " << seed;
      }
      if (hot >= 3) {
        ASSERT_EQ(after, Engaged::kHot) << "seed " << seed;
      }
      if (before == Engaged::kIdle && after == Engaged::kHot) {
        ASSERT_GE(percent, 130U);
      }
    }
  }
}

TEST(LevelPpm, IsNothingWithoutLoadAndEverythingWithoutAShare) {
  EXPECT_EQ(level_ppm(0, 0), 0U);
  EXPECT_EQ(level_ppm(1, 0), 0xFFFFFFFFU);
  EXPECT_EQ(level_ppm(3, 2), 1'500'000U);
  EXPECT_EQ(level_ppm(~std::uint64_t{0}, 1), 0xFFFFFFFFU);
}

}  // namespace
}  // namespace cleave::balance
