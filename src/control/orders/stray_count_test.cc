#include "control/orders/stray_count.h"

#include <gtest/gtest.h>

#include "ring/edits/ring_testing.h"

namespace cleave::control {
namespace {

class Counting : public testing::Test {
 protected:
  // A key that the ring gives to the node.
  std::string key_of(NodeId node) {
    for (;;) {
      std::string key = "key:" + std::to_string(next_++);
      if (view_->owner(view_->token_of(key)) == node) return key;
    }
  }

  ring::RingSnapshot view_ = ring::testing::view_of(ring::testing::make_document({1, 1}));
  int next_ = 0;
};

TEST_F(Counting, TellsStraysWithTheNodeThatIsAskedForThem) {
  StrayCounter counter(NodeId{1}, StrayCount::kExamples);
  for (int i = 0; i < 30; ++i) counter.add(key_of(NodeId{1}), *view_, *view_);
  const std::string stray = key_of(NodeId{2});
  counter.add(stray, *view_, *view_);
  counter.end();
  const StrayCount& count = counter.count();
  EXPECT_EQ(count.keys, 31U);
  EXPECT_EQ(count.strays, 1U);
  EXPECT_TRUE(count.whole);
  EXPECT_EQ(count.examples, (std::vector<Stray>{{.key = stray, .owner = NodeId{2}}}));
  EXPECT_EQ(describe(count), "1 of 31 keys (3.22 %)");
}

TEST_F(Counting, AStrayThatIsShownTwiceCountsOnce) {
  StrayCounter counter(NodeId{1}, StrayCount::kExamples);
  const std::string stray = key_of(NodeId{2});
  for (int i = 0; i < 3; ++i) counter.add(stray, *view_, *view_);
  EXPECT_EQ(counter.count().keys, 1U);
  EXPECT_EQ(counter.count().strays, 1U);
}

// Between the question and its answer a move may have begun, and copied; or have ended.
TEST_F(Counting, WhatAMoveMeanwhilePutThereOrTookAwayIsNoStray) {
  const ring::TokenRange range = view_->entry(view_->find(Token{1'000})).range;
  const NodeId source = view_->owner(range.first);
  const NodeId destination{3 - source.value()};
  const auto begun = ring::begin_move(view_->document(), {.ranges = {range},
                                                          .source = source,
                                                          .destination = destination,
                                                          .reason = "test",
                                                          .now = UnixMillis{2'000}});
  ASSERT_TRUE(begun);
  const ring::RingSnapshot moving = ring::testing::view_of(*begun);
  std::string key;
  do {
    key = key_of(source);
  } while (!range.contains(view_->token_of(key)));
  StrayCounter counter(destination, StrayCount::kExamples);
  counter.add(key, *view_, *moving);
  counter.add(key, *moving, *view_);
  EXPECT_EQ(counter.count().strays, 0U);
  counter.add(key, *view_, *view_);
  EXPECT_EQ(counter.count().strays, 1U);
}

TEST_F(Counting, KeepsSoManyExamplesOnly) {
  StrayCounter counter(NodeId{1}, 3);
  for (int i = 0; i < 20; ++i) counter.add(key_of(NodeId{2}), *view_, *view_);
  EXPECT_EQ(counter.count().strays, 20U);
  EXPECT_EQ(counter.count().examples.size(), 3U);
}

TEST(StrayCount, SaysHowExactASampleIs) {
  StrayCount count{.keys = 20'000, .strays = 200, .whole = false, .examples = {}};
  EXPECT_EQ(count.share_ppm(), 10'000U);
  EXPECT_NEAR(count.error_ppm(), 1'407, 5);  // 2 sqrt(0.01 * 0.99 / 20,000)
  EXPECT_EQ(count.estimate(1'000'000), 10'000U);
  EXPECT_EQ(describe(count), "200 of 20,000 keys that were looked at (1.00 % +- 0.14 %)");
  count.strays = 0;
  EXPECT_EQ(count.error_ppm(), 150U);  // three of 20,000
  count.whole = true;
  EXPECT_EQ(count.error_ppm(), 0U);
  EXPECT_EQ(StrayCount{}.error_ppm(), 0U);
}

TEST(StrayCount, KeysAreShownSafely) {
  EXPECT_EQ(quoted_key("user:1"), "\"user:1\"");
  EXPECT_EQ(quoted_key(std::string_view("a\"b\\\x1b[2J\xff\n", 9)), R"("a"b\\\x1b[2J\xff")");
  EXPECT_EQ(quoted_key(std::string(100, 'k')),
            "\"" + std::string(31, 'k') + "…" + std::string(32, 'k') + "\"");
}

}  // namespace
}  // namespace cleave::control
