#include "app/text/table.h"

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

TEST(Numbers, CompactOnesTakeFiveCharacters) {
  EXPECT_EQ(compact(0), "0");
  EXPECT_EQ(compact(999), "999");
  EXPECT_EQ(compact(1'000), "1.0k");
  EXPECT_EQ(compact(12'345), "12.3k");
  EXPECT_EQ(compact(999'999), "999k");
  EXPECT_EQ(compact(1'234'567), "1.2M");
  EXPECT_EQ(compact(123'456'789'012), "123G");
}

TEST(Wrapped, BreaksBetweenWordsAndLongOnesAnywhere) {
  EXPECT_EQ(wrapped("", 10, 2), "\n");
  EXPECT_EQ(wrapped("one two three four", 10, 2), "one two\n  three\n  four\n");
  EXPECT_EQ(wrapped("abcdefghijkl", 5, 2), "abcde\n  fgh\n  ijk\n  l\n");
  EXPECT_EQ(wrapped("ü ü ü", 3, 0), "ü ü\nü\n");
}

TEST(Wrapped, NoCommandIsBroken) {
  EXPECT_EQ(wrapped("say `a b`, then (`c d`) now", 9, 2),
            "say\n  `a b`,\n  then\n  (`c d`)\n  now\n");
  EXPECT_EQ(wrapped("say `a longer one` now", 10, 2), "say `a\n  longer\n  one` now\n");
  EXPECT_EQ(wrapped("one ` alone", 6, 0), "one `\nalone\n");
}

}  // namespace
}  // namespace cleave::app
