#include "ring/document/even.h"

#include <gtest/gtest.h>

#include "ring/edits/ring_testing.h"
#include "ring/view/ownership.h"
#include "ring/width.h"

namespace cleave::ring {
namespace {

using testing::make_document;
using testing::make_nodes;

// Owned tokens as parts per million of what the node's weight entitles it to.
std::vector<std::uint64_t> fairness_ppm(const std::vector<Node>& nodes,
                                        const std::vector<Arc>& arcs) {
  std::uint64_t weights = 0;
  for (const Node& node : nodes) weights += node.weight;
  std::vector<std::uint64_t> result;
  for (const Node& node : nodes) {
    Wide owned = 0;
    for (const Arc& arc : arcs) owned += arc.node == node.id ? width(arc.range) : 0;
    result.push_back(static_cast<std::uint64_t>(owned * weights * 1'000'000 / node.weight >> 64U));
  }
  return result;
}

TEST(Even, EveryNodeIsWithinTwoPercentOfItsWeight) {
  std::size_t cuts_sum = 0;
  std::size_t nodes_sum = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<std::uint32_t> weights(1 + rng.below(8));
    for (std::uint32_t& weight : weights) weight = 1 + static_cast<std::uint32_t>(rng.below(4));
    std::vector<Node> nodes = make_nodes(weights);
    for (Node& node : nodes) node.name += std::to_string(seed);
    const std::vector<Arc> base = testing::base_arcs(nodes);
    const std::vector<Cut> cuts = even_cuts(nodes, base, UnixMillis{1});
    for (const std::uint64_t fair : fairness_ppm(nodes, owners(overlay(base, cuts)))) {
      ASSERT_GE(fair, 980'000U);
      ASSERT_LE(fair, 1'020'000U);
    }
    cuts_sum += cuts.size();
    nodes_sum += nodes.size();
  }
  // "A few": the average, over all the rings above.
  EXPECT_LE(cuts_sum, 4 * nodes_sum);
}

TEST(Even, IsTheSameEveryTime) { EXPECT_EQ(make_document({1, 2, 3}), make_document({1, 2, 3})); }

TEST(Even, NeedsNoCutForOneNode) { EXPECT_TRUE(make_document({5}).cuts.empty()); }

TEST(Even, HoldsForAHundredNodes) {
  std::vector<Node> nodes;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    nodes.push_back(testing::make_node("node-" + std::to_string(i), 1 + i % 3));
    nodes.back().id = NodeId{i};
  }
  const std::vector<Arc> base = testing::base_arcs(nodes);
  const std::vector<Cut> cuts = even_cuts(nodes, base, UnixMillis{1});
  for (const std::uint64_t fair : fairness_ppm(nodes, owners(overlay(base, cuts)))) {
    EXPECT_GE(fair, 980'000U);
    EXPECT_LE(fair, 1'020'000U);
  }
  EXPECT_LE(cuts.size(), 400U);
}

}  // namespace
}  // namespace cleave::ring
