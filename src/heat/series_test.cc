#include "heat/series.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace cleave::heat {
namespace {

constexpr seconds kTick{2};

void push(Series& series, std::uint64_t load, int times) {
  for (int count = 0; count < times; ++count) series.push({10, 5, load}, kTick);
}

TEST(HalvedFor, IsThePowerOfTwo) {
  EXPECT_EQ(halved_for(seconds{0}, seconds{30}), kWhole);
  EXPECT_EQ(halved_for(seconds{30}, seconds{30}), kWhole / 2);
  EXPECT_EQ(halved_for(seconds{90}, seconds{30}), kWhole / 8);
  EXPECT_EQ(halved_for(seconds{100'000}, seconds{30}), 0U);
  for (int step = 0; step < 1'000; ++step) {
    const double want = std::exp2(-step * 0.1 / 30.0);
    const auto got = static_cast<double>(halved_for(milliseconds{100 * step}, seconds{30}));
    EXPECT_NEAR(got / static_cast<double>(kWhole), want, 2e-5) << step;
  }
}

TEST(PartOf, NeverGivesMoreThanThereIs) {
  Rng rng(1);
  for (int count = 0; count < 1'000; ++count) {
    const std::uint64_t value = rng.next() >> rng.below(64);
    const Fraction fraction = rng.below(kWhole + 1);
    EXPECT_LE(part_of(value, fraction) + part_of(value, kWhole - fraction), value);
    EXPECT_EQ(part_of(value, kWhole), value);
  }
}

TEST(Series, BeginsWithTheFirstRateNotWithZero) {
  Series series;
  push(series, 1'000, 1);
  EXPECT_EQ(series.load().tick, 1'000U);
  EXPECT_EQ(series.load().mean, 1'000U);
  EXPECT_NEAR(static_cast<double>(series.load().slow), 1'000.0, 2.0);
  EXPECT_EQ(series.requests(), 10U);
  EXPECT_EQ(series.writes(), 5U);
}

TEST(Series, TickFollowsAtOnceMeanInTenSecondsSlowInHalfLives) {
  Series series;
  push(series, 1'000'000, 100);
  push(series, 2'000'000, 1);
  EXPECT_EQ(series.load().tick, 2'000'000U);
  EXPECT_EQ(series.load().mean, 1'200'000U);
  push(series, 2'000'000, 4);
  EXPECT_EQ(series.load().mean, 2'000'000U);
  push(series, 2'000'000, 10);  // 30 s in all
  EXPECT_NEAR(static_cast<double>(series.load().slow), 1'500'000.0, 100.0);
}

TEST(Series, MeansOnlyWhatIsKept) {
  Series series;
  push(series, 1'000, 5);
  push(series, 4'000, 3);
  EXPECT_EQ(series.load().mean, 2'800U);
  series.keep_ticks(3);
  EXPECT_EQ(series.load().mean, 4'000U);
  push(series, 5'000, 1);
  EXPECT_EQ(series.load().mean, 4'250U);
}

TEST(Series, PeakIsRememberedForTenMinutesAndNoLonger) {
  Series series;
  push(series, 5'000, 5);
  for (int window = 0; window < 5; ++window) {
    push(series, 10, 50);
    EXPECT_EQ(series.load().peak, 5'000U) << window;
    series.next_window();
  }
  push(series, 10, 50);
  series.next_window();
  EXPECT_EQ(series.load().peak, 10U);
}

TEST(Series, PartsAddUpToTheWhole) {
  Rng rng(2);
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Series whole;
    for (int count = 0; count < 20; ++count) {
      push(whole, rng.below(1'000'000'000), 1);
      if (rng.chance(1, 4)) whole.next_window();
    }
    const Fraction fraction = rng.below(kWhole + 1);
    Series sum = whole.part(fraction);
    sum += whole.part(kWhole - fraction);
    const auto near = [&](std::uint64_t got, std::uint64_t want) {
      return got <= want && want - got <= 2;
    };
    ASSERT_TRUE(near(sum.load().tick, whole.load().tick)) << "seed " << seed;
    ASSERT_TRUE(near(sum.load().mean, whole.load().mean)) << "seed " << seed;
    ASSERT_TRUE(near(sum.load().slow, whole.load().slow)) << "seed " << seed;
    ASSERT_TRUE(near(sum.load().peak, whole.load().peak)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cleave::heat
