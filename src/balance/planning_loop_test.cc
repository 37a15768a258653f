// What the loop keeps between plans. Whether the plans are good is planner_loop_test.cc's matter.
#include "balance/planning_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "balance/closed_pool_testing.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kMilli = 1'000'000;
constexpr NodeId kSource{1};
constexpr NodeId kOther{2};

class PlanningLoopTest : public ::testing::Test {
 protected:
  PlanningLoopTest() { loop_.set_view(view_); }

  // Two seconds in which the nodes carry so much, by the wall clock too.
  void pass_tick(std::uint64_t source_load, std::uint64_t other_load) {
    for (int second = 0; second < 2; ++second) {
      now_ += seconds{1};
      wall_ = UnixMillis{wall_.value() + 1'000};
      heat::Report report{.recorder = 1, .sequence = ++sequence_, .epoch = view_->epoch()};
      report.covers = seconds{1};
      for (const NodeId node : {kSource, kOther}) {
        const std::uint64_t load = node == kSource ? source_load : other_load;
        const auto entry = std::ranges::find(view_->entries(), node, &ring::Entry::node);
        report.sums.push_back({entry->range, node, 100, 50, load});
      }
      std::ranges::sort(report.sums, {}, [](const auto& each) { return each.range; });
      loop_.fold(SessionId{"router"}, report, now_);
    }
    loop_.look(now_, wall_);
  }

  void pass(std::uint64_t ticks, std::uint64_t source_load, std::uint64_t other_load) {
    for (; ticks > 0; --ticks) pass_tick(source_load, other_load);
  }

  PlannedMove planned(Cause cause = Cause::kHot) const {
    return {.ranges = view_->owned_by(kSource),
            .source = kSource,
            .destination = kOther,
            .cause = cause,
            .load = 300 * kMilli,
            .source_before = 800 * kMilli};
  }

  PastMove past(bool committed = true) const {
    return {.ranges = view_->owned_by(kSource),
            .source = kSource,
            .destination = kOther,
            .ended = wall_,
            .committed = committed,
            .keys = 7};
  }

  std::vector<PastMove> history() const { return loop_.input({.now = wall_}).history; }

  ring::RingSnapshot view_ = test_view(test_document(2));
  Instant now_ = seconds{1'000};
  UnixMillis wall_{1'700'000'000'000};
  PlanningLoop loop_{now_};
  std::uint64_t sequence_ = 0;
};

TEST_F(PlanningLoopTest, TellsThePlannerWhatItHasSeenAndWhatItWasTold) {
  pass(20, 800 * kMilli, 200 * kMilli);
  const Input told = loop_.input({.nodes = {{.id = kSource, .keys = 5}},
                                  .orders = {.flatten = true},
                                  .usual = {{kSource, 3}},
                                  .expected = {{.load = 4}},
                                  .constants = {.hot_ticks = 2},
                                  .now = wall_,
                                  .seed = 9});
  EXPECT_EQ(told.view, view_);
  EXPECT_EQ(told.picture, *loop_.picture());
  EXPECT_EQ(heat::total_mean(told.picture), 1'000 * kMilli);
  EXPECT_EQ(told.nodes, (std::vector<NodeFacts>{{.id = kSource, .keys = 5}}));
  EXPECT_TRUE(told.orders.flatten);
  EXPECT_EQ(told.usual.size(), 1U);
  EXPECT_EQ(told.expected.size(), 1U);
  EXPECT_EQ(told.constants.hot_ticks, 2U);
  EXPECT_EQ(told.now, wall_);
  EXPECT_EQ(told.seed, 9U);
}

TEST_F(PlanningLoopTest, EachPlanIsToldTheTriggerOfTheOneBefore) {
  std::vector<Trigger> seen;
  const auto planner = [&](const Input& input) {
    seen.push_back(input.trigger);
    Plan plan;
    plan.trigger.calm_plans = static_cast<std::uint8_t>(seen.size());
    return plan;
  };
  pass_tick(1, 1);
  for (int tick = 0; tick < 3; ++tick) loop_.step({}, planner);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0], Trigger{});
  EXPECT_EQ(seen[1].calm_plans, 1U);
  EXPECT_EQ(seen[2].calm_plans, 2U);
}

TEST_F(PlanningLoopTest, AskingWhatWouldBeDoneChangesNothing) {
  pass(20, 800 * kMilli, 200 * kMilli);
  const TickFacts facts{.nodes = {{.id = kSource}, {.id = kOther}}, .now = wall_};
  const Plan first = plan(loop_.input(facts));
  EXPECT_EQ(plan(loop_.input(facts)), first);
  EXPECT_EQ(loop_.step(facts), first);
  EXPECT_NE(loop_.step(facts).trigger, first.trigger);  // one more tick in which it is hot
}

// Half of the source's load has gone, and meanwhile everybody's has doubled.
TEST_F(PlanningLoopTest, MeasuresAMinuteLaterByShares) {
  pass(40, 800 * kMilli, 200 * kMilli);
  const Promise promise = loop_.promise(planned());
  EXPECT_NEAR(static_cast<double>(promise.total_before), 1e9, 1e6);
  loop_.ended(past(), promise, now_);
  pass(29, 800 * kMilli, 1'200 * kMilli);  // 58 s
  ASSERT_EQ(history().size(), 1U);
  EXPECT_FALSE(history()[0].ordered);
  EXPECT_EQ(history()[0].keys, 7U);
  EXPECT_EQ(history()[0].predicted_gain, 300 * kMilli);
  EXPECT_FALSE(history()[0].real_gain.has_value());
  pass_tick(800 * kMilli, 1'200 * kMilli);
  ASSERT_TRUE(history()[0].real_gain.has_value());
  EXPECT_NEAR(static_cast<double>(*history()[0].real_gain), 7e8, 1.5e8);
  const auto measured = history()[0].real_gain;
  pass(30, 100 * kMilli, 1'900 * kMilli);
  EXPECT_EQ(history()[0].real_gain, measured);  // once
}

TEST_F(PlanningLoopTest, MeasuresByTimeThatPassedWhateverTheClockShows) {
  pass(20, 800 * kMilli, 200 * kMilli);
  loop_.ended(past(), loop_.promise(planned()), now_);
  wall_ = UnixMillis{wall_.value() - 3'600'000};
  pass(30, 800 * kMilli, 200 * kMilli);
  EXPECT_TRUE(history()[0].real_gain.has_value());
}

TEST_F(PlanningLoopTest, NothingIsMeasuredOfWhatCameToNothingOrNobodyPlanned) {
  pass(20, 800 * kMilli, 200 * kMilli);
  loop_.ended(past(false), loop_.promise(planned()), now_);
  loop_.ended(past(), std::nullopt, now_);
  pass(60, 800 * kMilli, 200 * kMilli);
  const std::vector<PastMove> kept = history();
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_FALSE(kept[0].real_gain || kept[1].real_gain);
  EXPECT_FALSE(kept[0].ordered);
  EXPECT_TRUE(kept[1].ordered);
  EXPECT_EQ(kept[1].predicted_gain, 0U);
}

TEST_F(PlanningLoopTest, WhatAPersonOrderedIsOutsideOfTheBudget) {
  pass_tick(1, 1);
  loop_.ended(past(), loop_.promise(planned(Cause::kDrain)), now_);
  loop_.ended(past(), loop_.promise(planned(Cause::kMemory)), now_);
  EXPECT_TRUE(history()[0].ordered);
  EXPECT_FALSE(history()[1].ordered);
}

TEST_F(PlanningLoopTest, ForgetsWhatIsOverForADay) {
  pass_tick(1, 1);
  loop_.ended(past(), std::nullopt, now_);
  wall_ = UnixMillis{wall_.value() + PlanningLoop::kRemembered.count() - 4'000};
  pass_tick(1, 1);
  EXPECT_EQ(history().size(), 1U);
  pass(2, 1, 1);
  EXPECT_TRUE(history().empty());
}

TEST_F(PlanningLoopTest, ARouterThatLeftIsNoLoad) {
  pass(20, 800 * kMilli, 200 * kMilli);
  loop_.forget(SessionId{"router"});
  now_ += seconds{2};
  loop_.look(now_, wall_);
  EXPECT_TRUE(loop_.picture()->sources.empty());
}

}  // namespace
}  // namespace cleave::balance
