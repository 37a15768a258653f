#include "ring/placed/two_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "ring/document/arcs_testing.h"

namespace cleave::ring {
namespace {

using testing::equal_arcs;
using WeightedNodes = std::vector<WeightedNode>;

TwoChoices choices_of(std::span<const Arc> arcs, const WeightedNodes& nodes) {
  auto choices = TwoChoices::build(arcs, nodes);
  EXPECT_TRUE(choices) << choices.error().message;
  return std::move(*choices);
}

struct Pool {
  std::vector<Arc> arcs;
  WeightedNodes nodes;
};

Pool equal_pool(std::uint32_t count) {
  std::vector<std::uint32_t> owners;
  Pool pool;
  for (std::uint32_t i = 1; i <= count; ++i) {
    owners.push_back(i);
    pool.nodes.push_back({NodeId{i}});
  }
  pool.arcs = equal_arcs(owners);
  return pool;
}

TEST(TwoChoices, AreTheOwnerAndAnotherNodeAndTheEmptierOneGets) {
  const Pool pool = equal_pool(5);
  auto loads = choices_of(pool.arcs, pool.nodes);
  Rng rng(1);
  for (int i = 0; i < 1'000; ++i) {
    const Token token{rng.next()};
    const NodeChoices both = loads.choices(token);
    const auto owner = std::ranges::find_if(
        pool.arcs, [&](const Arc& each) { return each.range.contains(token); });
    ASSERT_EQ(both.first, owner->node);
    ASSERT_NE(both.second, both.first);
    const bool first = loads.load(both.first) <= loads.load(both.second);
    ASSERT_EQ(loads.acquire(token), first ? both.first : both.second);
  }
  EXPECT_EQ(loads.total(), 1'000U);
}

TEST(TwoChoices, OneNodeIsBothChoices) {
  auto loads = choices_of(equal_arcs({1, 1, 1}), {{NodeId{1}}, {NodeId{2}}});
  EXPECT_EQ(loads.choices(Token{7}), (NodeChoices{NodeId{1}, NodeId{1}}));
  EXPECT_EQ(loads.acquire(Token{7}), NodeId{1});
  EXPECT_TRUE(loads.release(NodeId{1}));
  EXPECT_FALSE(loads.release(NodeId{1}));
  EXPECT_FALSE(loads.release(NodeId{2}));
}

// The second choice has to be as good as a fresh hash: over many first owners it spreads evenly.
TEST(TwoChoices, TheSecondChoiceDoesNotFollowTheFirst) {
  const Pool pool = equal_pool(8);
  const auto loads = choices_of(pool.arcs, pool.nodes);
  std::vector<std::vector<int>> pairs(9, std::vector<int>(9));
  // Tokens in a row, as of a table or of a short hash: 1,024 for each pair of nodes.
  for (std::uint64_t i = 0; i < 65'536; ++i) {
    const NodeChoices both = loads.choices(Token{i << 48U});
    ++pairs[both.first.value()][both.second.value()];
  }
  for (std::uint32_t first = 1; first <= 8; ++first) {
    for (std::uint32_t second = 1; second <= 8; ++second) {
      if (first == second) continue;
      // The node after the first one stands in for it, too.
      const int expected = second == first % 8 + 1 ? 2'048 : 1'024;
      EXPECT_NEAR(pairs[first][second], expected, expected / 6) << first << ' ' << second;
    }
  }
}

struct Peaks {
  std::uint64_t one = 0;  // of the busiest node when every key goes to its owner
  std::uint64_t two = 0;  // and with two choices
};

Peaks peaks_of(std::uint32_t nodes, std::size_t keys, std::uint64_t seed) {
  const Pool pool = equal_pool(nodes);
  auto loads = choices_of(pool.arcs, pool.nodes);
  std::vector<std::uint64_t> owned(nodes + 1);
  Rng rng(seed);
  for (std::size_t i = 0; i < keys; ++i) {
    const Token token{rng.next()};
    ++owned[loads.choices(token).first.value()];
    loads.acquire(token);
  }
  Peaks peaks{.one = *std::ranges::max_element(owned)};
  for (const WeightedNode& each : pool.nodes) {
    peaks.two = std::max(peaks.two, loads.load(each.node));
  }
  return peaks;
}

// n keys on n nodes, n = 100 ... 100,000: one choice grows as log n / log log n (4 ... 8), two as
// log log n / log 2 (2.2 ... 3.6, and a constant).
TEST(TwoChoices, ThePeakGrowsAsLogLogOfTheNodes) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Peaks few = peaks_of(100, 100, seed);
    const Peaks many = peaks_of(100'000, 100'000, seed);
    EXPECT_LE(few.two, 3U);
    EXPECT_LE(many.two, 5U);
    EXPECT_LE(many.two, few.two + 2);
    EXPECT_GE(many.one, 7U);
  }
}

// Many keys a node: the excess over the mean is log log n still, whatever the mean; with one choice
// the root of 2 x mean x log n (about 120 here).
TEST(TwoChoices, TheExcessDoesNotGrowWithTheKeys) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Peaks peaks = peaks_of(1'000, 1'000'000, seed);
    EXPECT_LE(peaks.two, 1'000U + 6);
    EXPECT_GE(peaks.one, 1'000U + 60);
  }
}

TEST(TwoChoices, LoadsFollowTheWeights) {
  Pool pool = equal_pool(10);
  for (WeightedNode& each : pool.nodes) each.weight = each.node.value() <= 5 ? 1 : 2;
  auto loads = choices_of(pool.arcs, pool.nodes);
  Rng rng(1);
  for (int i = 0; i < 15'000; ++i) loads.acquire(Token{rng.next()});
  for (const WeightedNode& each : pool.nodes) {
    EXPECT_NEAR(static_cast<double>(loads.load(each.node)), 1'000.0 * each.weight,
                100.0 * each.weight);
  }
}

TEST(TwoChoices, LoadsAreTakenToANewRing) {
  auto before = choices_of(equal_arcs({1, 2}), {{NodeId{1}}, {NodeId{2}}});
  for (int i = 0; i < 6; ++i) before.acquire(Token{7});
  auto after = choices_of(equal_arcs({2, 3}), {{NodeId{3}}, {NodeId{2}}});
  after.take_loads(before);
  EXPECT_EQ(after.load(NodeId{2}), 3U);
  EXPECT_EQ(after.total(), 3U);
}

}  // namespace
}  // namespace cleave::ring
