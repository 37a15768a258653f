#include "app/config/place.h"

#include <gtest/gtest.h>

namespace cleave::app {
namespace {

TEST(Place, TokensAreToldFromKeys) {
  EXPECT_EQ(as_token("0x0a").value(), Token{10});
  EXPECT_EQ(as_token("000000000000000a").value(), Token{10});
  EXPECT_EQ(as_token("0a").value(), std::nullopt)
      << "a short word is a key, also if it looks hexadecimal";
  EXPECT_EQ(as_token("user:1").value(), std::nullopt);
  for (const char* slip : {"0xyz", "0xzz", "0x", "0x12345678123456789", "0X1g"}) {
    const auto token = as_token(slip);
    ASSERT_FALSE(token) << slip;
    EXPECT_EQ(token.error().code, Code::kInvalid);
    EXPECT_NE(token.error().message.find("\\x30x"), std::string::npos);
  }
  EXPECT_EQ(as_token("\\x30xzz").value(), std::nullopt) << "a key whose name begins with 0x";
  EXPECT_EQ(as_token("sixteen letters!").value(), std::nullopt);
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
