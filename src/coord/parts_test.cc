#include "coord/parts.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::coord {
namespace {

std::string random_text(Rng& rng, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t draw = rng.next();
    std::memcpy(text.data() + i, &draw, std::min<std::size_t>(8, size - i));
  }
  return text;
}

std::vector<std::string> bytes_of(const Split& made) {
  std::vector<std::string> bytes;
  for (const Part& part : made.parts) bytes.push_back(part.bytes);
  return bytes;
}

TEST(Parts, SplitAndJoinAreInverse) {
  Rng rng(7);
  const std::size_t sizes[] = {0,
                               1,
                               1'000,
                               kPartBytes - 1,
                               kPartBytes,
                               kPartBytes + 1,
                               2 * kPartBytes,
                               2 * kPartBytes + 1,
                               std::size_t{3'000'000}};
  for (const std::size_t size : sizes) {
    const std::string text = random_text(rng, size);
    const Split made = split(Epoch{size + 1}, text);
    EXPECT_EQ(made.parts.empty(), size <= kPartBytes);
    EXPECT_LE(made.head.size(), kPartBytes + 100);
    const auto head = parse_head(made.head);
    ASSERT_TRUE(head) << head.error().message;
    EXPECT_EQ(head->epoch, Epoch{size + 1});
    const auto names = part_names(*head);
    ASSERT_EQ(names.size(), made.parts.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(names[i], made.parts[i].name);
      EXPECT_LE(made.parts[i].bytes.size(), kPartBytes);
    }
    EXPECT_TRUE(std::ranges::is_sorted(names));
    const auto joined = join(*head, bytes_of(made));
    ASSERT_TRUE(joined) << joined.error().message;
    EXPECT_TRUE(*joined == text);
  }
}

// The property that makes removing old parts safe.
TEST(Parts, NamesOfOlderEpochsSortBeforeTheBoundaryAndOthersDoNot) {
  Rng rng(11);
  const std::string text(kPartBytes + 1, 'x');
  for (int i = 0; i < 20; ++i) {
    const Epoch epoch{1 + rng.below(std::uint64_t{1} << rng.below(64))};
    const std::string name = split(epoch, text).parts.back().name;
    EXPECT_LT(name, oldest_part_name(Epoch{epoch.value() + 1}));
    EXPECT_GT(name, oldest_part_name(epoch));
  }
}

TEST(Parts, RacersForOneEpochShareNoNameUnlessTheyWriteTheSame) {
  const std::string one(kPartBytes + 1, 'a');
  const std::string two(kPartBytes + 1, 'b');
  EXPECT_NE(split(Epoch{3}, one).parts[0].name, split(Epoch{3}, two).parts[0].name);
  EXPECT_EQ(split(Epoch{3}, one).parts[0].name, split(Epoch{3}, one).parts[0].name);
}

TEST(Parts, DamageIsSeen) {
  const Split made = split(Epoch{5}, std::string(2 * kPartBytes, 'x'));
  const auto head = parse_head(made.head);
  ASSERT_TRUE(head);
  auto parts = bytes_of(made);
  parts[1][17] = 'y';
  EXPECT_FALSE(join(*head, parts));
  EXPECT_FALSE(join(*head, {made.parts[0].bytes}));
  EXPECT_FALSE(join(*head, {made.parts[0].bytes, "x"}));
  const auto small = parse_head(split(Epoch{5}, "text").head + "more");
  ASSERT_TRUE(small);
  EXPECT_FALSE(join(*small, {}));
  for (const std::string bad :
       {"", "{}", "cleave-register 2 1 1 00\nx", "cleave-register 1 x 1 00\nx",
        "cleave-register 1 1 99999999999999999999 00\n", "cleave-register 1 1 1 00",
        "cleave-register 1 1 999999999999 00\n", "cleave-register 1 1 600000 00\nx"})
    EXPECT_FALSE(parse_head(bad)) << bad;
}

}  // namespace
}  // namespace cleave::coord
