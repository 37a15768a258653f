#include "loadgen/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cleave::loadgen {
namespace {

double as_share(std::uint64_t units) { return static_cast<double>(units) / std::pow(2.0, 64.0); }

TEST(Zipf, HasTheSharesOfTheDefinition) {
  for (const std::uint32_t exponent : {0U, 800U, 1'000U, 1'100U, 2'000U}) {
    constexpr std::size_t kRanks = 1'000;
    const Zipf zipf(kRanks, exponent);
    double sum = 0;
    const double power = -static_cast<double>(exponent) / 1000.0;
    for (std::size_t rank = 1; rank <= kRanks; ++rank) sum += std::pow(rank, power);
    double shares = 0;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const double want = std::pow(rank + 1, power) / sum;
      EXPECT_NEAR(as_share(zipf.share(rank)) / want, 1.0, 1e-6) << exponent << ", rank " << rank;
      shares += as_share(zipf.share(rank));
    }
    EXPECT_NEAR(shares, 1.0, 1e-9) << exponent;
  }
}

// Chi-squared over the first 20 ranks and the rest: 20 degrees of freedom; above 45.3 with
// probability 0.001. The seed is fixed, so it cannot fail by chance.
TEST(Zipf, DrawsByItsShares) {
  for (const std::uint32_t exponent : {0U, 900U, 1'100U, 1'400U}) {
    constexpr std::size_t kDraws = 200'000;
    const Zipf zipf(5'000, exponent);
    Rng rng(7);
    std::vector<double> seen(21);
    for (std::size_t i = 0; i < kDraws; ++i) seen[std::min<std::size_t>(zipf.draw(rng), 20)] += 1;
    double chi_squared = 0;
    double left = 1;
    for (std::size_t rank = 0; rank <= 20; ++rank) {
      const double share = rank < 20 ? as_share(zipf.share(rank)) : left;
      left -= share;
      const double want = share * kDraws;
      chi_squared += (seen[rank] - want) * (seen[rank] - want) / want;
    }
    EXPECT_LT(chi_squared, 45.3) << exponent;
  }
}

TEST(Zipf, RepeatsItself) {
  const Zipf zipf(1'000, 1'100);
  Rng left(42);
  Rng right(42);
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(zipf.draw(left), zipf.draw(right));
  Rng golden(1);
  std::vector<std::size_t> first;
  for (int i = 0; i < 8; ++i) first.push_back(zipf.draw(golden));
  EXPECT_EQ(first, (std::vector<std::size_t>{2, 54, 1, 21, 0, 0, 1, 435}));
}

TEST(Zipf, HasOneRankAtLeast) {
  const Zipf zipf(1, 1'000);
  Rng rng(1);
  EXPECT_EQ(zipf.draw(rng), 0U);
  EXPECT_EQ(zipf.share(0), ~std::uint64_t{0});
}

}  // namespace
}  // namespace cleave::loadgen
