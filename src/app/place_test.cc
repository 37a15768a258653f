#include "app/place.h"

#include <gtest/gtest.h>

namespace cleave::app {
namespace {

TEST(Place, TokensAreToldFromKeys) {
  EXPECT_EQ(as_token("0x0a"), Token{10});
  EXPECT_EQ(as_token("000000000000000a"), Token{10});
  EXPECT_EQ(as_token("0a"), std::nullopt) << "a short word is a key, also if it looks hexadecimal";
  EXPECT_EQ(as_token("user:1"), std::nullopt);
  EXPECT_EQ(as_token("0xyz"), std::nullopt);
  EXPECT_EQ(as_token("sixteen letters!"), std::nullopt);
}

TEST(Place, RangesNeedTwoTokensInOrder) {
  EXPECT_EQ(parse_range("0x1-0xff"), (ring::TokenRange{.first = Token{1}, .last = Token{255}}));
  EXPECT_EQ(parse_range("5-5"), (ring::TokenRange{.first = Token{5}, .last = Token{5}}));
  for (const char* bad : {"", "-", "1", "1-", "-1", "2-1", "x-y", "1-2-3"}) {
    EXPECT_FALSE(parse_range(bad)) << bad;
  }
}

}  // namespace
}  // namespace cleave::app
