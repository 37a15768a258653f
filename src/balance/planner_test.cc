#include "balance/planner.h"

#include <gtest/gtest.h>

#include <set>

#include "balance/explain.h"
#include "balance/planner_testing.h"
#include "balance/steps/parts.h"

namespace cleave::balance {
namespace {

TEST_F(PlannerTest, MovesTheExcessToANodeWithRoom) {
  load({160, 100, 100, 40});
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  const PlannedMove& move = plan.moves[0];
  EXPECT_EQ(move.source, NodeId{1});
  EXPECT_EQ(move.destination, NodeId{4});
  EXPECT_EQ(move.cause, Cause::kHot);
  // min(160 - 106, (104 - 40) / 1.1) = 54 of a hundred, in pieces of 4.
  EXPECT_NEAR(static_cast<double>(move.load), 0.54 * kFair, 0.04 * kFair);
  EXPECT_LT(move.keys, 300U);  // narrow windows around the tokens, not ranges
  EXPECT_EQ(plan.peak_ppm, 1'600'000U);
  EXPECT_LT(plan.predicted_ppm, 1'100'000U);
}

TEST_F(PlannerTest, FillsANodeOnlyAsFarAsItHasRoom) {
  load({190, 95, 95, 20});
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  EXPECT_EQ(plan.moves[0].destination, NodeId{4});
  // (104 - 20) / 1.1 = 76: less than the excess of 86.
  EXPECT_LE(plan.moves[0].load, kFair * 77 / 100);
  EXPECT_GE(plan.moves[0].load, kFair * 70 / 100);
}

TEST_F(PlannerTest, SpreadsOverSeveralNodesAtOnceWhereThatIsAllowed) {
  load({280, 40, 40, 40});
  EXPECT_EQ(planned().moves.size(), 1U);  // one out of a node at a time
  input_.constants.moves_out_max = 3;
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 3U);
  std::set<NodeId> destinations;
  for (const PlannedMove& move : plan.moves) {
    EXPECT_LE(move.destination_after, kFair * 105 / 100);
    destinations.insert(move.destination);
  }
  EXPECT_EQ(destinations.size(), 3U);
  EXPECT_LT(plan.predicted_ppm, 1'150'000U);
}

TEST_F(PlannerTest, TwoHotNodesAreHelpedInOnePlan) {
  load({160, 160, 40, 40});
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 2U);
  EXPECT_NE(plan.moves[0].source, plan.moves[1].source);
  EXPECT_NE(plan.moves[0].destination, plan.moves[1].destination);
}

TEST_F(PlannerTest, DoesNothingBeforeTheTrigger) {
  load({160, 100, 100, 40});
  input_.trigger = {};
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kNotLongEnough});
  EXPECT_EQ(plan.trigger.nodes[0].hot_ticks, 1U);
}

TEST_F(PlannerTest, AMoveInFlightCountsAsDone) {
  load({160, 100, 100, 40});
  const PlannedMove move = planned().moves[0];
  document_ =
      *ring::begin_move(document_, {move.ranges, move.source, move.destination, move.reason, kNow});
  view_ = test_view(document_);
  loads_of_tokens();
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(plan.peak_ppm, 1'600'000U);  // what is, and what will be
  EXPECT_LT(plan.predicted_ppm, 1'100'000U);
}

TEST_F(PlannerTest, AFrozenPoolIsLeftAlone) {
  document_.frozen = true;
  load({160, 100, 100, 40});
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kFrozen});
}

// Nobody froze it: the reason says what to do.
TEST_F(PlannerTest, WhileVersionsAreMixedTheReasonIsTheUpgrade) {
  document_.routers.push_back({.session = SessionId{"old"}, .reader = 4});
  load({160, 100, 100, 40});
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kUpgrade});
  EXPECT_EQ(to_string(Why::kUpgrade), "upgrade");
  ASSERT_EQ(plan.verdicts.size(), 1U);
  EXPECT_TRUE(plan.verdicts.front().text.starts_with("router old is of an older version"));
}

TEST_F(PlannerTest, WhileThePoolGoesBackTheReasonIsTheUpgradeToo) {
  document_.old_readers = true;
  load({160, 100, 100, 40});
  EXPECT_EQ(reasons(planned()), std::vector{Why::kUpgrade});
}

TEST_F(PlannerTest, NothingIsPlannedWhereTokensDependOnTheNodes) {
  document_.scheme.name = "modulo";
  document_.cuts.clear();
  load({160, 100, 100, 40});
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(plan.peak_ppm, 1'600'000U);
  EXPECT_EQ(reasons(plan), std::vector{Why::kScheme});
}

TEST_F(PlannerTest, APictureOfAnotherRingIsNotUsed) {
  load({160, 100, 100, 40});
  planned();
  input_.picture.epoch = Epoch{9'999};
  EXPECT_EQ(reasons(plan(input_)), std::vector{Why::kNoHeat});
}

TEST_F(PlannerTest, LoadThatIsOnlyRememberedMovesNothing) {
  load({160, 100, 100, 40});
  sources_.push_back({.session = SessionId{"gone"}, .silent = true, .load = 1});
  EXPECT_EQ(reasons(planned()), std::vector{Why::kNoHeat});
}

TEST_F(PlannerTest, TooManySickNodesMoveNothing) {
  load({160, 100, 100, 40});
  facts(2).healthy = false;
  facts(3).healthy = false;
  EXPECT_EQ(reasons(planned()), std::vector{Why::kTooManyDown});
}

TEST_F(PlannerTest, ANodeThatOthersWriteToIsNotTouched) {
  load({160, 100, 100, 40});
  facts(4).unattributed_writes = true;
  for (const PlannedMove& move : planned().moves) EXPECT_NE(move.destination, NodeId{4});
  facts(1).unattributed_writes = true;
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kVeto});
  EXPECT_NE(plan.verdicts[0].text.find("past the routers"), std::string::npos);
}

TEST_F(PlannerTest, ANodeThatIsNotReadyTakesNothing) {
  load({160, 100, 100, 40});
  facts(4).joining = true;
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kNoTarget});
  EXPECT_NE(plan.verdicts[0].text.find("not ready"), std::string::npos);
}

TEST_F(PlannerTest, APieceDoesNotLoseAFailureDomain) {
  document_.nodes[0].members.push_back({"n1:2", "other-rack"});
  load({160, 100, 100, 40});
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  ASSERT_EQ(reasons(plan), std::vector{Why::kNoTarget});
  EXPECT_NE(plan.verdicts[0].text.find("racks"), std::string::npos);
}

// Of the nodes that have room, 4 refuses what it is to take, and 2 and 3 could not read it.
TEST_F(PlannerTest, NothingGoesWhereItWouldBeRefused) {
  load({160, 70, 70, 40});
  facts(4).refuses = "OOM command not allowed";
  facts(1).rdb_version = 80;
  facts(2).rdb_version = facts(3).rdb_version = facts(4).rdb_version = 10;
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  ASSERT_EQ(reasons(plan), std::vector{Why::kNoTarget});
  std::string why;
  for (const Alternative& each : plan.verdicts[0].alternatives) why += each.why + "; ";
  EXPECT_NE(why.find("OOM"), std::string::npos) << why;
  EXPECT_NE(why.find("RDB version 80"), std::string::npos) << why;
}

// A full server takes nothing; giving is what helps it.
TEST_F(PlannerTest, ANodeThatRefusesToTakeMayGive) {
  load({160, 100, 100, 40});
  facts(1).refuses = "OOM command not allowed";
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  EXPECT_EQ(plan.moves[0].source, NodeId{1});
}

TEST(Placement, ValuesGoFromOlderFormatsToNewerOnes) {
  EXPECT_TRUE(rdb_fits(9, 10));
  EXPECT_TRUE(rdb_fits(10, 10));
  EXPECT_TRUE(rdb_fits(80, 80));
  EXPECT_TRUE(rdb_fits(11, 80)) << "Valkey reads what both had in common";
  EXPECT_TRUE(rdb_fits(0, 10)) << "not known: the servers are asked before a move";
  EXPECT_TRUE(rdb_fits(80, 0));
  EXPECT_FALSE(rdb_fits(10, 9));
  EXPECT_FALSE(rdb_fits(80, 12));
  EXPECT_FALSE(rdb_fits(12, 80)) << "Redis's own from there on";
}

TEST_F(PlannerTest, ANodeWithoutMemoryTakesNothing) {
  load({160, 100, 100, 40});
  facts(4).memory_bytes = 1'000;
  facts(4).memory_bytes_max = 1'001;
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kNoTarget});
}

TEST_F(PlannerTest, ANodeWhoseMemoryFillsUpGivesItsColdestRanges) {
  load({100, 100, 100, 100}, 20);
  input_.trigger = {};
  for (NodeFacts& each : input_.nodes) {
    each.memory_bytes = 400'000'000;
    each.memory_bytes_max = 1'000'000'000;
    each.bytes_per_key = 40'000;
    each.bytes_per_key = 40'000;
  }
  facts(3).memory_bytes = 900'000'000;
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  EXPECT_EQ(plan.moves[0].source, NodeId{3});
  EXPECT_EQ(plan.moves[0].cause, Cause::kMemory);
  EXPECT_EQ(plan.moves[0].load, 0U);  // there are ranges without any load
  EXPECT_GT(plan.moves[0].bytes, 5'000'000U);
  EXPECT_LE(plan.moves[0].keys, 400U);  // 1 % of all
}

TEST_F(PlannerTest, ATenantWithLargeValuesIsSpreadByBytes) {
  load({100, 100, 100, 100}, 20);
  input_.trigger = {};
  for (NodeFacts& each : input_.nodes) {
    each.memory_bytes = 100'000'000;
    each.memory_bytes_max = 1'000'000'000;
    each.bytes_per_key = 10'000;
  }
  // Three tokens of node 3 with a hundred keys each hold 480 of its 800 MB.
  facts(3).memory_bytes = 800'000'000;
  facts(3).bytes_per_key = 80'000;
  std::vector<KeySample>& sample = facts(3).key_sample;
  std::vector<Token> tenant;
  const auto ranges = view_->owned_by(NodeId{3});
  for (const ring::TokenRange& each : ranges) {
    for (std::uint64_t count = 0; count < 4; ++count) {
      sample.push_back({.token = Token{each.first.value() + count},
                        .bytes = 33'000,
                        .weight_ppm = static_cast<std::uint32_t>(2'425'000'000 / ranges.size())});
    }
    if (tenant.size() == 3) continue;
    tenant.push_back(Token{each.last.value() - 5});
    for (int count = 0; count < 100; ++count) sample.push_back({tenant.back(), 1'600'000});
  }
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  const PlannedMove& move = plan.moves[0];
  EXPECT_EQ(move.cause, Cause::kMemory);
  EXPECT_TRUE(
      std::ranges::any_of(tenant, [&](Token each) { return ring::contains(move.ranges, each); }));
  EXPECT_GT(move.bytes, 50'000'000U);
  EXPECT_LE(move.keys, 400U);
  EXPECT_TRUE(plan.trigger.nodes[2].emptying);
}

TEST_F(PlannerTest, MemoryWaitsUntilItIsKnownWhereTheBytesLie) {
  load({100, 100, 100, 100}, 20);
  input_.trigger = {};
  for (NodeFacts& each : input_.nodes) {
    each.memory_bytes = 100'000'000;
    each.memory_bytes_max = 1'000'000'000;
  }
  facts(3).memory_bytes = 800'000'000;
  facts(3).sample_due = UnixMillis{kNow.value() + 9'000};
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kSample});
  EXPECT_EQ(plan.verdicts[0].until, facts(3).sample_due);
}

TEST_F(PlannerTest, MemoryALittleHighForMinutesIsLevelledToo) {
  load({100, 100, 100, 100}, 20);
  input_.trigger = {};
  for (NodeFacts& each : input_.nodes) {
    each.memory_bytes = 400'000'000;
    each.memory_bytes_max = 1'000'000'000;
    each.bytes_per_key = 40'000;
  }
  facts(3).memory_bytes = 480'000'000;
  Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  input_.trigger = plan.trigger;
  input_.now = UnixMillis{input_.now.value() + input_.constants.slow_after.count()};
  plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  EXPECT_EQ(plan.moves[0].cause, Cause::kMemory);
  facts(3).memory_bytes = 420'000'000;
  input_.trigger = plan.trigger;
  EXPECT_TRUE(planned().moves.empty());
}

TEST_F(PlannerTest, MemoryThatIsFullEverywhereMovesNothing) {
  input_.trigger = {};
  load({100, 100, 100, 100}, 20);
  for (NodeFacts& each : input_.nodes) {
    each.memory_bytes = 900'000'000;
    each.memory_bytes_max = 1'000'000'000;
  }
  EXPECT_TRUE(planned().moves.empty());
}

TEST_F(PlannerTest, TheHoursBudgetOfKeysHolds) {
  load({160, 100, 100, 40});
  input_.history.push_back({.ranges = {{Token{1}, Token{2}}},
                            .source = NodeId{3},
                            .destination = NodeId{2},
                            .ended = UnixMillis{kNow.value() - 1'200'000},
                            .keys = 10'000});
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kBudget});
  EXPECT_GT(plan.verdicts[0].until, kNow);
}

TEST_F(PlannerTest, WhatIsOnlyALittleHighGetsATenthOfTheBudget) {
  load({130, 100, 100, 70});
  input_.history.push_back({.ranges = {{Token{1}, Token{2}}},
                            .source = NodeId{3},
                            .destination = NodeId{2},
                            .ended = UnixMillis{kNow.value() - 1'200'000},
                            .keys = 400});
  input_.trigger.engaged = Engaged::kSlow;
  EXPECT_EQ(reasons(planned()), std::vector{Why::kBudget});
  input_.trigger.engaged = Engaged::kHot;
  EXPECT_FALSE(planned().moves.empty());
}

TEST_F(PlannerTest, AlmostFullIsUrgent) {
  load({460, 250, 250, 240});
  input_.history.push_back({.ranges = {{Token{1}, Token{2}}},
                            .source = NodeId{3},
                            .destination = NodeId{2},
                            .ended = UnixMillis{kNow.value() - 1'200'000},
                            .keys = 4'000});
  const Plan plan = planned();
  ASSERT_FALSE(plan.moves.empty());
  EXPECT_EQ(plan.moves[0].cause, Cause::kUrgent);
}

TEST_F(PlannerTest, AsManyCutsAsAllowedAndNoMore) {
  load({160, 100, 100, 40});
  input_.constants.cuts_per_node = 0;
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(reasons(plan), std::vector{Why::kCuts});
}

// Nobody has laid them yet, but they are on their way.
TEST_F(PlannerTest, CutsOfMovesUnderWayCount) {
  for (const std::size_t pieces : {1U, 3U}) {
    load({160, 100, 100, 40});
    const ring::RangeSet owned = view_->owned_by(NodeId{3});
    ring::RangeSet ranges;
    for (std::size_t i = 0; i < pieces; ++i) ranges.push_back({owned[i].first, owned[i].first});
    document_.moves.clear();
    document_ = *ring::begin_move(document_, {ranges, NodeId{3}, NodeId{2}, "hot: test", kNow});
    view_ = test_view(document_);
    loads_of_tokens();
    input_.constants.cuts_per_node = 1;  // four of the pool: one or three are left
    const Plan plan = planned();
    EXPECT_EQ(plan.moves.empty(), pieces == 3) << pieces;
    EXPECT_EQ(reasons(plan) == std::vector{Why::kCuts}, pieces == 3) << pieces;
  }
}

TEST_F(PlannerTest, OneKeyThatIsTheLoadIsNamed) {
  load({250, 50, 50, 50}, 1);
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(plan.bound_ppm, 2'500'000U);
  // No cut can better it: a few plans more, and the work is over.
  for (std::uint32_t more = 0; more < input_.constants.polish_plans + 1; ++more) {
    input_.trigger = balance::plan(input_).trigger;
  }
  EXPECT_EQ(input_.trigger.engaged, Engaged::kIdle);
  ASSERT_FALSE(plan.heavy.empty());
  EXPECT_EQ(plan.heavy[0].key, "key");
  EXPECT_EQ(plan.heavy[0].ppm, 2'500'000U);
  EXPECT_NE(explain(plan.heavy[0], document_).find("unsplittable: key"), std::string::npos);
}

TEST_F(PlannerTest, AHeavyTokenThatFitsNowhereGoesWhereThePeakFalls) {
  // Three tokens of 0.8 on node 1: none fits beside 0.53 below the mean, one may stand above it.
  load({240, 53, 53, 54}, 3);
  const Plan plan = planned();
  ASSERT_EQ(plan.moves.size(), 1U);
  EXPECT_EQ(plan.moves[0].load, kFair / 100 * 240 / 3);
  EXPECT_EQ(plan.moves[0].keys, 1U);
  EXPECT_GT(plan.moves[0].destination_after, kFair);
}

TEST_F(PlannerTest, HeavyTokensThatShareANodeArePartedBeforeLightOnesMove) {
  // Two of 1.2 and a hundred light ones; 1.3 where one of them goes.
  load({0, 80, 80, 60}, 100);
  const auto heavy = [&](std::size_t nth) {
    for (std::size_t at = 0; at < loads_.size(); ++at) {
      if (view_->entries()[at].node != NodeId{1}) continue;
      const std::uint64_t load = nth < 2 ? kFair / 100 * 70 : kFair / 200;
      loads_[at] = load;
      const ring::TokenRange& range = view_->entries()[at].range;
      std::ranges::find_if(tokens_, [&](const auto& each) {
        return range.contains(each.token);
      })->load = load;
      if (++nth == 80) return;
    }
  };
  heavy(0);
  const Plan plan = planned();
  ASSERT_FALSE(plan.moves.empty());
  EXPECT_EQ(plan.moves[0].source, NodeId{1});
  EXPECT_EQ(plan.moves[0].destination, NodeId{4});
  EXPECT_EQ(plan.moves[0].keys, 1U);
  EXPECT_EQ(plan.moves[0].load, kFair / 100 * 70);
}

TEST_F(PlannerTest, AHeavyTokenThatWouldOnlyChangePlacesStays) {
  load({120, 93, 93, 94}, 2);  // two of 0.6: moving one would make the other node the hot one
  EXPECT_TRUE(planned().moves.empty());
}

TEST_F(PlannerTest, AScanThatCostsMoreThanItBringsIsNotMade) {
  load({160, 100, 100, 40});
  facts(1).keys = 200'000'000;  // 200 s of the source's main thread
  EXPECT_TRUE(planned().moves.empty());
}

TEST_F(PlannerTest, AdvisesNodesWhenAllAreFull) {
  load({400, 400, 400, 400});
  EXPECT_NE(planned().advice.find("add 1 node"), std::string::npos) << planned().advice;
}

TEST_F(PlannerTest, ExplainsItselfInLines) {
  load({160, 100, 100, 40});
  const Plan plan = planned();
  const std::vector<std::string> lines = explain(plan, document_, kNow);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[0].find("peak is 1.60x the mean, 1.0"), 0U) << lines[0];
  EXPECT_NE(lines[1].find("'n1' at 1.60x of its fair load (32.0 % of its capacity) gives"),
            std::string::npos)
      << lines[1];
  EXPECT_NE(lines[1].find("to 'n4' at 0.40x"), std::string::npos) << lines[1];
  for (const std::string& line : lines) EXPECT_EQ(line.find('\n'), std::string::npos);
}

// ---- merges ---------------------------------------------------------------------------------

class MergeTest : public PlannerTest {
 protected:
  // Two neighbouring cuts of node 1 inside an arc of another node.
  void neighbours(std::uint64_t load_each, milliseconds age) {
    input_.trigger = {};
    const ring::RingSnapshot bare = test_view(document_);
    const auto arc = std::ranges::find_if(
        bare->entries(), [](const ring::Entry& each) { return each.node != NodeId{1}; });
    const std::uint64_t first = arc->range.first.value();
    for (std::uint64_t at = 0; at < 2; ++at) {
      cuts_.push_back({Token{first + 1'000 * (at + 1)}, Token{first + 1'000 * (at + 2) - 1}});
      document_.cuts.push_back({.range = cuts_.back(),
                                .node = NodeId{1},
                                .reason = "test",
                                .created = UnixMillis{kNow.value() - age.count()},
                                .pinned_until = {}});
    }
    load({100, 100, 100, 100});
    for (std::size_t at = 0; at < loads_.size(); ++at) {
      if (view_->entries()[at].cut != ring::kNone) loads_[at] = load_each;
    }
    std::erase_if(tokens_, [&](const heat::TokenLoad& each) {
      return cuts_[0].contains(each.token) || cuts_[1].contains(each.token);
    });
  }

  std::vector<ring::TokenRange> cuts_;
};

TEST_F(MergeTest, ColdOldNeighboursOfOneOwnerAreMerged) {
  neighbours(kFair / 1'000, milliseconds{3'600'000});
  const std::vector<ring::TokenRange> want{{cuts_[0].first, cuts_[1].last}};
  EXPECT_EQ(planned().merges, want);
}

TEST_F(MergeTest, YoungOnesAreNot) {
  neighbours(kFair / 1'000, milliseconds{3'599'000});
  EXPECT_TRUE(planned().merges.empty());
}

TEST_F(MergeTest, WarmOnesAreNot) {
  neighbours(kFair / 50, milliseconds{3'600'000});
  EXPECT_TRUE(planned().merges.empty());
}

TEST_F(MergeTest, PinnedOnesAreNot) {
  neighbours(kFair / 1'000, milliseconds{3'600'000});
  for (ring::Cut& each : document_.cuts) each.pinned_until = UnixMillis{kNow.value() + 1};
  view_ = test_view(document_);
  EXPECT_TRUE(planned().merges.empty());
}

TEST_F(MergeTest, NobodyIsMergedBeforeThePeakIsKnown) {
  neighbours(kFair / 1'000, milliseconds{3'600'000});
  planned();
  input_.picture.observed = seconds{599};
  EXPECT_TRUE(plan(input_).merges.empty());
}

}  // namespace
}  // namespace cleave::balance
