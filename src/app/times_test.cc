#include "app/times.h"

#include <gtest/gtest.h>

namespace cleave::app {
namespace {

constexpr UnixMillis kNow{1'764'230'400'000};  // 2025-11-27 08:00:00Z

TEST(Times, ReadsDurations) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds{500});
  EXPECT_EQ(parse_duration("90s"), seconds{90});
  EXPECT_EQ(parse_duration("15m"), std::chrono::minutes{15});
  EXPECT_EQ(parse_duration("2h"), std::chrono::hours{2});
  EXPECT_EQ(parse_duration("7d"), std::chrono::days{7});
  for (const char* wrong :
       {"", "5", "h", "-1h", "1.5h", "1 h", "1w", "4000d", "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  }
}

TEST(Times, ReadsTimesInUtc) {
  EXPECT_EQ(parse_time("2025-11-27T08:00:00Z", {}), kNow);
  EXPECT_EQ(parse_time("2025-11-27 08:00Z", {}), kNow);
  EXPECT_EQ(parse_time("now", kNow), kNow);
  EXPECT_EQ(parse_time("+1m", kNow), UnixMillis{kNow.value() + 60'000});
  for (const char* wrong :
       {"", "tomorrow", "+", "2025-11-27", "2025-11-27T08:00:00", "2025-13-27T08:00:00Z",
        "2025-02-30T08:00:00Z", "2025-11-27T24:00:00Z", "2025-11-27T08:00:00+01:00"}) {
    const Result<UnixMillis> time = parse_time(wrong, kNow);
    ASSERT_FALSE(time) << wrong;
    EXPECT_EQ(time.error().code, Code::kInvalid);
  }
}

TEST(Times, WritesWhatItReads) {
  EXPECT_EQ(to_text(kNow), "2025-11-27 08:00:00Z");
  EXPECT_EQ(parse_time(to_text(kNow), {}), kNow);
  EXPECT_EQ(to_text(*parse_date("2024-02-29")), "2024-02-29 00:00:00Z");
}

}  // namespace
}  // namespace cleave::app
