#include "ring/placed/bounded_loads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/rng.h"
#include "ring/document/arcs_testing.h"
#include "ring/placed/placement_diff.h"

namespace cleave::ring {
namespace {

using testing::equal_arcs;
using WeightedNodes = std::vector<WeightedNode>;

BoundedLoads loads_of(std::span<const Arc> arcs, const WeightedNodes& nodes, std::uint32_t bound,
                      Rounding rounding = Rounding::kUp) {
  auto loads = BoundedLoads::build(arcs, nodes, bound, rounding);
  EXPECT_TRUE(loads) << loads.error().message;
  return std::move(*loads);
}

WeightedNodes equal_nodes(std::uint32_t count) {
  WeightedNodes nodes;
  for (std::uint32_t i = 1; i <= count; ++i) nodes.push_back({NodeId{i}});
  return nodes;
}

// Three nodes, c = 1.5: after 0, 1, 2, 3 loads a node may carry 1, 1, 2, 2.
TEST(BoundedLoads, AFullOwnersKeysGoToTheNextNodeClockwise) {
  auto loads = loads_of(equal_arcs({1, 2, 3}), equal_nodes(3), 1'500);
  EXPECT_EQ(loads.acquire(kFirstToken), NodeId{1});
  EXPECT_EQ(loads.acquire(kFirstToken), NodeId{2});
  EXPECT_EQ(loads.acquire(kFirstToken), NodeId{1});
  EXPECT_EQ(loads.acquire(kFirstToken), NodeId{2});
  EXPECT_EQ(loads.acquire(kLastToken), NodeId{3});
  EXPECT_EQ(loads.acquire(kLastToken), NodeId{3});
  EXPECT_EQ(loads.acquire(kLastToken), NodeId{3});
  EXPECT_EQ(loads.bound(NodeId{3}), 4U);
  EXPECT_EQ(loads.acquire(kLastToken), NodeId{3});
  EXPECT_EQ(loads.acquire(kLastToken), NodeId{3});
  EXPECT_EQ(loads.bound(NodeId{3}), 5U);
  EXPECT_EQ(loads.acquire(kLastToken), NodeId{1});  // past the last token comes the first
  EXPECT_EQ(loads.total(), 10U);
}

TEST(BoundedLoads, WhatIsReleasedMakesRoom) {
  auto loads = loads_of(equal_arcs({1, 2}), equal_nodes(2), 1'100);
  EXPECT_EQ(loads.acquire(kFirstToken), NodeId{1});
  EXPECT_EQ(loads.acquire(kFirstToken), NodeId{1});
  EXPECT_EQ(loads.acquire(kFirstToken), NodeId{2});
  EXPECT_TRUE(loads.release(NodeId{1}));
  EXPECT_EQ(loads.acquire(kFirstToken), NodeId{1});
  EXPECT_TRUE(loads.release(NodeId{2}));
  EXPECT_FALSE(loads.release(NodeId{2}));  // carries nothing
  EXPECT_FALSE(loads.release(NodeId{9}));  // nobody
  EXPECT_EQ(loads.total(), 2U);
  EXPECT_EQ(loads.load(NodeId{1}), 2U);
}

TEST(BoundedLoads, RefuseWhatMakesNoSense) {
  const auto arcs = equal_arcs({1, 2});
  const auto refused = [&](const WeightedNodes& nodes, std::uint32_t bound) {
    const auto loads = BoundedLoads::build(arcs, nodes, bound);
    return !loads && loads.error().code == Code::kInvalid;
  };
  EXPECT_TRUE(refused(equal_nodes(2), 1'000));
  EXPECT_TRUE(refused(equal_nodes(2), kBoundPerMilleMax + 1));
  EXPECT_TRUE(refused(equal_nodes(1), 1'250));
  EXPECT_TRUE(refused({{NodeId{1}, 0}, {NodeId{2}}}, 1'250));
  EXPECT_TRUE(refused({{NodeId{1}, kLoadWeightMax + 1}, {NodeId{2}}}, 1'250));
  EXPECT_TRUE(refused({{NodeId{1}}, {NodeId{1}}}, 1'250));
  EXPECT_FALSE(refused(equal_nodes(2), 1'001));
}

// Its weight would else be room that nobody can reach, and a walk without an end.
TEST(BoundedLoads, ANodeWithoutArcsDoesNotCount) {
  auto loads = loads_of(equal_arcs({1, 2}), {{NodeId{1}}, {NodeId{2}}, {NodeId{3}, 1'000}}, 1'001);
  for (int i = 0; i < 100; ++i) loads.acquire(kFirstToken);
  EXPECT_EQ(loads.load(NodeId{1}) + loads.load(NodeId{2}), 100U);
  EXPECT_LE(loads.load(NodeId{1}), 51U);
  EXPECT_EQ(loads.bound(NodeId{3}), 0U);
}

struct RandomPool {
  std::vector<Arc> arcs;
  WeightedNodes nodes;
  std::uint32_t bound;
  Rounding rounding;
};

RandomPool random_pool(Rng& rng) {
  RandomPool pool;
  const std::size_t count = 1 + rng.below(8);
  std::vector<std::uint32_t> owners;
  for (std::size_t i = 0; i < 1 + rng.below(30); ++i) {
    owners.push_back(1 + static_cast<std::uint32_t>(rng.below(count)));
  }
  pool.arcs = equal_arcs(owners);
  pool.nodes = equal_nodes(static_cast<std::uint32_t>(count));
  for (WeightedNode& each : pool.nodes) each.weight = 1 + static_cast<std::uint32_t>(rng.below(4));
  pool.bound = 1'001 + static_cast<std::uint32_t>(rng.below(1'500));
  pool.rounding = rng.chance(1, 2) ? Rounding::kUp : Rounding::kHaproxy;
  return pool;
}

// Keys of a few tokens come and go: crowds, so that bounds are met.
TEST(BoundedLoads, NobodyIsRaisedAboveItsBoundAndAnOwnerWithRoomKeepsItsKeys) {
  std::size_t passed_on = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const RandomPool pool = random_pool(rng);
    auto loads = loads_of(pool.arcs, pool.nodes, pool.bound, pool.rounding);
    std::vector<NodeId> held;
    for (int i = 0; i < 200; ++i) {
      if (!held.empty() && rng.chance(1, 3)) {
        std::swap(held[rng.below(held.size())], held.back());
        ASSERT_TRUE(loads.release(held.back()));
        held.pop_back();
        continue;
      }
      const std::size_t arc = rng.below(std::min<std::size_t>(3, pool.arcs.size()));
      // The slow and certain way.
      std::size_t at = arc;
      while (loads.load(pool.arcs[at].node) + 1 > loads.bound(pool.arcs[at].node)) {
        at = (at + 1) % pool.arcs.size();
      }
      held.push_back(loads.acquire(pool.arcs[arc].range.last));
      ASSERT_EQ(held.back(), pool.arcs[at].node);
      if (pool.arcs[arc].node != held.back()) ++passed_on;
    }
    ASSERT_EQ(loads.total(), held.size());
    for (const WeightedNode& each : pool.nodes) {
      const auto count = std::ranges::count(held, each.node);
      ASSERT_EQ(loads.load(each.node), static_cast<std::uint64_t>(count));
    }
  }
  EXPECT_GT(passed_on, 10'000U);
}

// ceil(c x (load + 1) x weight / all weights), as the header says it.
TEST(BoundedLoads, TheBoundIsTheShareOfTheWeightTimesC) {
  auto loads =
      loads_of(equal_arcs({1, 2, 3}), {{NodeId{1}, 1}, {NodeId{2}, 2}, {NodeId{3}, 3}}, 1'250);
  for (std::uint64_t i = 0; i < 95; ++i) loads.acquire(Token{i * 0x9E3779B97F4A7C15U});
  EXPECT_EQ(loads.bound(NodeId{1}), 20U);
  EXPECT_EQ(loads.bound(NodeId{2}), 40U);
  EXPECT_EQ(loads.bound(NodeId{3}), 60U);
  EXPECT_EQ(loads.bound(NodeId{4}), 0U);
}

// Nine loads and one more at c = 1.15: 12 places, of which the running sums 2, 7, 12 of the weights
// 1, 2, 2 of 5 give 2, 5, 5; each rounded up by itself it would be 3, 5, 5.
TEST(BoundedLoads, HaproxySharesOutWholePlaces) {
  const WeightedNodes nodes{{NodeId{1}, 1}, {NodeId{2}, 2}, {NodeId{3}, 2}};
  auto haproxy = loads_of(equal_arcs({1, 2, 3}), nodes, 1'150, Rounding::kHaproxy);
  auto paper = loads_of(equal_arcs({1, 2, 3}), nodes, 1'150);
  EXPECT_EQ(haproxy.bound(NodeId{1}), 1U);  // at least one: its share of 2 places is 0.4
  for (std::uint64_t i = 0; i < 9; ++i) {
    haproxy.acquire(Token{i * 0x9E3779B97F4A7C15U});
    paper.acquire(Token{i * 0x9E3779B97F4A7C15U});
  }
  EXPECT_EQ(haproxy.bound(NodeId{1}), 2U);
  EXPECT_EQ(haproxy.bound(NodeId{2}), 5U);
  EXPECT_EQ(haproxy.bound(NodeId{3}), 5U);
  EXPECT_EQ(paper.bound(NodeId{1}), 3U);
  EXPECT_EQ(paper.bound(NodeId{2}), 5U);
}

struct VnodePool {
  std::shared_ptr<const Placement> placement;
  WeightedNodes nodes;
};

VnodePool vnode_pool(std::uint32_t count) {
  std::vector<PlacedNode> placed;
  for (std::uint32_t i = 1; i <= count; ++i) placed.push_back({.name = "n" + std::to_string(i)});
  const auto placement = place({.name = "vnode"}, placed);
  EXPECT_TRUE(placement);
  return {*placement, equal_nodes(count)};
}

std::vector<NodeId> places_of_keys(BoundedLoads& loads, std::size_t keys) {
  Rng rng(1);
  std::vector<NodeId> places;
  for (std::size_t i = 0; i < keys; ++i) places.push_back(loads.acquire(Token{rng.next()}));
  return places;
}

// Keys that change their node, over the keys that the joiner gets, in thousandths.
std::uint64_t cost_of_a_join(std::uint32_t bound) {
  constexpr std::size_t kKeys = 20'000;
  const VnodePool few = vnode_pool(20);
  const VnodePool more = vnode_pool(21);
  auto before = loads_of(arcs_of(*few.placement), few.nodes, bound);
  auto after = loads_of(arcs_of(*more.placement), more.nodes, bound);
  const auto old_places = places_of_keys(before, kKeys);
  const auto new_places = places_of_keys(after, kKeys);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < kKeys; ++i) {
    if (old_places[i] != new_places[i]) ++moved;
  }
  for (const WeightedNode& each : more.nodes) {
    EXPECT_LE(after.load(each.node), kKeys * bound / 21'000 + 1);
  }
  return moved * 1'000 / after.load(NodeId{21});
}

// The same keys in the same order on 20 nodes and on 21: the joiner's keys must move, and as bounds
// sink some more do. The paper allows O(1 / e^2) times the joiner's keys.
TEST(BoundedLoads, AJoinMovesLittleMoreThanTheJoinersKeys) {
  const std::uint64_t loose = cost_of_a_join(1'250);
  const std::uint64_t tight = cost_of_a_join(1'050);
  RecordProperty("moved_per_mille_of_the_joiners_at_1_25", std::to_string(loose));
  RecordProperty("moved_per_mille_of_the_joiners_at_1_05", std::to_string(tight));
  EXPECT_LE(loose, 1'500U);
  EXPECT_LE(tight, 4'000U);
}

TEST(BoundedLoads, LoadsAreTakenToANewRing) {
  auto before = loads_of(equal_arcs({1, 2}), equal_nodes(2), 2'000);
  for (int i = 0; i < 4; ++i) before.acquire(kLastToken);
  auto after = loads_of(equal_arcs({3, 2}), {{NodeId{3}}, {NodeId{2}}}, 2'000);
  after.take_loads(before);
  EXPECT_EQ(after.load(NodeId{2}), before.load(NodeId{2}));
  EXPECT_EQ(after.load(NodeId{3}), 0U);
  EXPECT_EQ(after.total(), before.load(NodeId{2}));
}

}  // namespace
}  // namespace cleave::ring
