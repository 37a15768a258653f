#include "rehearse/scenes/chi_square.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cleave::rehearse {
namespace {

TEST(ChiSquareTest, IsThatOfTheTextbook) {
  const std::vector<std::uint64_t> counts{10, 30};
  const std::vector<double> expected{20, 20};
  const ChiSquare test = chi_square(counts, expected);
  EXPECT_DOUBLE_EQ(test.value, 10);
  EXPECT_EQ(test.degrees, 1U);
  EXPECT_DOUBLE_EQ(test.sigma, 9 / std::sqrt(2));
  EXPECT_EQ(chi_square(std::span(counts).first(1), std::span(expected).first(1)).sigma, 0);
}

}  // namespace
}  // namespace cleave::rehearse
