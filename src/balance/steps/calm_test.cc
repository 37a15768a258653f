#include "balance/steps/calm.h"

#include <gtest/gtest.h>

#include "balance/closed_pool_testing.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr std::int64_t kSecond = 1'000;
constexpr std::int64_t kMinute = 60 * kSecond;

const ring::TokenRange kPiece{Token{1'000}, Token{2'000}};

PastMove past(std::int64_t ago, std::uint32_t from = 1, std::uint32_t to = 2) {
  return {.ranges = {kPiece},
          .source = NodeId{from},
          .destination = NodeId{to},
          .ended = UnixMillis{kNow - ago},
          .keys = 100,
          .predicted_gain = 1'000};
}

class CalmTest : public ::testing::Test {
 protected:
  CalmTest() {
    input_.view = test_view(test_document(3));
    input_.now = UnixMillis{kNow};
  }

  Calm calm(std::vector<PastMove> history) {
    input_.history = std::move(history);
    return Calm(input_);
  }

  Input input_{.view = nullptr};
};

TEST_F(CalmTest, APieceStaysTenMinutes) {
  EXPECT_EQ(calm({past(9 * kMinute)}).dwelling(), ring::RangeSet{kPiece});
  EXPECT_EQ(calm({past(9 * kMinute)}).dwelling_until({kPiece}), UnixMillis{kNow + kMinute});
  EXPECT_TRUE(calm({past(10 * kMinute)}).dwelling().empty());
}

TEST_F(CalmTest, OnlyWhatLoadMovedDwells) {
  PastMove aborted = past(kMinute);
  aborted.committed = false;
  PastMove ordered = past(kMinute);
  ordered.ordered = true;
  EXPECT_TRUE(calm({aborted, ordered}).dwelling().empty());
}

TEST_F(CalmTest, WhatLiesBesideAPieceIsNotCutForAMinute) {
  const ring::TokenRange beside{Token{2'001}, Token{9'000}};
  const ring::TokenRange apart{Token{2'002}, Token{9'000}};
  EXPECT_TRUE(calm({past(59 * kSecond)}).cut_just_now(beside));
  EXPECT_FALSE(calm({past(59 * kSecond)}).cut_just_now(apart));
  EXPECT_FALSE(calm({past(60 * kSecond)}).cut_just_now(beside));
}

TEST_F(CalmTest, WhatLiesBesideAMoveInFlightIsNotCut) {
  const ring::Entry entry = input_.view->entries()[3];
  const NodeId other{entry.node.value() % 3 + 1};
  const ring::TokenRange piece{entry.range.first, Token{entry.range.first.value() + 99}};
  input_.view = test_view(*ring::begin_move(input_.view->document(),
                                            {{piece}, entry.node, other, "test", UnixMillis{1}}));
  EXPECT_TRUE(calm({}).cut_just_now({Token{piece.last.value() + 1}, entry.range.last}));
}

TEST_F(CalmTest, APieceDoesNotGoBackForAnHourAndEachReturnDoublesThat) {
  EXPECT_EQ(calm({past(59 * kMinute)}).left(NodeId{1}), ring::RangeSet{kPiece});
  EXPECT_TRUE(calm({past(59 * kMinute)}).left(NodeId{2}).empty());
  EXPECT_TRUE(calm({past(60 * kMinute)}).left(NodeId{1}).empty());
  const std::vector<PastMove> twice{past(90 * kMinute), past(170 * kMinute, 2, 1),
                                    past(240 * kMinute)};
  EXPECT_EQ(calm(twice).left(NodeId{1}), ring::RangeSet{kPiece});  // two hours now
}

TEST_F(CalmTest, KnowsWhatLoadMovedAway) {
  // Of a token that the node does not own now.
  const ring::Entry entry = input_.view->entries()[0];
  PastMove move = past(5 * 60 * kMinute, entry.node.value() % 3 + 1, entry.node.value());
  move.ranges = {entry.range};
  EXPECT_TRUE(calm({move}).given(move.source) == ring::width(entry.range));
  EXPECT_TRUE(calm({move}).given(entry.node) == 0);
}

TEST_F(CalmTest, ASourceRestsWhenMovesDoNotHelpAndLongerEachTime) {
  PastMove helpless = past(30 * kSecond);
  helpless.real_gain = 249;
  EXPECT_EQ(calm({helpless}).rests_until(NodeId{1}), UnixMillis{kNow + 30 * kSecond});
  PastMove before = past(3 * kMinute);
  before.real_gain = 0;
  EXPECT_EQ(calm({before, helpless}).rests_until(NodeId{1}), UnixMillis{kNow + 90 * kSecond});
  EXPECT_EQ(calm({helpless}).rests_until(NodeId{2}), UnixMillis{});
}

TEST_F(CalmTest, OneMoveThatHelpedEndsTheRest) {
  PastMove helpless = past(3 * kMinute);
  helpless.real_gain = 0;
  PastMove helped = past(kMinute);
  helped.real_gain = 250;
  EXPECT_EQ(calm({helpless, helped}).rests_until(NodeId{1}), UnixMillis{});
  PastMove unknown = past(kMinute);
  EXPECT_EQ(calm({unknown}).rests_until(NodeId{1}), UnixMillis{});
}

TEST_F(CalmTest, APairRestsAfterAbortsAndLongerEachTime) {
  PastMove aborted = past(5 * kSecond);
  aborted.committed = false;
  EXPECT_EQ(calm({aborted}).pair_rests_until(NodeId{1}, NodeId{2}), UnixMillis{kNow + 5 * kSecond});
  EXPECT_EQ(calm({aborted}).pair_rests_until(NodeId{1}, NodeId{3}), UnixMillis{});
  PastMove before = past(20 * kSecond);
  before.committed = false;
  EXPECT_EQ(calm({aborted, before}).pair_rests_until(NodeId{1}, NodeId{2}),
            UnixMillis{kNow + 15 * kSecond});
  const PastMove good = past(2 * kSecond);
  EXPECT_EQ(calm({aborted, before, good}).pair_rests_until(NodeId{1}, NodeId{2}), UnixMillis{});
}

TEST_F(CalmTest, CountsTheKeysOfAnHourThatNobodyOrdered) {
  PastMove ordered = past(kMinute);
  ordered.ordered = true;
  const Calm seen = calm({past(kMinute), past(59 * kMinute), past(61 * kMinute), ordered});
  EXPECT_EQ(seen.keys_last_hour(), 200U);
  EXPECT_EQ(seen.keys_left(10'000, 100'000), 800U);
  EXPECT_EQ(seen.keys_left(1'000, 100'000), 0U);
}

TEST_F(CalmTest, KnowsWhenEnoughOfTheHourIsOver) {
  const Calm seen = calm({past(10 * kMinute), past(59 * kMinute), past(50 * kMinute)});
  EXPECT_EQ(seen.keys_left_at(700, 10'000, 100'000), UnixMillis{});  // 300 of 1,000 are used
  EXPECT_EQ(seen.keys_left_at(800, 10'000, 100'000), UnixMillis{kNow + kMinute});
  EXPECT_EQ(seen.keys_left_at(900, 10'000, 100'000), UnixMillis{kNow + 10 * kMinute});
  EXPECT_EQ(seen.keys_left_at(1'000, 10'000, 100'000), UnixMillis{kNow + 50 * kMinute});
}

TEST_F(CalmTest, AMoveOfTheFutureEndedJustNowAndOneOfAnotherAgeNever) {
  EXPECT_EQ(calm({past(-60 * kMinute)}).dwelling_until({kPiece}), UnixMillis{kNow + 10 * kMinute});
  EXPECT_TRUE(calm({past(-48 * 60 * kMinute)}).dwelling().empty());
}

TEST_F(CalmTest, CountsHowOftenTokensLeftANode) {
  const Calm seen = calm({past(kMinute), past(kMinute, 2, 1), past(90 * kMinute)});
  EXPECT_EQ(seen.flaps(NodeId{1}, {kPiece}), 2U);
  EXPECT_EQ(seen.flaps(NodeId{2}, {kPiece}), 1U);
  EXPECT_EQ(seen.flaps(NodeId{1}, {{Token{5'000}, Token{5'001}}}), 0U);
}

TEST(BackedOff, DoublesUpToItsMost) {
  EXPECT_EQ(backed_off(seconds{10}, 1, seconds{60}), seconds{10});
  EXPECT_EQ(backed_off(seconds{10}, 2, seconds{60}), seconds{20});
  EXPECT_EQ(backed_off(seconds{10}, 4, seconds{60}), seconds{60});
  EXPECT_EQ(backed_off(seconds{10}, ~std::uint64_t{0}, seconds{60}), seconds{60});
}

}  // namespace
}  // namespace cleave::balance
