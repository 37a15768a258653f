#include "loadgen/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace cleave::loadgen {
namespace {

TEST(Histogram, IsExactForSmallValues) {
  Histogram histogram;
  for (std::uint64_t value = 0; value < 100; ++value) histogram.add(value);
  EXPECT_EQ(histogram.count(), 100U);
  EXPECT_EQ(histogram.quantile(0), 0U);
  EXPECT_EQ(histogram.quantile(10'000), 0U);
  EXPECT_EQ(histogram.quantile(500'000), 49U);
  EXPECT_EQ(histogram.quantile(990'000), 98U);
  EXPECT_EQ(histogram.quantile(1'000'000), 99U);
  EXPECT_EQ(histogram.max(), 99U);
}

TEST(Histogram, SaysZeroOfNothing) {
  const Histogram histogram;
  EXPECT_EQ(histogram.quantile(500'000), 0U);
  EXPECT_EQ(histogram.max(), 0U);
}

TEST(Histogram, TakesTheLargestValues) {
  Histogram histogram;
  histogram.add(~std::uint64_t{0});
  EXPECT_EQ(histogram.max(), (std::uint64_t{1} << 40U) - 1);
  EXPECT_EQ(histogram.quantile(1'000'000), histogram.max());
}

TEST(HistogramProperty, QuantilesAreAtMostASixtyFourthTooLarge) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    std::vector<std::uint64_t> values(1 + rng.below(200));
    Histogram left;
    Histogram right;
    for (std::uint64_t& value : values) {
      value = rng.next() >> (24 + rng.below(40));
      (rng.chance(1, 2) ? left : right).add(value);
    }
    left.merge(right);
    std::sort(values.begin(), values.end());
    const std::uint64_t ppm = 1 + rng.below(1'000'000);
    const std::uint64_t place = (ppm * values.size() + 999'999) / 1'000'000;
    const std::uint64_t exact = values[place - 1];
    const std::uint64_t read = left.quantile(ppm);
    ASSERT_GE(read, exact) << "seed " << seed;
    ASSERT_LE(read, exact + exact / 64) << "seed " << seed;
    ASSERT_EQ(left.max(), values.back()) << "seed " << seed;
    ASSERT_EQ(left.count(), values.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cleave::loadgen
