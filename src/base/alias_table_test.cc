#include "base/alias_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace cleave {
namespace {

TEST(AliasTable, DrawsInProportionAndNeverWhatHasNoWeight) {
  const std::vector<std::uint64_t> weights = {0, 1, 2, 0, 5, 2};
  const AliasTable table(weights);
  Rng rng(1);
  std::vector<std::uint64_t> seen(weights.size());
  constexpr std::uint64_t kDraws = 100'000;
  for (std::uint64_t count = 0; count < kDraws; ++count) ++seen[table.draw(rng)];
  for (std::size_t at = 0; at < weights.size(); ++at) {
    const auto want = static_cast<double>(weights[at] * kDraws / 10);
    EXPECT_NEAR(static_cast<double>(seen[at]), want, want * 0.03) << "place " << at;
  }
}

TEST(AliasTable, HasOnePlaceAtLeast) {
  const std::vector<std::uint64_t> weights = {7};
  Rng rng(1);
  EXPECT_EQ(AliasTable(weights).draw(rng), 0U);
}

}  // namespace
}  // namespace cleave
