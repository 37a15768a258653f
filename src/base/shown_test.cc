#include "base/shown.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/rng.h"

namespace cleave {
namespace {

TEST(Shown, TellsEveryKindOfByteApart) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"user:1", "user:1"},
      {"", ""},
      {"with space", "with space"},
      {"stra\xc3\x9f"
       "e",
       "stra\xc3\x9f"
       "e"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
      {"new\nline", "new\\x0aline"},
      {"quote\"x\\y", "quote\"x\\\\y"},
      {"\xd6\xd0\xb9\xfa:gbk", "\\xd6\xd0\xb9\\xfa:gbk"},
      {std::string("\x00\xff\x01"
                   "bin",
                   6),
       "\\x00\\xff\\x01bin"},
      {"\x1b[2J\x1b[31mred", "\\x1b[2J\\x1b[31mred"},
      {"\xff"
       "1",
       "\\xff1"},
      {"\xfe"
       "1",
       "\\xfe1"},
      {"\xc2\x9b"
       "2J",
       "\\xc2\\x9b2J"},                              // CSI in one character
      {"\xe2\x80\xae", "\\xe2\\x80\\xae"},           // turns the direction
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above the last
      {"cut\xe2\x82", "cut\\xe2\\x82"},              // incomplete
      {"\x7f", "\\x7f"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(shown(bytes), text);
    EXPECT_EQ(from_shown(text), bytes);
  }
}

TEST(Shown, PlainTextsWithABackslashMayBeTypedAsTheyAre) {
  EXPECT_EQ(from_shown("a\\b"), "a\\b");
  EXPECT_EQ(from_shown("a\\xg1"), "a\\xg1");
  EXPECT_EQ(from_shown("end\\"), "end\\");
  EXPECT_EQ(from_shown("\\xFF"), "\xff");
}

TEST(Shown, AnyBytesComeBackAndNoTwoLookTheSame) {
  Rng rng(20261201);
  std::set<std::string> bytes_seen;
  std::set<std::string> texts_seen;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    static constexpr std::string_view kLikely = "\\x0fF\xe2\x80\xc3";
    for (std::uint64_t n = rng.below(7); n > 0; --n) {
      bytes.push_back(rng.below(2) == 0 ? kLikely[rng.below(kLikely.size())]
                                        : static_cast<char>(rng.below(256)));
    }
    const std::string text = shown(bytes);
    ASSERT_EQ(from_shown(text), bytes) << text;
    bytes_seen.insert(bytes);
    texts_seen.insert(text);
    for (const char c : text) ASSERT_GE(static_cast<unsigned char>(c), 0x20);
  }
  EXPECT_EQ(bytes_seen.size(), texts_seen.size());
}

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(shortened("redis-prod-eu-west-12", 21), "redis-prod-eu-west-12");
  EXPECT_EQ(shortened("redis-prod-eu-west-12", 11), "redis\xe2\x80\xa6st-12");
  EXPECT_EQ(characters(shortened("redis-prod-eu-west-12", 11)), 11U);
  const std::string wide = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";
  EXPECT_EQ(shortened(wide, 3), "\xc3\xa9\xe2\x80\xa6\xc3\xa9");
  EXPECT_EQ(shortened("", 3), "");
}

TEST(Printable, LeavesABackslashAlone) { EXPECT_EQ(printable("C:\\data\n"), "C:\\data\\x0a"); }

}  // namespace
}  // namespace cleave
