#include "app/table.h"

#include <gtest/gtest.h>

namespace cleave::app {
namespace {

TEST(Table, AlignsTextLeftAndNumbersRight) {
  Table table({"node", "keys"});
  table.add({"a", "7"});
  table.add({"über", "1,234"});
  EXPECT_EQ(table.text(), "node  keys\na         7\nüber  1,234\n");
}

TEST(Bar, IsProportional) {
  EXPECT_EQ(bar(0, 8, 4), "");
  EXPECT_EQ(bar(8, 8, 4), "████");
  EXPECT_EQ(bar(4, 8, 4), "██");
  EXPECT_EQ(bar(1, 16, 1), "");
  EXPECT_EQ(bar(1, 8, 1), "▏");
  EXPECT_EQ(bar(9, 8, 2), "██") << "never beyond its field";
  EXPECT_EQ(bar(1, 0, 4), "");
}

TEST(Numbers, ReadWell) {
  EXPECT_EQ(percent(253'000), "25.3 %");
  EXPECT_EQ(percent(999'960), "100.0 %");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
}

}  // namespace
}  // namespace cleave::app
