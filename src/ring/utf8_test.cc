#include "ring/utf8.h"

#include <gtest/gtest.h>

namespace cleave::ring {
namespace {

TEST(Utf8, TakesWellFormedText) {
  for (const std::string_view text : std::initializer_list<std::string_view>{
           "", "a", std::string_view("\0", 1), "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80",
           "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF",
           "机器A"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, RefusesEverythingElse) {
  for (const std::string_view text : std::initializer_list<std::string_view>{
           "\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xE1\x80",
           "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF1\x80\x80", "\xF4\x90\x80\x80",
           "\xF5\x80\x80\x80", "\xFF", "ok\xE1\x80\x41"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Utf8, APrefixCutsNoCharacter) {
  EXPECT_EQ(utf8_prefix("", 3), "");
  EXPECT_EQ(utf8_prefix("abc", 3), "abc");
  EXPECT_EQ(utf8_prefix("abc", 2), "ab");
  EXPECT_EQ(utf8_prefix("a\xC3\xA9z", 2), "a");
  EXPECT_EQ(utf8_prefix("a\xC3\xA9z", 3), "a\xC3\xA9");
  EXPECT_EQ(utf8_prefix("\xF0\x90\x80\x80", 3), "");
}

}  // namespace
}  // namespace cleave::ring
