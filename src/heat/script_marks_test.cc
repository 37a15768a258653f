#include "heat/script_marks.h"

#include <gtest/gtest.h>

#include <set>

namespace cleave::heat {
namespace {

constexpr Instant kStart{std::chrono::hours{1}};

Token in_bucket(std::uint64_t bucket) { return Token{(bucket << 52U) + 12'345}; }

std::set<std::uint16_t> buckets_of(const std::vector<ScriptMark>& marks) {
  std::set<std::uint16_t> buckets;
  for (const ScriptMark& mark : marks) buckets.insert(mark.bucket);
  return buckets;
}

TEST(ScriptMarks, SayNothingWhereNoScriptRan) {
  ScriptMarks marks;
  EXPECT_TRUE(marks.take(kStart).empty());
}

TEST(ScriptMarks, TellWhatIsNewAtOnce) {
  ScriptMarks marks;
  marks.note(in_bucket(0));
  marks.note(in_bucket(4'095));
  marks.note(in_bucket(4'095));
  EXPECT_EQ(marks.take(kStart),
            (std::vector<ScriptMark>{{.bucket = 0, .age_s = 0}, {.bucket = 4'095, .age_s = 0}}));
}

TEST(ScriptMarks, TellWhatIsOldWithinSixteenReports) {
  ScriptMarks marks;
  for (const std::uint64_t bucket : {3U, 77U, 2'000U}) marks.note(in_bucket(bucket));
  (void)marks.take(kStart);
  std::set<std::uint16_t> told;
  for (int i = 1; i <= 16; ++i) {
    for (const ScriptMark& mark : marks.take(kStart + seconds{i})) {
      told.insert(mark.bucket);
      EXPECT_EQ(mark.age_s, static_cast<std::uint32_t>(i));
    }
  }
  EXPECT_EQ(told, (std::set<std::uint16_t>{3, 77, 2'000}));
}

TEST(ScriptMarks, ForgetAfterAWeek) {
  ScriptMarks marks;
  marks.note(in_bucket(5));
  (void)marks.take(kStart);
  std::set<std::uint16_t> told;
  for (int i = 1; i <= 16; ++i)
    told.merge(buckets_of(marks.take(kStart + kScriptMemory + seconds{i})));
  EXPECT_TRUE(told.empty());
}

}  // namespace
}  // namespace cleave::heat
