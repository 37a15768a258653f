// Keys that a move copies in pieces (protocol rule 27).
#include "migrate/big_keys.h"

#include <gtest/gtest.h>

#include "migrate/story_testing.h"

namespace cleave::migrate {
namespace {

std::vector<Touched> elements(const std::string& key, std::size_t count) {
  Touched touched{.key = key, .elements = {}};
  for (std::size_t i = 0; i < count; ++i) touched.elements.push_back("f" + std::to_string(i));
  std::ranges::sort(touched.elements);
  return {touched};
}

// Else a scan of hours would wait for one large key at each take.
TEST(BigKeys, WhatIsCopiedInPiecesWaitsForTheRounds) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"big"}, .last = false}, story.now_);
  move.step(Copied{.pieces = {"big"}}, story.now_);
  story.now_ += milliseconds{101};
  move.step(Tick{}, story.now_);
  story.take(move, "r1", {"big", "small"});
  const Actions meanwhile = story.take(move, "r2", {});
  ASSERT_TRUE(has<CopyKeys>(meanwhile));
  EXPECT_EQ(std::get<CopyKeys>(meanwhile.front()).keys, std::vector<std::string>{"small"});
  move.step(Copied{.keys = 1}, story.now_);
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  story.take(move, "r1", {}, 2);
  const Actions round = story.take(move, "r2", {}, 2);
  ASSERT_TRUE(has<CopyKeys>(round));
  EXPECT_EQ(std::get<CopyKeys>(round.front()).pieces, std::vector<std::string>{"big"});
}

// With the first take the routers begin to note elements; what was sent before that marks the whole
// key once more, and is in the second.
TEST(BigKeys, AKeyInPiecesIsCopiedWhenItsElementsAreNoted) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"big"}, .last = true}, story.now_);
  const Actions first = move.step(Copied{.pieces = {"big"}}, story.now_);
  ASSERT_TRUE(has<Take>(first));
  EXPECT_EQ(std::get<Take>(first.front()).watch, std::vector<std::string>{"big"});
  story.take(move, "r1", {});
  EXPECT_TRUE(has<Take>(story.take(move, "r2", {"big"}))) << "nothing is copied yet";
  story.take(move, "r1", {"big"}, 2);
  const Actions round = story.take(move, "r2", {}, 2);
  ASSERT_TRUE(has<CopyKeys>(round));
  EXPECT_EQ(std::get<CopyKeys>(round.front()).pieces, std::vector<std::string>{"big"});
}

// A key that is copied in pieces takes longer than a fence may be held.
TEST(BigKeys, NoFenceWhileABigKeyIsWrittenAsAWhole) {
  Story story;
  Migration move = story.make();
  std::uint64_t number = story.to_big_copied(move);
  story.take(move, "r1", {"big"}, number);
  EXPECT_TRUE(has<CopyKeys>(story.take(move, "r2", {}, number)));
  EXPECT_TRUE(has<Take>(move.step(Copied{.keys = 1, .big = {"big"}}, story.now_)));
  story.take(move, "r1", {}, ++number);
  EXPECT_TRUE(writes(story.take(move, "r2", {}, number), Change::kFence));
  story.write(move, Change::kFence);
  story.fenced_ack(move, "r1", {"big"});
  EXPECT_TRUE(writes(story.fenced_ack(move, "r2"), Change::kAbort));
  EXPECT_TRUE(move.outcome().again);
}

TEST(BigKeys, ABigKeyThatIsNeverAtRestStaysBehind) {
  Story story;
  Migration move = story.make();
  std::uint64_t round = story.to_big_copied(move);
  for (; move.at() == Step::kRounds && round < 100; ++round) {
    story.take(move, "r1", {"big"}, round);
    story.take(move, "r2", {}, round);
    move.step(Copied{.keys = 1, .big = {"big"}}, story.now_);
  }
  EXPECT_EQ(move.at(), Step::kAbort);
  EXPECT_LT(round, 20U);
  ASSERT_EQ(move.outcome().unmovable.size(), 1U);
  EXPECT_EQ(move.outcome().unmovable[0].key, "big");
}

// Rule 27: rounds that get shorter, the last one inside the fence.
TEST(BigKeys, ABigKeyThatIsWrittenByItsElementsMoves) {
  Story story;
  Migration move = story.make();
  std::uint64_t number = story.to_big_copied(move);
  for (const std::size_t count : {1'000U, 400U, 3U}) {
    EXPECT_EQ(move.at(), Step::kRounds);
    story.take_elements(move, "r1", {}, number);
    const Actions round = story.take_elements(move, "r2", elements("big", count), number);
    ASSERT_TRUE(has<CopyKeys>(round));
    EXPECT_EQ(std::get<CopyKeys>(round.front()).elements, elements("big", count));
    EXPECT_TRUE(std::get<CopyKeys>(round.front()).pieces.empty());
    const Actions next = move.step(Copied{.bytes = 1}, story.now_);
    EXPECT_EQ(writes(next, Change::kFence), count == 3U) << count;
    ++number;
  }
  story.write(move, Change::kFence);
  story.fenced_ack(move, "r1");
  const Actions last =
      move.step(FencedAcked{SessionId{"r2"}, {}, false, {}, elements("big", 2)}, story.now_);
  ASSERT_TRUE(has<CopyKeys>(last));
  EXPECT_TRUE(std::get<CopyKeys>(last.front()).fenced);
  EXPECT_EQ(std::get<CopyKeys>(last.front()).elements, elements("big", 2));
  EXPECT_TRUE(has<Identify>(move.step(Copied{}, story.now_)));
}

TEST(BigKeys, TooManyElementsAreNotForAFence) {
  Story story;
  Migration move = story.make();
  const std::uint64_t number = story.to_big_copied(move);
  story.take(move, "r1", {}, number);
  EXPECT_TRUE(writes(story.take(move, "r2", {}, number), Change::kFence));
  story.write(move, Change::kFence);
  story.fenced_ack(move, "r1");
  const Actions last =
      move.step(FencedAcked{SessionId{"r2"}, {}, false, {}, elements("big", 100'000)}, story.now_);
  EXPECT_TRUE(writes(last, Change::kAbort));
  EXPECT_TRUE(move.outcome().again);
}

TEST(BigKeys, AMarkOfTheWholeKeyTakesInItsElements) {
  Story story;
  Migration move = story.make();
  const std::uint64_t number = story.to_big_copied(move);
  story.take_elements(move, "r1", elements("big", 5), number);
  const Actions round = story.take(move, "r2", {"big"}, number);
  ASSERT_TRUE(has<CopyKeys>(round));
  EXPECT_EQ(std::get<CopyKeys>(round.front()).pieces, std::vector<std::string>{"big"});
  EXPECT_TRUE(std::get<CopyKeys>(round.front()).elements.empty());
}

TEST(BigKeys, AKeyWhoseElementsDoNotGetFewerStaysBehind) {
  Story story;
  Migration move = story.make();
  std::uint64_t round = story.to_big_copied(move);
  for (; move.at() == Step::kRounds && round < 100; ++round) {
    story.take_elements(move, "r1", elements("big", 1'000), round);
    story.take_elements(move, "r2", {}, round);
    move.step(Copied{.bytes = 1}, story.now_);
  }
  EXPECT_EQ(move.at(), Step::kAbort);
  EXPECT_LT(round, 20U);
  ASSERT_EQ(move.outcome().unmovable.size(), 1U);
  EXPECT_EQ(move.outcome().unmovable[0].key, "big");
}

// Elements of a key that this move copies in one piece: a router that watches too much.
TEST(BigKeys, ElementsOfASmallKeyAreTheKey) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  story.take_elements(move, "r1", elements("small", 2), 1);
  const Actions round = story.take(move, "r2", {});
  ASSERT_TRUE(has<CopyKeys>(round));
  EXPECT_EQ(std::get<CopyKeys>(round.front()).keys, std::vector<std::string>{"small"});
}

// A key that has become big is not copied whole inside a fence.
TEST(BigKeys, AKeyThatIsBigAtTheFenceIsTriedAgain) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1", {"grown"});
  EXPECT_TRUE(has<CopyKeys>(story.fenced_ack(move, "r2")));
  EXPECT_TRUE(writes(move.step(Copied{.pieces = {"grown"}}, story.now_), Change::kAbort));
  EXPECT_TRUE(move.outcome().again);
}

// A router's dirty set is bounded, and a key in pieces may take minutes.
TEST(BigKeys, TakesDirtySetsWhileABigKeyIsCopied) {
  Story story;
  Migration move = story.make();
  std::uint64_t number = story.to_big_copied(move);
  story.take(move, "r1", {"big"}, number);
  EXPECT_TRUE(has<CopyKeys>(story.take(move, "r2", {}, number)));
  story.now_ += milliseconds{101};
  EXPECT_TRUE(has<Take>(move.step(Tick{}, story.now_)));
  story.take_elements(move, "r1", elements("big", 2), ++number);
  EXPECT_TRUE(story.take(move, "r2", {}, number).empty()) << "one copy of a key at once";
  EXPECT_TRUE(has<Take>(move.step(Copied{.keys = 1, .big = {"big"}}, story.now_)));
  story.take(move, "r1", {}, ++number);
  const Actions round = story.take(move, "r2", {}, number);
  ASSERT_TRUE(has<CopyKeys>(round));
  EXPECT_EQ(std::get<CopyKeys>(round.front()).elements, elements("big", 2));
}

}  // namespace
}  // namespace cleave::migrate
