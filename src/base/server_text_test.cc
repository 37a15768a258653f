#include "base/server_text.h"

#include <gtest/gtest.h>

namespace cleave {
namespace {

TEST(ComparableAddress, IsOneForTwoWaysToWriteIt) {
  EXPECT_EQ(comparable_address("localhost:7001"), "127.0.0.1:7001");
  EXPECT_EQ(comparable_address("LocalHost:7001"), "127.0.0.1:7001");
  EXPECT_EQ(comparable_address("Cache-1.Example:7001"), "cache-1.example:7001");
  EXPECT_EQ(comparable_address("[::1]:7001"), "[::1]:7001");
  EXPECT_EQ(comparable_address("localhost.example:7001"), "localhost.example:7001");
  EXPECT_EQ(comparable_address("localhost"), "127.0.0.1");
}

}  // namespace
}  // namespace cleave
