#include "base/ascii.h"

#include <gtest/gtest.h>

namespace cleave {
namespace {

TEST(Ascii, LowersLettersAndNothingElse) {
  EXPECT_EQ(lowered("GET @[`{z\xC4 9"), "get @[`{z\xC4 9");
}

TEST(Ascii, KnowsAPlainName) {
  EXPECT_TRUE(is_plain_name("Node-1_b.c"));
  EXPECT_TRUE(is_plain_name(std::string(kNameCharactersMax, 'a')));
  EXPECT_TRUE(is_plain_name("10.0.0.1:6379", ":"));
  EXPECT_FALSE(is_plain_name(std::string(kNameCharactersMax + 1, 'a')));
  for (const char* text : {"", "a b", "a/b", "a@b", "a[b", "\xC3\xA4"}) {
    EXPECT_FALSE(is_plain_name(text)) << text;
  }
}

}  // namespace
}  // namespace cleave
