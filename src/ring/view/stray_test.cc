#include "ring/view/stray.h"

#include <gtest/gtest.h>

#include "ring/edits/ring_testing.h"

namespace cleave::ring {
namespace {

TEST(Stray, IsAKeyThatTheRingGivesToAnother) {
  const RingSnapshot view = testing::view_of(testing::make_document({1, 1}));
  for (const std::string key : {"a", "b", "user:1", "user:2", "{tag}x"}) {
    const Token token = view->token_of(key);
    const NodeId owner = view->owner(token);
    const NodeId other{3 - owner.value()};
    EXPECT_FALSE(is_stray(*view, owner, token)) << key;
    EXPECT_TRUE(is_stray(*view, other, token)) << key;
  }
}

// Copies of a move lie at both ends; at a third node such a key is a stray all the same.
TEST(Stray, IsNotWhatAMoveUnderWayHasPutThere) {
  const Document document = testing::make_document({1, 1, 1});
  const RingSnapshot before = testing::view_of(document);
  const TokenRange range = before->entry(before->find(Token{1'000})).range;
  const NodeId source = before->owner(range.first);
  const NodeId destination{source.value() % 3 + 1};
  const NodeId third{destination.value() % 3 + 1};
  const auto begun = begin_move(document, {.ranges = {range},
                                           .source = source,
                                           .destination = destination,
                                           .reason = "test",
                                           .now = UnixMillis{2'000}});
  ASSERT_TRUE(begun) << begun.error().message;
  const RingSnapshot view = testing::view_of(*begun);
  EXPECT_TRUE(is_stray(*before, destination, range.first));
  EXPECT_FALSE(is_stray(*view, destination, range.first));
  EXPECT_TRUE(is_stray(*view, third, range.first));
}

// What an aborted move left behind is cleaned; nobody else may take it for his own.
TEST(Stray, IsNotWhatLiesUnderAnEntryOfTheLeftovers) {
  Document document = testing::make_document({1, 1});
  const RingSnapshot before = testing::view_of(document);
  const TokenRange range = before->entry(before->find(Token{1'000})).range;
  const NodeId other{before->owner(range.first).value() % 2 + 1};
  EXPECT_TRUE(is_stray(*before, other, range.first));
  document.leftovers = {
      {.move = MoveId{1}, .node = other, .ranges = {range}, .since = UnixMillis{1}}};
  EXPECT_FALSE(is_stray(*testing::view_of(document), other, range.first));
}

}  // namespace
}  // namespace cleave::ring
