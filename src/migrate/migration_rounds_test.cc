// Rules 15 and 16: what is written while a range is copied.
#include <gtest/gtest.h>

#include "migrate/migration.h"
#include "migrate/story_testing.h"

namespace cleave::migrate {
namespace {

TEST(Migration, TakesDirtySetsWhileItScans) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"a"}, .last = false}, story.now_);
  story.now_ += milliseconds{101};
  const Actions takes = move.step(Tick{}, story.now_);
  ASSERT_EQ(takes.size(), 2U);  // one a router
  EXPECT_EQ(std::get<Take>(takes.front()).number, 1U);
  EXPECT_TRUE(move.step(Tick{}, story.now_ + seconds{1}).empty()) << "one take at a time";
  EXPECT_TRUE(story.take(move, "r1", {"dirty"}).empty());
  const Actions copies = story.take(move, "r2", {});
  ASSERT_TRUE(has<CopyKeys>(copies));
  EXPECT_EQ(std::get<CopyKeys>(copies.front()).keys, std::vector<std::string>{"dirty"});
  // The rounds go on from there.
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  move.step(Copied{.keys = 1}, story.now_);
  const Actions round = move.step(Copied{.keys = 1}, story.now_);
  ASSERT_TRUE(has<Take>(round));
  EXPECT_EQ(std::get<Take>(round.front()).number, 2U);
}

TEST(Migration, ATakeOnItsWayIsAnsweredBeforeTheRoundsBegin) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  story.now_ += milliseconds{101};
  EXPECT_TRUE(has<Take>(move.step(Tick{}, story.now_)));
  EXPECT_TRUE(move.step(ScanPage{.keys = {}, .last = true}, story.now_).empty());
  story.take(move, "r1", {"dirty"});
  EXPECT_TRUE(has<CopyKeys>(story.take(move, "r2", {})));
  EXPECT_TRUE(has<Take>(move.step(Copied{.keys = 1}, story.now_)));
}

TEST(Migration, TakesDirtySetsWhileARoundIsCopied) {
  Story story;
  story.limits_.dirty_small_keys = 1;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"a"}, .last = true}, story.now_);
  move.step(Copied{.keys = 1}, story.now_);
  story.take(move, "r1", {"a", "b"});
  ASSERT_TRUE(has<CopyKeys>(story.take(move, "r2", {})));
  story.now_ += milliseconds{101};
  ASSERT_TRUE(has<Take>(move.step(Tick{}, story.now_)));
  story.take(move, "r1", {"c", "d"}, 2);
  EXPECT_TRUE(story.take(move, "r2", {}, 2).empty()) << "they wait for the next round";
  story.now_ += milliseconds{101};
  ASSERT_TRUE(has<Take>(move.step(Tick{}, story.now_)));
  EXPECT_TRUE(move.step(Copied{.keys = 2}, story.now_).empty()) << "the take is on its way";
  story.take(move, "r1", {"e"}, 3);
  EXPECT_TRUE(has<Take>(story.take(move, "r2", {}, 3))) << "a round begins with its own take";
  story.take(move, "r1", {}, 4);
  const Actions round = story.take(move, "r2", {}, 4);
  ASSERT_TRUE(has<CopyKeys>(round));
  EXPECT_EQ(std::get<CopyKeys>(round.front()).keys, (std::vector<std::string>{"c", "d", "e"}));
}

TEST(Migration, KeysThatWaitForTheirCopiesAreBounded) {
  Story story;
  story.limits_.driver_keys_max = 8;
  Migration move = story.make();
  story.to_scan(move);
  story.now_ += milliseconds{101};
  ASSERT_TRUE(has<Take>(move.step(Tick{}, story.now_)));
  EXPECT_TRUE(story.take(move, "r1", {"1", "2", "3", "4", "5", "6", "7", "8"}).empty());
  const Actions over = story.take(move, "r2", {"9"});
  EXPECT_TRUE(writes(over, Change::kAbort));
  EXPECT_NE(move.outcome().why.find("(9 keys wait)"), std::string::npos) << move.outcome().why;
}

// All routers' last sets together.
TEST(Migration, KeysThatWaitInTheFenceAreBoundedToo) {
  Story story;
  story.limits_.driver_keys_max = 2;
  Migration move = story.make();
  story.to_fenced(move);
  EXPECT_TRUE(story.fenced_ack(move, "r1", {"1", "2"}).empty());
  EXPECT_TRUE(writes(story.fenced_ack(move, "r2", {"3"}), Change::kAbort));
}

TEST(Migration, KeysThatWaitToBeCopiedInPiecesAreBoundedToo) {
  Story story;
  story.limits_.driver_keys_max = 2;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"1", "2", "3"}, .last = true}, story.now_);
  EXPECT_TRUE(writes(move.step(Copied{.pieces = {"1", "2", "3"}}, story.now_), Change::kAbort));
}

TEST(Migration, ManyDirtyKeysTakeAnotherRound) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  std::vector<std::string> many;
  for (int i = 0; i < 1'000; ++i) many.push_back("k" + std::to_string(i));
  story.take(move, "r1", many);
  EXPECT_TRUE(has<CopyKeys>(story.take(move, "r2", {})));
  EXPECT_TRUE(has<Take>(move.step(Copied{.keys = 1'000, .bytes = 1, .unmovable = {}}, story.now_)));
  EXPECT_TRUE(story.take(move, "r1", {}, 1).empty()) << "a late batch of the round before";
}

}  // namespace
}  // namespace cleave::migrate
