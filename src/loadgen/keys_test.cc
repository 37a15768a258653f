#include "loadgen/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace cleave::loadgen {
namespace {

TEST(Keys, HaveNamesOfOneLength) {
  const Keys keys({.count = 1'000, .prefix = "a:"});
  EXPECT_EQ(keys.name(0), "a:000000000000");
  EXPECT_EQ(keys.name(999), "a:000000000999");
  const Keys own({.count = 3, .name = [](std::uint32_t key) { return "k" + std::to_string(key); }});
  EXPECT_EQ(own.name(2), "k2");
}

TEST(Keys, PutTheFilteredFirst) {
  const Keys keys({.count = 100,
                   .zipf_thousandths = 1'000,
                   .hot_filter = [](std::string_view name) { return name.back() == '7'; }});
  for (std::size_t rank = 0; rank < 10; ++rank) EXPECT_EQ(keys.at_rank(rank, 0), rank * 10 + 7);
  EXPECT_EQ(keys.at_rank(10, 0), 0U);
  EXPECT_EQ(keys.at_rank(99, 0), 99U);
  const std::vector<std::uint64_t> shares = keys.shares(0);
  EXPECT_EQ(std::ranges::max_element(shares) - shares.begin(), 7);
}

TEST(Keys, ShiftWhatIsHotAndKeepAllOfThem) {
  const Keys keys({.count = 101, .zipf_thousandths = 1'000});
  std::set<std::uint32_t> hottest;
  for (std::uint64_t shifts = 0; shifts < 8; ++shifts) {
    hottest.insert(keys.at_rank(0, shifts));
    std::set<std::uint32_t> all;
    for (std::size_t rank = 0; rank < 101; ++rank) all.insert(keys.at_rank(rank, shifts));
    EXPECT_EQ(all.size(), 101U);
  }
  EXPECT_EQ(hottest.size(), 8U);
}

}  // namespace
}  // namespace cleave::loadgen
