// Shares, moves and spreads of placements: what `cleave ring` prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "ring/placed/key_spread.h"
#include "ring/placed/placement_moves.h"
#include "ring/placed/placement_shares.h"

namespace cleave::ring {
namespace {

using Nodes = std::vector<PlacedNode>;

// A placement that owns its nodes.
struct Reported {
  std::shared_ptr<const Placement> placement;
  Nodes nodes;

  PlacementSide side() const { return {*placement, nodes}; }
};

Reported reported(const SchemeSpec& spec, const Nodes& nodes) {
  const auto placement = place(spec, nodes);
  EXPECT_TRUE(placement) << placement.error().message;
  return {placement.value_or(nullptr), nodes};
}

Nodes random_nodes(Rng& rng, bool weighted) {
  Nodes nodes;
  for (std::size_t i = 0; i < 1 + rng.below(7); ++i) {
    nodes.push_back({"n" + std::to_string(rng.below(1'000) * 10 + i)});
    if (weighted) nodes.back().weight = 1 + static_cast<std::uint32_t>(rng.below(4));
  }
  return nodes;
}

// A table of 16384 equal entries: 8192 each of two nodes, 5462 or 5461 of three.
TEST(NodeShares, AreWhatTheArcsSumTo) {
  const auto two = node_shares(reported({.name = "redis-cluster"}, {{"a"}, {"b"}}).side());
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].owned, kAllTokens / 2);
  EXPECT_EQ(two[0].wanted, kAllTokens / 2);
  EXPECT_EQ(two[0].load_ppm(), 1'000'000U);
  EXPECT_EQ(two[0].arcs, 1U);
  EXPECT_EQ(peak_ppm(two), 1'000'000U);
  const auto weighted = node_shares(reported({.name = "vnode"}, {{"a", 1}, {"b", 3}}).side());
  EXPECT_EQ(weighted[0].wanted, kAllTokens / 4);
  EXPECT_EQ(weighted[1].wanted, kAllTokens / 4 * 3);
  EXPECT_EQ(weighted[0].owned + weighted[1].owned, kAllTokens);
  EXPECT_EQ(peak_ppm(weighted), std::max(weighted[0].load_ppm(), weighted[1].load_ppm()));
  EXPECT_GT(peak_ppm(weighted), 1'000'000U);
}

TEST(NodeShares, SumToEverythingOnEveryScheme) {
  for (const SchemeText& scheme : schemes()) {
    SCOPED_TRACE(scheme.name);
    const Reported ring =
        reported({.name = std::string(scheme.name)}, {{"a"}, {"b"}, {"c"}, {"d"}});
    Wide owned = 0;
    std::size_t arcs = 0;
    for (const NodeShare& each : node_shares(ring.side())) {
      owned += each.owned;
      arcs += each.arcs;
    }
    EXPECT_EQ(owned, kAllTokens);
    EXPECT_EQ(arcs, ring.placement->arcs().size());
  }
}

void expect_sums_fit(const PlacementMoves& moves) {
  Wide before = 0;
  Wide after = 0;
  Wide moved = 0;
  std::vector<Wide> balance = moves.before;
  for (const Flow& flow : moves.flows) {
    ASSERT_NE(flow.from, flow.to);
    ASSERT_GT(flow.amount, 0U);
    moved += flow.amount;
    balance[flow.from.value() - 1] -= flow.amount;
    balance[flow.to.value() - 1] += flow.amount;
  }
  ASSERT_EQ(balance, moves.after);
  for (const Wide each : moves.before) before += each;
  for (const Wide each : moves.after) after += each;
  ASSERT_EQ(before, moves.total);
  ASSERT_EQ(after, moves.total);
  ASSERT_EQ(moved, moves.moved);
  ASSERT_LE(moves.least, moves.moved);
  ASSERT_TRUE(std::ranges::is_sorted(moves.flows, std::ranges::greater(), &Flow::amount));
}

TEST(PlacementMoves, ShareAndFlowsFitEachOther) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::string scheme = rng.chance(1, 2) ? "vnode" : "twemproxy-ketama";
    const Reported before = reported({.name = scheme}, random_nodes(rng, true));
    const Reported after = reported({.name = scheme}, random_nodes(rng, true));
    const auto by_tokens = moves_by_tokens(before.side(), after.side());
    ASSERT_TRUE(by_tokens);
    expect_sums_fit(*by_tokens);
    EXPECT_EQ(by_tokens->total, kAllTokens);
    const auto by_keys = moves_by_keys(before.side(), after.side(), sample_keys(seed, 500));
    ASSERT_TRUE(by_keys);
    expect_sums_fit(*by_keys);
    EXPECT_EQ(by_keys->total, 500U);
  }
}

// What keys tell is what tokens tell, within five standard deviations of a sample.
TEST(PlacementMoves, KeysTellWhatTokensTell) {
  const Reported before = reported({.name = "vnode"}, {{"a"}, {"b"}, {"c"}});
  const Reported after = reported({.name = "vnode"}, {{"a"}, {"b", 2}, {"d"}});
  const auto exact = moves_by_tokens(before.side(), after.side());
  const auto sampled = moves_by_keys(before.side(), after.side(), sample_keys(1, 20'000));
  ASSERT_TRUE(exact && sampled);
  EXPECT_EQ(sampled->names, (std::vector<std::string>{"a", "b", "d", "c"}));
  const double share = static_cast<double>(exact->ppm(exact->moved)) / 1e6;
  const double deviation = std::sqrt(share * (1 - share) / 20'000);
  EXPECT_NEAR(static_cast<double>(sampled->ppm(sampled->moved)) / 1e6, share, 5 * deviation);
}

TEST(PlacementMoves, AJoinOnACircleMovesTheLeast) {
  const Reported before = reported({.name = "vnode"}, {{"a"}, {"b"}});
  const Reported after = reported({.name = "vnode"}, {{"a"}, {"b"}, {"c"}});
  const auto moves = moves_by_tokens(before.side(), after.side());
  ASSERT_TRUE(moves);
  EXPECT_EQ(moves->moved, moves->least);
  EXPECT_EQ(moves->moved, moves->after[2]);
}

// Two nodes to three: keys i % 2 and i % 3 agree for i % 6 in {0, 1} only, so that 4 of 6 move; the
// least is the joiner's third.
TEST(PlacementMoves, AJoinOnAModuloMovesMuchMore) {
  const Reported before = reported({.name = "twemproxy-modula"}, {{"a"}, {"b"}});
  const Reported after = reported({.name = "twemproxy-modula"}, {{"a"}, {"b"}, {"c"}});
  EXPECT_FALSE(moves_by_tokens(before.side(), after.side()));
  const auto moves = moves_by_keys(before.side(), after.side(), sample_keys(1, 30'000));
  ASSERT_TRUE(moves);
  EXPECT_NEAR(static_cast<double>(moves->ppm(moves->moved)), 666'667, 15'000);
  EXPECT_NEAR(static_cast<double>(moves->ppm(moves->least)), 333'333, 15'000);
}

TEST(PlacementMoves, KeysWithoutAPlaceDoNotCount) {
  const Reported ring = reported({.name = "nginx", .options = {{"method", "consistent"}}}, {{"a"}});
  const std::vector<std::string> keys{"", "k"};
  const auto moves = moves_by_keys(ring.side(), ring.side(), keys);
  ASSERT_TRUE(moves);
  EXPECT_EQ(moves->total, 1U);
  EXPECT_EQ(moves_by_keys(ring.side(), ring.side(), std::span(keys).first(1)).error().code,
            Code::kInvalid);
}

TEST(KeySpread, CountsWhereKeysFall) {
  const Reported ring = reported({.name = "nginx"}, {{"a"}, {"b", 3}});
  std::vector<std::string> keys = sample_keys(1, 4'000);
  keys.emplace_back();  // nginx spreads the empty key round robin
  const KeySpread spread = spread_of(ring.side(), keys);
  EXPECT_EQ(spread.placed, 4'000U);
  EXPECT_EQ(spread.unplaced, 1U);
  EXPECT_EQ(spread.counts[0] + spread.counts[1], 4'000U);
  EXPECT_NEAR(static_cast<double>(spread.counts[1]), 3'000, 150);
}

// By hand: (10 - 20)^2 / 20 + (30 - 20)^2 / 20 = 10, one degree, (10 - 1) / sqrt(2).
TEST(SampleKeys, FollowTheSeedAndHaveAPlaceOnEveryScheme) {
  EXPECT_EQ(sample_keys(7, 100), sample_keys(7, 100));
  EXPECT_NE(sample_keys(7, 100), sample_keys(8, 100));
  const std::vector<std::string> keys = sample_keys(1, 1'000);
  for (const SchemeText& scheme : schemes()) {
    const Reported ring = reported({.name = std::string(scheme.name)}, {{"a"}, {"b"}});
    EXPECT_EQ(spread_of(ring.side(), keys).unplaced, 0U) << scheme.name;
  }
}

}  // namespace
}  // namespace cleave::ring
