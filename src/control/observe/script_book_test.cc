#include "control/observe/script_book.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

using enum ScriptBook::Named;

constexpr Instant kNow{std::chrono::hours{24 * 30}};
constexpr Instant kLongAgo{1};

ring::TokenRange of_buckets(std::uint64_t first, std::uint64_t last) {
  return {Token{first << 52U}, Token{((last + 1) << 52U) - 1}};
}

TEST(ScriptBook, KnowsTheBucketsOfAWeek) {
  ScriptBook book(kLongAgo);
  EXPECT_EQ(book.named({of_buckets(0, 10)}, ScriptsRan::kYes, kNow), kNo);
  book.take(std::vector<heat::ScriptMark>{{.bucket = 5, .age_s = 60}}, kNow);
  EXPECT_EQ(book.named({of_buckets(0, 10)}, ScriptsRan::kYes, kNow), kYes);
  EXPECT_EQ(book.named({of_buckets(0, 1), of_buckets(5, 5)}, ScriptsRan::kYes, kNow), kYes);
  EXPECT_EQ(book.named({of_buckets(0, 4), of_buckets(6, 9)}, ScriptsRan::kYes, kNow), kNo);
  const Instant week_later = kNow + heat::kScriptMemory;
  EXPECT_EQ(book.named({of_buckets(5, 5)}, ScriptsRan::kYes, week_later - seconds{61}), kYes);
  EXPECT_EQ(book.named({of_buckets(5, 5)}, ScriptsRan::kYes, week_later), kNo);
}

TEST(ScriptBook, ABucketIsAsNewAsItsNewestMark) {
  ScriptBook book(kLongAgo);
  book.take(std::vector<heat::ScriptMark>{{.bucket = 5, .age_s = 10}}, kNow);
  book.take(std::vector<heat::ScriptMark>{{.bucket = 5, .age_s = 600'000}}, kNow);
  EXPECT_EQ(
      book.named({of_buckets(5, 5)}, ScriptsRan::kYes, kNow + heat::kScriptMemory - seconds{11}),
      kYes);
}

TEST(ScriptBook, PassesOverBucketsThatAreNone) {
  ScriptBook book(kLongAgo);
  book.take(std::vector<heat::ScriptMark>{{.bucket = 60'000, .age_s = 0}}, kNow);
  EXPECT_EQ(book.named({{Token{0}, ring::kLastToken}}, ScriptsRan::kYes, kNow), kNo);
}

// Routers that have ended took their marks along.
TEST(ScriptBook, ALeaderThatHasNotWatchedForAWeekKnowsNoRangeToBeFree) {
  ScriptBook book(kNow);
  const Instant soon = kNow + heat::kScriptMemory - seconds{1};
  EXPECT_EQ(book.named({of_buckets(3, 4)}, ScriptsRan::kYes, soon), kPerhaps);
  EXPECT_EQ(book.named({of_buckets(3, 4)}, ScriptsRan::kNo, soon), kNo);
  EXPECT_EQ(book.named({of_buckets(3, 4)}, ScriptsRan::kYes, soon + seconds{1}), kNo);
  book.take(std::vector<heat::ScriptMark>{{.bucket = 3, .age_s = 60}}, soon);
  EXPECT_EQ(book.named({of_buckets(3, 4)}, ScriptsRan::kNo, soon), kYes);
}

}  // namespace
}  // namespace cleave::control
