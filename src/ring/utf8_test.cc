#include "ring/utf8.h"

#include <gtest/gtest.h>

namespace cleave::ring {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, TakesWellFormedText) {
  for (const std::string_view text :
       {""sv, "a"sv, "\0"sv, "\x7F"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv,
        "\xED\x9F\xBF"sv, "\xEE\x80\x80"sv, "\xEF\xBF\xBF"sv, "\xF0\x90\x80\x80"sv,
        "\xF4\x8F\xBF\xBF"sv, "机器A"sv}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, RefusesEverythingElse) {
  for (const std::string_view text :
       {"\x80"sv, "\xBF"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xC2"sv, "\xC2\x41"sv, "\xE0\x9F\xBF"sv,
        "\xE1\x80"sv, "\xED\xA0\x80"sv, "\xED\xBF\xBF"sv, "\xF0\x8F\xBF\xBF"sv, "\xF1\x80\x80"sv,
        "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xFF"sv, "ok\xE1\x80\x41"sv}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

}  // namespace
}  // namespace cleave::ring
