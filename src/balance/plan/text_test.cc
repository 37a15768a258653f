#include "balance/plan/text.h"

#include <gtest/gtest.h>

#include "balance/explain.h"

namespace cleave::balance {
namespace {

TEST(Text, WritesNumbersForPeople) {
  EXPECT_EQ(times(1'530'000), "1.53x");
  EXPECT_EQ(times(999'999), "1.00x");
  EXPECT_EQ(times(0), "0.00x");
  EXPECT_EQ(percent(123, 1'000), "12.3 %");
  EXPECT_EQ(percent(1, 0), "0.0 %");
  EXPECT_EQ(percent(~std::uint64_t{0}, ~std::uint64_t{0}), "100.0 %");
  EXPECT_EQ(load_text(120'000'000), "120.0 ms/s");
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1'234'567), "1.2 MB");
  EXPECT_EQ(bytes_text(5'000'000'000), "5.0 GB");
}

TEST(Text, KeepsStrangeKeysOnOneLine) {
  EXPECT_EQ(quoted("user:1"), "'user:1'");
  EXPECT_EQ(quoted(std::string_view("a\r\n\0'\\", 6)), "'a\\x0d\\x0a\\x00'\\\\'");
  EXPECT_EQ(quoted("\xff"), "'\\xff'");
}

TEST(Explain, SaysWhenAVerdictMayChange) {
  const UnixMillis now{1'000'000};
  Verdict verdict{.why = Why::kDwell, .text = "node 'a' waits"};
  EXPECT_EQ(explain(verdict, now), "nothing (dwell): node 'a' waits");
  verdict.until = UnixMillis{1'041'500};
  EXPECT_EQ(explain(verdict, now), "nothing (dwell): node 'a' waits; may change in 42 s");
  verdict.until = UnixMillis{4'600'000};
  EXPECT_EQ(explain(verdict, now), "nothing (dwell): node 'a' waits; may change in 60 min");
  verdict.until = now;
  EXPECT_EQ(explain(verdict, now), "nothing (dwell): node 'a' waits; may change now");
}

TEST(Explain, EveryCauseAndReasonHasAName) {
  for (int each = 0; each <= static_cast<int>(Cause::kGather); ++each) {
    EXPECT_NE(to_string(static_cast<Cause>(each)), "unknown");
  }
  for (int each = 0; each <= static_cast<int>(Why::kTooSmall); ++each) {
    EXPECT_NE(to_string(static_cast<Why>(each)), "unknown");
  }
}

}  // namespace
}  // namespace cleave::balance
