// Rules of the planner beyond plain load: expected load, usual load, flaps, replicas, bad input.
#include <limits>
#include <set>

#include "balance/explain.h"
#include "balance/planner.h"
#include "balance/planner_testing.h"

namespace cleave::balance {
namespace {

constexpr std::int64_t kMinute = 60'000;

UnixMillis in(std::int64_t millis) { return UnixMillis{kNow.value() + millis}; }

// ---- drains ---------------------------------------------------------------------------------

TEST_F(PlannerTest, ADrainOfWhichAMoveWasAbortedWaitsForThePersonWhoDidThat) {
  document_ = *ring::drain_node(document_, NodeId{2}, kNow);
  const auto of_drain = [](const PlannedMove& each) { return each.cause == Cause::kDrain; };
  ASSERT_EQ(std::ranges::count_if(planned().moves, of_drain), 1);
  document_.nodes[1].drain_held = true;
  load({100, 100, 100, 100});
  const Plan plan = planned();
  EXPECT_EQ(std::ranges::count_if(plan.moves, of_drain), 0);
  const auto verdict = std::ranges::find(plan.verdicts, NodeId{2}, &Verdict::node);
  ASSERT_NE(verdict, plan.verdicts.end());
  EXPECT_EQ(verdict->why, Why::kHeld);
}

// ---- windows --------------------------------------------------------------------------------

class WindowTest : public PlannerTest {
 protected:
  // kNow is 22:13:20 UTC.
  WindowTest() { input_.orders.windows = {{.from = 23 * 60, .until = 6 * 60}}; }

  std::vector<Verdict> waiting() {
    std::vector<Verdict> verdicts = planned().verdicts;
    std::erase_if(verdicts, [](const Verdict& each) { return each.why != Why::kWindow; });
    return verdicts;
  }
};

TEST_F(WindowTest, AMoveThatWaitsForOneIsPlannedAndSaysSo) {
  load({160, 100, 100, 40});
  ASSERT_EQ(planned().moves.size(), 1U);
  const std::vector<Verdict> waits = waiting();
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].node, NodeId{1});
  EXPECT_EQ(waits[0].until, in(46 * kMinute + 40'000));
  EXPECT_EQ(waits[0].text.find("waits 46 minutes for the next window for moves (UTC: "
                               "23:00-06:00); it would be: hot: "),
            0U)
      << waits[0].text;
}

TEST_F(WindowTest, NothingWaitsForOneWhereItIsOpenOrNothingBeginsByItself) {
  for (const ring::Mode mode : {ring::Mode::kObserve, ring::Mode::kApprove, ring::Mode::kAuto}) {
    document_.mode = mode;
    load({160, 100, 100, 40});
    EXPECT_EQ(waiting().size(), mode == ring::Mode::kAuto ? 1U : 0U) << ring::to_string(mode);
  }
  input_.orders.windows.push_back({.from = 22 * 60, .until = 22 * 60 + 30});
  EXPECT_TRUE(waiting().empty());
}

TEST_F(WindowTest, WhatIsUrgentOrOrderedDoesNotWait) {
  load({460, 100, 100, 40});  // 92 % of its capacity
  ASSERT_EQ(planned().moves.size(), 1U);
  EXPECT_EQ(planned().moves[0].cause, Cause::kUrgent);
  EXPECT_TRUE(waiting().empty());
  document_ = *ring::drain_node(document_, NodeId{2}, kNow);
  load({100, 100, 100, 100});
  ASSERT_FALSE(planned().moves.empty());
  EXPECT_EQ(planned().moves[0].cause, Cause::kDrain);
  EXPECT_TRUE(waiting().empty());
}

// ---- expected load --------------------------------------------------------------------------

class ExpectedTest : public PlannerTest {
 protected:
  ExpectedTest() {
    input_.trigger = {};
    load({100, 100, 100, 100});
  }

  // On the first range of node 1.
  Expected sale(std::uint64_t load) const {
    const auto entry = std::ranges::find(view_->entries(), NodeId{1}, &ring::Entry::node);
    return {.range = entry->range,
            .load = load,
            .lead_from = kNow,
            .start = in(30 * kMinute),
            .end = in(90 * kMinute),
            .event = "sale"};
  }
};

TEST_F(ExpectedTest, MakesRoomBeforeItComes) {
  input_.expected = {sale(kFair)};
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  const PlannedMove& move = plan.moves[0];
  EXPECT_EQ(move.cause, Cause::kPresplit);
  EXPECT_EQ(move.source, NodeId{1});
  EXPECT_EQ(move.pin_until, in(90 * kMinute));
  EXPECT_NE(move.reason.find("expected: sale"), std::string::npos) << move.reason;
  EXPECT_TRUE(ordered(move.cause));
  EXPECT_EQ(plan.trigger.engaged, Engaged::kIdle);  // what is seen is calm
  EXPECT_EQ(plan.peak_ppm, 1'000'000U);
}

TEST_F(ExpectedTest, IsNothingBeforeItsLeadAndAfterItsEnd) {
  Expected early = sale(kFair);
  early.lead_from = in(1);
  Expected late = sale(kFair);
  late.lead_from = in(-90 * kMinute);
  late.end = kNow;
  input_.expected = {early, late};
  EXPECT_TRUE(planned().moves.empty());
}

TEST_F(ExpectedTest, IsOutsideOfTheKeyBudget) {
  input_.history.push_back({.ranges = {{Token{1}, Token{2}}},
                            .source = NodeId{3},
                            .destination = NodeId{2},
                            .ended = in(-20 * kMinute),
                            .keys = 4'000});
  input_.expected = {sale(kFair)};
  EXPECT_EQ(planned().moves.size(), 1U);
}

TEST_F(ExpectedTest, WhatIsThereAlreadyIsNotAddedToIt) {
  input_.expected = {sale(kFair / 40)};  // as much as the range carries
  EXPECT_TRUE(planned().moves.empty());
}

TEST_F(ExpectedTest, AHotTokenIsForeseenAsOne) {
  Expected key = sale(kFair);
  key.range.last = key.range.first;
  input_.expected = {key};
  const Plan plan = planned();
  ASSERT_FALSE(plan.heavy.empty());
  EXPECT_EQ(plan.heavy[0].token, key.range.first);
}

TEST_F(ExpectedTest, NonsenseIsIgnored) {
  Expected huge = sale(std::numeric_limits<std::uint64_t>::max());
  Expected backwards = sale(kFair);
  std::swap(backwards.range.first, backwards.range.last);
  Expected endless = sale(kFair);
  endless.end = UnixMillis{std::numeric_limits<std::int64_t>::max()};
  input_.expected = {huge, backwards, endless};
  EXPECT_TRUE(planned().moves.empty());
}

// ---- what is usual --------------------------------------------------------------------------

TEST_F(PlannerTest, WhatIsHotEveryDaySaysSo) {
  load({160, 100, 100, 40});
  input_.trigger = {};
  input_.usual = {{NodeId{1}, 1'500'000}};
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  ASSERT_EQ(reasons(plan), std::vector{Why::kUsual});
  EXPECT_EQ(plan.verdicts[0].until, in(300'000));
}

// ---- several ways at once -------------------------------------------------------------------

TEST_F(PlannerTest, ARangeFarAboveAShareIsCutIntoSeveralPartsAtOnce) {
  // One range of node 1 carries 2.4 shares, evenly over 48 tokens.
  load({0, 53, 53, 54});
  const auto entry = std::ranges::find(view_->entries(), NodeId{1}, &ring::Entry::node);
  const std::uint64_t step = (entry->range.last.value() - entry->range.first.value()) / 48;
  std::erase_if(tokens_, [&](const auto& each) { return entry->range.contains(each.token); });
  for (std::uint64_t at = 0; at < 48; ++at) {
    tokens_.push_back({Token{entry->range.first.value() + at * step}, kFair / 20, 100});
  }
  std::ranges::sort(tokens_, {}, &heat::TokenLoad::token);
  loads_[static_cast<std::size_t>(entry - view_->entries().begin())] = kFair / 20 * 48;
  input_.constants.moves_out_max = 3;
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 3U);
  std::set<NodeId> destinations;
  for (const PlannedMove& move : plan.moves) destinations.insert(move.destination);
  EXPECT_EQ(destinations.size(), 3U);
  EXPECT_LE(plan.predicted_ppm, 1'150'000U);
}

// ---- why not the others ---------------------------------------------------------------------

TEST_F(PlannerTest, AMoveNamesWhoWasPassedOver) {
  load({160, 100, 60, 40});
  facts(4).joining = true;
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  EXPECT_EQ(plan.moves[0].destination, NodeId{3});
  const std::vector<Alternative> want{{NodeId{4}, "it is not ready yet"}};
  EXPECT_EQ(plan.moves[0].alternatives, want);
  const std::vector<std::string> lines = explain(plan, document_, kNow);
  EXPECT_NE(lines[1].find("; not 'n4': it is not ready yet"), std::string::npos) << lines[1];
}

TEST_F(PlannerTest, APieceDoesNotLoseAReplica) {
  document_.nodes[0].members.push_back({"n1:2", "r1"});  // the same rack: no failure domain more
  load({160, 100, 100, 40});
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  ASSERT_EQ(reasons(plan), std::vector{Why::kNoTarget});
  EXPECT_NE(plan.verdicts[0].text.find("replica"), std::string::npos) << plan.verdicts[0].text;
}

TEST_F(PlannerTest, TheBudgetSaysWhenItEnds) {
  load({160, 100, 100, 40});
  for (const std::int64_t ago : {20, 50}) {
    input_.history.push_back({.ranges = {{Token{1}, Token{2}}},
                              .source = NodeId{3},
                              .destination = NodeId{2},
                              .ended = in(-ago * kMinute),
                              .keys = 5'000});
  }
  const Plan plan = planned();
  ASSERT_EQ(reasons(plan), std::vector{Why::kBudget});
  EXPECT_EQ(plan.verdicts[0].until, in(10 * kMinute));
}

TEST_F(PlannerTest, TokensThatFlapMustGainMoreEachTime) {
  // A move out of node 4 of everything, twice, long ago: what goes there flaps.
  load({114, 103, 103, 80});
  ASSERT_FALSE(planned().moves.empty());
  for (const std::int64_t hours : {20, 21, 22, 23}) {
    input_.history.push_back({.ranges = {{ring::kFirstToken, ring::kLastToken}},
                              .source = NodeId{4},
                              .destination = NodeId{1},
                              .ended = in(-hours * 60 * kMinute)});
  }
  input_.constants.back_after = milliseconds{1};
  EXPECT_TRUE(planned().moves.empty());  // 16 x 1 % of a share
}

TEST_F(PlannerTest, TheAdviceIsANumberToo) {
  load({400, 400, 400, 400});  // 0.8 of each core; five nodes would be at 0.64
  EXPECT_EQ(planned().advice_nodes, 1U);
}

// ---- bad input ------------------------------------------------------------------------------

class BadInputTest : public PlannerTest {
 protected:
  BadInputTest() {
    load({160, 100, 100, 40});
    planned();
  }

  void expect_refused(const std::string& says) {
    const Plan result = plan(input_);
    EXPECT_TRUE(result.moves.empty() && result.merges.empty());
    ASSERT_EQ(reasons(result), std::vector{Why::kBadInput});
    EXPECT_NE(result.verdicts[0].text.find(says), std::string::npos) << result.verdicts[0].text;
  }

  static constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
};

TEST_F(BadInputTest, LoadsThatNoServerCouldCarry) {
  input_.picture.ranges[3].load.mean = kHuge;
  expect_refused("no servers could carry");
}

TEST_F(BadInputTest, LoadsWhoseSumOverflows) {
  for (heat::RangeLoad& each : input_.picture.ranges) each.load.mean = ring::kNumberMax;
  expect_refused("no servers could carry");
}

TEST_F(BadInputTest, TokensThatOverflow) {
  input_.picture.tokens[0].load = kHuge;
  expect_refused("no servers could carry");
}

TEST_F(BadInputTest, ATokenToldTwice) {
  input_.picture.tokens.insert(input_.picture.tokens.begin(), input_.picture.tokens[0]);
  expect_refused("twice");
}

TEST_F(BadInputTest, APictureThatLacksARange) {
  input_.picture.ranges.pop_back();
  expect_refused("other ranges");
}

TEST_F(BadInputTest, ClocksThatCannotBe) {
  for (const std::int64_t now : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                 std::numeric_limits<std::int64_t>::max()}) {
    input_.now = UnixMillis{now};
    expect_refused("clock");
  }
}

TEST_F(BadInputTest, ANodeWhoseNumbersCannotBeIsNotTouched) {
  facts(4).keys = kHuge;
  facts(4).bytes_per_key = kHuge;
  for (const PlannedMove& move : plan(input_).moves) EXPECT_NE(move.destination, NodeId{4});
  facts(1).capacity = kHuge;
  const Plan result = plan(input_);
  EXPECT_TRUE(result.moves.empty());
  EXPECT_NE(std::ranges::count(reasons(result), Why::kTooManyDown) +
                std::ranges::count(reasons(result), Why::kVeto),
            0);
}

TEST_F(BadInputTest, ANodeToldOfTwiceDifferentlyIsNotTouched) {
  input_.nodes.push_back(facts(4));
  EXPECT_FALSE(plan(input_).moves.empty());  // twice the same
  input_.nodes.back().memory_bytes = 1;
  for (const PlannedMove& move : plan(input_).moves) EXPECT_NE(move.destination, NodeId{4});
}

TEST_F(BadInputTest, NobodyIsKnown) {
  input_.nodes.clear();
  EXPECT_EQ(reasons(plan(input_)), std::vector{Why::kTooManyDown});
}

TEST_F(BadInputTest, OneNodeAloneIsLeftAlone) {
  document_ = test_document(1);
  loads_.clear();
  tokens_.clear();
  load({100});
  input_.nodes.resize(1);
  EXPECT_TRUE(planned().moves.empty());
}

TEST_F(BadInputTest, APastThatCannotBeIsForgotten) {
  PastMove move{.ranges = {{Token{9}, Token{1}}}, .source = NodeId{77}, .destination = NodeId{78}};
  move.ended = kNow;
  input_.history.push_back(move);
  move.ranges = {{Token{1}, Token{9}}};
  move.keys = kHuge;
  input_.history.push_back(move);
  move.keys = 1;
  move.ended = UnixMillis{std::numeric_limits<std::int64_t>::max()};
  input_.history.push_back(move);
  move.ended = UnixMillis{std::numeric_limits<std::int64_t>::min()};
  input_.history.push_back(move);
  EXPECT_FALSE(plan(input_).moves.empty());
}

}  // namespace
}  // namespace cleave::balance
