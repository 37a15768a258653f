#include "base/hex.h"

#include <gtest/gtest.h>

namespace cleave {
namespace {

TEST(Hex, EveryByteThereAndBack) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(to_hex(bytes).size(), 512U);
  EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
  EXPECT_EQ(to_hex("\x0f\xA0"), "0fa0");
  EXPECT_EQ(from_hex("0FA0"), "\x0f\xA0");
}

TEST(Hex, WhatIsNoDigitIsRefused) {
  EXPECT_EQ(from_hex("0"), std::nullopt);
  EXPECT_EQ(from_hex("0g"), std::nullopt);
  EXPECT_EQ(from_hex("/0"), std::nullopt);
  EXPECT_EQ(hex_byte(':', '0'), std::nullopt);
  EXPECT_EQ(hex_value('@'), -1);
  EXPECT_EQ(hex_value('`'), -1);
}

}  // namespace
}  // namespace cleave
