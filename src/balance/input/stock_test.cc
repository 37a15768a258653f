#include "balance/input/stock.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::balance {
namespace {

const std::vector<ring::TokenRange> kRanges{{Token{1'000}, Token{1'999}},
                                            {Token{5'000}, Token{5'999}}};

TEST(Stock, KeysThatLieEvenlyAreSoEstimated) {
  std::vector<KeySample> sample;
  for (std::uint64_t at = 0; at < 500; ++at) sample.push_back({Token{1'000 + 2 * at}, 10});
  for (std::uint64_t at = 0; at < 500; ++at) sample.push_back({Token{5'000 + 2 * at}, 10});
  const Stock stock(kRanges, sample, 1'000'000, 10'000'000);
  EXPECT_NEAR(static_cast<double>(stock.keys_in(kRanges[0])), 500'000, 20'000);
  EXPECT_NEAR(static_cast<double>(stock.bytes_in(kRanges[1])), 5'000'000, 200'000);
  EXPECT_NEAR(static_cast<double>(stock.keys_in({Token{1'000}, Token{1'099}})), 50'000, 5'000);
  EXPECT_EQ(stock.keys_in({Token{2'000}, Token{4'999}}), 0U);
}

TEST(Stock, ATokenThatManyKeysShareIsASliceOfItsOwn) {
  std::vector<KeySample> sample;
  for (std::uint64_t at = 0; at < 60; ++at) sample.push_back({Token{1'000 + at}, 10});
  for (int count = 0; count < 40; ++count) sample.push_back({Token{1'500}, 100});
  const Stock stock(kRanges, sample, 1'000, 46'000);
  EXPECT_EQ(stock.keys_in({Token{1'500}, Token{1'500}}), 400U);
  EXPECT_EQ(stock.bytes_in({Token{1'500}, Token{1'500}}), 40'000U);
  EXPECT_LE(stock.keys_in({Token{1'501}, Token{1'999}}), 320U);
}

TEST(Stock, ALargeKeyAloneIsWhatItIs) {
  std::vector<KeySample> sample;
  for (std::uint64_t at = 0; at < 99; ++at) sample.push_back({Token{1'000 + at}, 10});
  sample.push_back({Token{1'500}, 50'000});
  const Stock stock(kRanges, sample, 1'000'000, 100'000'000);
  EXPECT_EQ(stock.keys_in({Token{1'500}, Token{1'500}}), 1U);
  EXPECT_EQ(stock.bytes_in({Token{1'500}, Token{1'500}}), 50'000U);
}

// Each of a third of the node's keys: so three times as much as was met lies there, give or take.
TEST(Stock, TellsHowFarItsBytesMayBeOff) {
  std::vector<KeySample> sample;
  for (std::uint64_t at = 0; at < 100; ++at) sample.push_back({Token{1'000 + at}, 900});
  for (int count = 0; count < 10; ++count) sample.push_back({Token{1'500}, 1'000});
  const Stock third(kRanges, sample, 330, 300'000);
  EXPECT_EQ(third.bytes_in({Token{1'500}, Token{1'500}}), 30'000U);
  const std::uint64_t error = square_root(third.variance_in({Token{1'500}, Token{1'500}}));
  EXPECT_EQ(error, 7'745U);  // square root of 10 x 3,000 x 2,000
  const Stock all(kRanges, sample, 110, 100'000);
  EXPECT_EQ(all.variance_in(kRanges[0]), 0U);
}

TEST(Stock, ASampleCountsForAsManyAsItStandsFor) {
  std::vector<KeySample> sample;
  for (std::uint64_t at = 0; at < 99; ++at) {
    sample.push_back({.token = Token{1'000 + at}, .bytes = 10, .weight_ppm = 10'000'000});
  }
  sample.push_back({Token{1'500}, 50'000});
  const Stock stock(kRanges, sample, 991, 59'900);
  EXPECT_EQ(stock.keys_in({Token{1'500}, Token{1'500}}), 1U);
  EXPECT_EQ(stock.bytes_in({Token{1'500}, Token{1'500}}), 50'000U);
  EXPECT_NEAR(static_cast<double>(stock.keys_in({Token{1'000}, Token{1'098}})), 990, 40);
  EXPECT_NEAR(static_cast<double>(stock.bytes_in({Token{1'000}, Token{1'098}})), 9'900, 400);
}

TEST(SquareRoot, OfAllSizes) {
  EXPECT_EQ(square_root(0), 0U);
  EXPECT_EQ(square_root(15), 3U);
  EXPECT_EQ(square_root(16), 4U);
  EXPECT_EQ(square_root(~Wide{0}), ~std::uint64_t{0});
}

TEST(Stock, SlicesAreDisjointCoverTheRangesAndNeverHoldMoreThanThereIs) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    std::vector<KeySample> sample;
    for (std::uint64_t count = rng.below(300); count > 0; --count) {
      sample.push_back({Token{900 + rng.below(rng.chance(1, 5) ? 110 : 6'000)}, rng.below(10'000)});
    }
    std::ranges::sort(sample, {}, &KeySample::token);
    const Stock stock(kRanges, sample, 10'000, 1'000'000);
    std::vector<ring::TokenRange> covered;
    std::uint64_t keys = 0;
    for (const Slice& each : stock.slices()) {
      for (const ring::TokenRange& other : covered) ASSERT_FALSE(other.overlaps(each.range));
      covered.push_back(each.range);
      keys += each.keys;
      ASSERT_EQ(stock.keys_in(each.range), each.keys) << "seed " << seed;
      ASSERT_EQ(stock.bytes_in(each.range), each.bytes) << "seed " << seed;
    }
    ASSERT_EQ(ring::normalised(covered), kRanges) << "seed " << seed;
    ASSERT_LE(keys, 10'000U + sample.size());
  }
}

}  // namespace
}  // namespace cleave::balance
