// What is said when nothing is done must be the true reason: one test for each, and laws over
// random worlds.
#include <gtest/gtest.h>

#include "balance/explain.h"
#include "balance/input/input_testing.h"
#include "balance/planner.h"
#include "balance/planner_testing.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kCases = 1'000;
constexpr std::int64_t kMinute = 60'000;

UnixMillis in(std::int64_t millis) { return UnixMillis{kNow.value() + millis}; }

class VerdictTest : public PlannerTest {
 protected:
  // As seen for so many ticks from a fresh start; moves are only proposed.
  Plan after_ticks(int ticks) {
    input_.trigger = {};
    Plan last = planned();
    for (int tick = 1; tick < ticks; ++tick) {
      input_.trigger = last.trigger;
      input_.now = UnixMillis{input_.now.value() + 2'000};
      last = plan(input_);
    }
    return last;
  }

  // One token of the node gets so many hundredths of a fair load more.
  void heat_up(NodeId node, std::uint64_t percent, std::size_t nth = 0) {
    const auto entries = view_->entries();
    for (std::size_t at = 0; at < entries.size(); ++at) {
      if (entries[at].node != node || nth-- > 0) continue;
      const std::uint64_t more = kFair / 100 * percent;
      loads_[at] += more;
      for (heat::TokenLoad& each : tokens_) {
        if (entries[at].range.contains(each.token)) each.load += more;
      }
      return;
    }
  }
};

TEST_F(VerdictTest, OneHotKeyIsNamedForAsLongAsItIsHot) {
  load({250, 50, 50, 50}, 1);
  for (const int ticks : {1, 3, 5, 40}) {
    const Plan plan = after_ticks(ticks);
    EXPECT_TRUE(plan.moves.empty());
    ASSERT_EQ(reasons(plan), std::vector{Why::kUnsplittable}) << ticks << " ticks";
    const Verdict& verdict = plan.verdicts[0];
    EXPECT_EQ(verdict.node, NodeId{1});
    EXPECT_EQ(verdict.key, "key");
    EXPECT_EQ(verdict.until, UnixMillis{});
    EXPECT_EQ(explain(verdict, kNow).find("unsplittable: key is 100.0 % of the load of node 'n1'"),
              0U)
        << explain(verdict, kNow);
  }
}

TEST_F(VerdictTest, AHotTokenWhoseKeyIsNotKnownIsNamedByItsPlace) {
  load({250, 50, 50, 50}, 1);
  planned();
  input_.picture.keys.clear();
  const Plan plan = balance::plan(input_);
  ASSERT_EQ(reasons(plan), std::vector{Why::kUnsplittable});
  EXPECT_EQ(plan.verdicts[0].text.find("token " + ring::to_hex(*plan.verdicts[0].token)), 0U);
}

TEST_F(VerdictTest, AKeyThatIsNoTextStandsBetweenQuotes) {
  load({250, 50, 50, 50}, 1);
  planned();
  for (heat::KeyLoad& each : input_.picture.keys) each.key = "a b\n";
  EXPECT_EQ(balance::plan(input_).verdicts[0].text.find("'a b\\x0a' is 100.0 %"), 0U);
}

// Another node is hot too, but no hotter than the one key makes its node for ever.
TEST_F(VerdictTest, WhatIsBelowTheBoundSaysWhoseKeyThatIs) {
  load({0, 5, 5, 160}, 40);
  heat_up(NodeId{1}, 230);
  const Plan plan = after_ticks(8);
  EXPECT_TRUE(plan.moves.empty());
  ASSERT_EQ(reasons(plan), (std::vector{Why::kUnsplittable, Why::kBound}));
  EXPECT_EQ(plan.verdicts[1].node, NodeId{4});
  EXPECT_NE(plan.verdicts[1].text.find("because of key on 'n1'"), std::string::npos)
      << plan.verdicts[1].text;
}

TEST_F(VerdictTest, PeaksThatComeAndGoAreNotSaidToLast) {
  load({100, 100, 100, 100});
  planned();
  NodeTrigger spiky{.node = NodeId{1}, .hot_ticks = 0b10101};
  input_.trigger = {.nodes = {spiky}};
  for (heat::NodeLoad& each : input_.picture.nodes) {
    if (each.node == NodeId{1}) each.load.tick *= 3;
  }
  const Plan plan = balance::plan(input_);
  ASSERT_EQ(reasons(plan), std::vector{Why::kNotLongEnough});
  EXPECT_NE(plan.verdicts[0].text.find("come and go"), std::string::npos) << plan.verdicts[0].text;
  EXPECT_EQ(plan.verdicts[0].text.find("acts at 3"), std::string::npos);
}

TEST_F(VerdictTest, WhatDwellsElsewhereIsNoReason) {
  // Three heavy tokens of node 1 fit nowhere; something cold was put on node 3 a minute ago.
  load({0, 100, 100, 100}, 40);
  for (std::size_t nth : {0U, 1U}) heat_up(NodeId{1}, 50, nth);
  const auto elsewhere = std::ranges::find(view_->entries(), NodeId{3}, &ring::Entry::node);
  input_.history.push_back({.ranges = {elsewhere->range},
                            .source = NodeId{2},
                            .destination = NodeId{3},
                            .ended = in(-kMinute)});
  for (const Verdict& each : planned().verdicts) EXPECT_NE(each.why, Why::kDwell) << each.text;
}

TEST_F(VerdictTest, WhatDwellsHereSaysUntilWhen) {
  load({160, 100, 100, 40});
  const auto put = [&](NodeId node, std::int64_t ago) {
    std::vector<ring::TokenRange> ranges = view_->owned_by(node);
    input_.history.push_back(
        {.ranges = std::move(ranges), .source = NodeId{3}, .destination = node, .ended = in(-ago)});
  };
  put(NodeId{1}, 2 * kMinute);
  put(NodeId{2}, 9 * kMinute);
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  ASSERT_EQ(reasons(plan), std::vector{Why::kDwell});
  EXPECT_EQ(plan.verdicts[0].until, in(8 * kMinute));  // its own, not the first of all
}

TEST_F(VerdictTest, WhatCameFromWhereThereIsRoomSaysSo) {
  load({160, 100, 100, 40});
  for (const std::uint32_t node : {2U, 3U, 4U}) {
    input_.history.push_back({.ranges = view_->owned_by(NodeId{1}),
                              .source = NodeId{node},
                              .destination = NodeId{1},
                              .ended = in(-30 * kMinute)});
  }
  const Plan plan = planned();
  EXPECT_TRUE(plan.moves.empty());
  ASSERT_EQ(reasons(plan), std::vector{Why::kDwell});
  EXPECT_NE(plan.verdicts[0].text.find("came from 'n4'"), std::string::npos)
      << plan.verdicts[0].text;
}

// ---- memory ---------------------------------------------------------------------------------

class FullTest : public VerdictTest {
 protected:
  // A small server that is full beside a large one that is not.
  void full(std::uint64_t used, std::uint64_t most, std::uint64_t other_used,
            std::uint64_t other_most) {
    document_ = test_document(2);
    loads_.clear();
    tokens_.clear();
    input_.trigger = {};
    input_.nodes.resize(2);
    for (NodeFacts& each : input_.nodes) each.bytes_per_key = 100;
    facts(1).memory_bytes = used;
    facts(1).memory_bytes_max = most;
    facts(2).memory_bytes = other_used;
    facts(2).memory_bytes_max = other_most;
  }
};

TEST_F(FullTest, NextToNoLoadDoesNotKeepAFullNodeFull) {
  full(2'000'000, 2'000'000, 4'200'000, 20'000'000);
  load({1, 0}, 1);  // a hundredth of a fair load, and all of it on the node with room ...
  std::ranges::fill(loads_, 0U);
  tokens_.clear();
  const auto other = std::ranges::find(view_->entries(), NodeId{2}, &ring::Entry::node);
  loads_[static_cast<std::size_t>(other - view_->entries().begin())] = 1'000'000;
  const Plan plan = planned();  // ... which is a thousandth of a core
  ASSERT_EQ(plan.moves.size(), 1U);
  EXPECT_EQ(plan.moves[0].cause, Cause::kMemory);
  EXPECT_EQ(plan.moves[0].destination, NodeId{2});
}

TEST_F(FullTest, SaysThatTheOtherNodeHasNoRoomForLoad) {
  full(2'000'000, 2'000'000, 4'200'000, 20'000'000);
  load({0, 0});
  tokens_.clear();  // of ranges that nobody sampled every part has its part of the load
  for (std::size_t at = 0; at < loads_.size(); ++at) {
    loads_[at] = view_->entries()[at].node == NodeId{1} ? kFair / 500 : kFair / 100;
  }
  const Plan plan = planned();
  for (const PlannedMove& each : plan.moves) EXPECT_NE(each.cause, Cause::kMemory);
  const auto verdict = std::ranges::find(plan.verdicts, Why::kNoTarget, &Verdict::why);
  ASSERT_NE(verdict, plan.verdicts.end());
  ASSERT_EQ(verdict->alternatives.size(), 1U);
  EXPECT_NE(verdict->alternatives[0].why.find("no room for more load"), std::string::npos)
      << verdict->alternatives[0].why;
  EXPECT_NE(verdict->text.find("for one, 'n2'"), std::string::npos) << verdict->text;
}

TEST_F(FullTest, SaysThatTheOtherNodeHasNoLimit) {
  full(1'900'000, 2'000'000, 4'200'000, 0);
  document_ = test_document(3);
  input_.nodes.push_back({.id = NodeId{3}, .keys = 10'000, .bytes_per_key = 100});
  facts(3).memory_bytes_max = 20'000'000;
  facts(3).joining = true;
  load({100, 100, 100});
  const Plan plan = planned();
  const auto verdict = std::ranges::find(plan.verdicts, Why::kNoTarget, &Verdict::why);
  ASSERT_NE(verdict, plan.verdicts.end());
  const std::vector<Alternative> want{{NodeId{2}, "it has no limit of memory to compare with"},
                                      {NodeId{3}, "it is not ready yet"}};
  EXPECT_EQ(verdict->alternatives, want);
}

// ---- laws -----------------------------------------------------------------------------------

// The load does not change and nothing is carried out (mode observe): whoever waits for time has it
// after a while, and no time that is over is named.
TEST(VerdictLaw, NobodyWaitsForEver) {
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    Input input = random_input(seed);
    Plan last;
    for (int tick = 0; tick < 12; ++tick) {
      input.now = UnixMillis{input.now.value() + 61'000};
      last = plan(input);
      input.trigger = last.trigger;
      for (const Verdict& each : last.verdicts) {
        ASSERT_TRUE(each.until == UnixMillis{} || each.until > input.now)
            << "seed " << seed << ": " << explain(each, input.now);
      }
    }
    for (const Verdict& each : last.verdicts) {
      ASSERT_NE(each.why, Why::kNotLongEnough) << "seed " << seed << ": " << each.text;
    }
  }
}

// The heaviest token of the picture gets four times as much as all others together.
void make_one_hot(Input& input) {
  std::uint64_t all = 0;
  for (const heat::RangeLoad& each : input.picture.ranges) all += each.load.mean;
  const auto token = std::ranges::max_element(input.picture.tokens, {}, &heat::TokenLoad::load);
  if (token == input.picture.tokens.end() || all == 0) return;
  const std::uint64_t more = 4 * all;
  token->load += more;
  token->samples = 1'000;
  const heat::Load load{.tick = more, .mean = more, .slow = more, .peak = more};
  heat::RangeLoad& range = input.picture.ranges[input.view->find(token->token).value()];
  range.load += load;
  std::ranges::find(input.picture.nodes, range.node, &heat::NodeLoad::node)->load += load;
}

TEST(VerdictLaw, WhatIsUnsplittableIsThereAndHeavy) {
  std::size_t seen = 0;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    Input input = random_input(seed);
    make_one_hot(input);
    const Plan result = plan(input);
    for (const Verdict& each : result.verdicts) {
      if (each.why != Why::kUnsplittable || each.text.find(" holds ") != std::string::npos)
        continue;
      ++seen;
      ASSERT_TRUE(each.token.has_value());
      const auto heavy = std::ranges::find(result.heavy, *each.token, &HeavyToken::token);
      ASSERT_NE(heavy, result.heavy.end()) << "seed " << seed << ": " << each.text;
      ASSERT_EQ(heavy->node, each.node) << "seed " << seed << ": " << each.text;
      ASSERT_EQ(each.text.find(heavy->key.empty() ? "token " : heavy->key), 0U) << each.text;
    }
  }
  EXPECT_GT(seen, kCases / 50);
}

}  // namespace
}  // namespace cleave::balance
