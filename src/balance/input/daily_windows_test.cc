#include "balance/input/daily_windows.h"

#include <gtest/gtest.h>

#include <vector>

namespace cleave::balance {
namespace {

constexpr std::int64_t kDay = 20'000LL * 86'400'000;  // some midnight

UnixMillis at(int hour, int minute, int second = 0) {
  return UnixMillis{kDay + ((hour * 60 + minute) * 60 + second) * 1'000LL};
}

std::vector<DailyWindow> windows(const std::vector<std::string>& texts) {
  std::vector<DailyWindow> all;
  for (const std::string& text : texts) all.push_back(*parse_window(text));
  return all;
}

TEST(DailyWindows, WithoutAnyItIsAlwaysOpen) {
  EXPECT_TRUE(is_open({}, at(3, 0)));
  EXPECT_EQ(opens_at({}, at(3, 0)), at(3, 0));
}

TEST(DailyWindows, AreOpenFromTheirFirstToBeforeTheirLastMinute) {
  const auto day = windows({"09:00-17:30"});
  EXPECT_FALSE(is_open(day, at(8, 59, 59)));
  EXPECT_TRUE(is_open(day, at(9, 0)));
  EXPECT_TRUE(is_open(day, at(17, 29, 59)));
  EXPECT_FALSE(is_open(day, at(17, 30)));
}

TEST(DailyWindows, MayWrapMidnightAndBeSeveral) {
  const auto both = windows({"22:00-06:00", "12:00-13:00"});
  for (const UnixMillis open : {at(23, 0), at(0, 0), at(5, 59), at(12, 30)})
    EXPECT_TRUE(is_open(both, open));
  for (const UnixMillis closed : {at(6, 0), at(11, 59), at(13, 0), at(21, 59)})
    EXPECT_FALSE(is_open(both, closed));
  EXPECT_EQ(opens_at(both, at(7, 15, 30)), at(12, 0));
  EXPECT_EQ(opens_at(both, at(14, 0)), at(22, 0));
  EXPECT_EQ(opens_at(both, at(12, 10)), at(12, 10)) << "open already";
}

TEST(DailyWindows, OpenAgainOnTheNextDay) {
  EXPECT_EQ(opens_at(windows({"02:00-03:00"}), at(3, 0)),
            UnixMillis{at(2, 0).value() + 86'400'000});
}

TEST(DailyWindows, TheSameTimeTwiceIsTheWholeDay) {
  EXPECT_TRUE(is_open(windows({"00:00-00:00"}), at(13, 0)));
}

TEST(DailyWindows, TextRoundTripsAndBadTextIsRefused) {
  EXPECT_EQ(to_string(*parse_window("22:05-06:00")), "22:05-06:00");
  for (const char* const bad : {"", "22:00", "22:00-", "24:00-06:00", "22:60-06:00", "2200-0600",
                                "22:00-06:00x", "-1:00-06:00"})
    EXPECT_FALSE(parse_window(bad)) << bad;
}

}  // namespace
}  // namespace cleave::balance
