#include "balance/input/bound.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace cleave::balance {
namespace {

using Loads = std::vector<std::uint64_t>;

TEST(Bound, IsTheMeanWhereNoTokenMatters) {
  const Loads tokens(1'000, 10);
  EXPECT_EQ(bound_ppm(tokens, 10'000, Loads(4, 1)), 1'000'000U);
}

TEST(Bound, IsTheHeaviestTokenWhereThatIsMoreThanAShare) {
  EXPECT_EQ(bound_ppm(Loads{500, 100}, 1'000, Loads(4, 1)), 2'000'000U);
}

TEST(Bound, OfTwoNodesAndThreeHeavyTokensTwoShareOne) {
  EXPECT_EQ(bound_ppm(Loads{100, 100, 100}, 300, Loads(2, 1)), 1'333'333U);
}

TEST(Bound, ALargeNodeCanCarryMore) {
  EXPECT_EQ(bound_ppm(Loads{500}, 1'000, Loads{3, 1, 1, 1}), 1'000'000U);
}

TEST(Bound, WithoutLoadOrNodesThereIsNone) {
  EXPECT_EQ(bound_ppm(Loads{}, 0, Loads(4, 1)), 1'000'000U);
  EXPECT_EQ(bound_ppm(Loads{5}, 5, Loads{}), 1'000'000U);
}

// The best of all placements, by trying them.
std::uint64_t best_peak(const Loads& tokens, std::size_t nodes) {
  std::uint64_t best = ~std::uint64_t{0};
  std::uint64_t placements = 1;
  for (std::size_t count = 0; count < tokens.size(); ++count) placements *= nodes;
  for (std::uint64_t code = 0; code < placements; ++code) {
    Loads sums(nodes, 0);
    std::uint64_t rest = code;
    for (const std::uint64_t each : tokens) {
      sums[rest % nodes] += each;
      rest /= nodes;
    }
    best = std::min(best, *std::ranges::max_element(sums));
  }
  return best;
}

TEST(Bound, IsNeverAboveWhatTheBestPlacementReaches) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    const std::size_t nodes = 2 + rng.below(2);
    Loads tokens;
    std::uint64_t total = 0;
    for (std::uint64_t count = 1 + rng.below(7); count > 0; --count) {
      tokens.push_back(1 + rng.below(rng.chance(1, 3) ? 1'000 : 50));
      total += tokens.back();
    }
    const std::uint64_t scaled_total = total * nodes;  // so that shares are whole numbers
    for (std::uint64_t& each : tokens) each *= nodes;
    const std::uint64_t best = best_peak(tokens, nodes) * 1'000'000 / (scaled_total / nodes);
    ASSERT_LE(bound_ppm(tokens, scaled_total, Loads(nodes, 1)), best + 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cleave::balance
