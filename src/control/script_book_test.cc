#include "control/script_book.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

constexpr Instant kNow{std::chrono::hours{24 * 30}};

ring::TokenRange of_buckets(std::uint64_t first, std::uint64_t last) {
  return {Token{first << 52U}, Token{((last + 1) << 52U) - 1}};
}

TEST(ScriptBook, KnowsTheBucketsOfAWeek) {
  ScriptBook book;
  EXPECT_FALSE(book.named({of_buckets(0, 10)}, kNow));
  book.take(std::vector<heat::ScriptMark>{{.bucket = 5, .age_s = 60}}, kNow);
  EXPECT_TRUE(book.named({of_buckets(0, 10)}, kNow));
  EXPECT_TRUE(book.named({of_buckets(0, 1), of_buckets(5, 5)}, kNow));
  EXPECT_FALSE(book.named({of_buckets(0, 4), of_buckets(6, 9)}, kNow));
  EXPECT_TRUE(book.named({of_buckets(5, 5)}, kNow + heat::kScriptMemory - seconds{61}));
  EXPECT_FALSE(book.named({of_buckets(5, 5)}, kNow + heat::kScriptMemory));
}

TEST(ScriptBook, ABucketIsAsNewAsItsNewestMark) {
  ScriptBook book;
  book.take(std::vector<heat::ScriptMark>{{.bucket = 5, .age_s = 10}}, kNow);
  book.take(std::vector<heat::ScriptMark>{{.bucket = 5, .age_s = 600'000}}, kNow);
  EXPECT_TRUE(book.named({of_buckets(5, 5)}, kNow + heat::kScriptMemory - seconds{11}));
}

TEST(ScriptBook, PassesOverBucketsThatAreNone) {
  ScriptBook book;
  book.take(std::vector<heat::ScriptMark>{{.bucket = 60'000, .age_s = 0}}, kNow);
  EXPECT_FALSE(book.named({{Token{0}, ring::kLastToken}}, kNow));
}

}  // namespace
}  // namespace cleave::control
