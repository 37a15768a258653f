// The C++ and C interface of loads, as far as they add something to bounded_loads_test.cc and
// ring/placed/two_choices_test.cc: indexes, names, changes of the ring.
#include <cleave/cleave_ring.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cleave/ring_loads.hpp>
#include <memory>

#include "ring/placed/bounded_loads.h"
#include "ring_library/ring_impl.h"

namespace cleave {
namespace {

Ring three_nodes() { return Ring("vnode", {{"a"}, {"b", 2}, {"c"}}); }

// The loads by name, for rings with other indexes.
std::map<std::string, std::uint64_t> by_name(const RingLoads& loads) {
  std::map<std::string, std::uint64_t> result;
  for (std::size_t i = 0; i < loads.ring().nodes().size(); ++i) {
    result[loads.ring().nodes()[i].name] = loads.load(i);
  }
  return result;
}

TEST(RingLoads, NoNodeGetsMoreThanItsBound) {
  const Ring ring = three_nodes();
  RingLoads loads = RingLoads::bounded(ring, 1'250);
  std::size_t at_home = 0;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const std::string key = "key:" + std::to_string(i);
    const auto node = loads.acquire(key);
    ASSERT_TRUE(node);
    if (node == ring.locate(key)) ++at_home;
    // 1.25 of its share of all load, rounded up.
    const std::uint64_t bound = (1'250 * (i + 1) * ring.nodes()[*node].weight + 3'999) / 4'000;
    ASSERT_LE(loads.load(*node), bound);
  }
  EXPECT_EQ(loads.total(), 1'000U);
  EXPECT_GT(at_home, 700U);
}

// HAProxy's rounding of bounds gives other nodes now and then than rounding up; a ring of its
// scheme must choose as HAProxy does.
TEST(RingLoads, RoundAsHaproxyOnItsScheme) {
  const Ring ring("haproxy", {{"a", 3}, {"b", 5}, {"c", 7}}, {{"method", "consistent"}});
  std::vector<ring::Arc> arcs = RingAccess::of(ring).arcs();
  const std::vector<ring::WeightedNode> nodes = {{NodeId{1}, 3}, {NodeId{2}, 5}, {NodeId{3}, 7}};
  auto as_haproxy = ring::BoundedLoads::build(arcs, nodes, 1'010, ring::Rounding::kHaproxy);
  auto up = ring::BoundedLoads::build(arcs, nodes, 1'010, ring::Rounding::kUp);
  ASSERT_TRUE(as_haproxy && up);
  RingLoads loads = RingLoads::bounded(ring, 1'010);
  std::size_t differ = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::string key = "key:" + std::to_string(i);
    const Token token{*ring.token_of(key)};
    const NodeId want = as_haproxy->acquire(token);
    ASSERT_EQ(loads.acquire(key), want.value() - 1);
    if (up->acquire(token) != want) ++differ;
  }
  EXPECT_GT(differ, 0U);
}

TEST(RingLoads, OfTwoChoicesTheLighterIsTaken) {
  RingLoads loads = RingLoads::two_choices(three_nodes());
  const auto first = loads.acquire("hot");
  const auto second = loads.acquire("hot");
  const auto third = loads.acquire("hot");
  EXPECT_EQ(loads.total(), 3U);
  // One key has two nodes, and both have got something.
  EXPECT_TRUE(first != second || second != third);
}

TEST(RingLoads, ReleaseGivesBackWhatThereIs) {
  RingLoads loads = RingLoads::bounded(three_nodes());
  const auto node = loads.acquire("key");
  ASSERT_TRUE(node);
  EXPECT_EQ(loads.load(*node), 1U);
  EXPECT_TRUE(loads.release(*node));
  EXPECT_FALSE(loads.release(*node));
  EXPECT_FALSE(loads.release(3));
  EXPECT_FALSE(loads.release(Ring::kNowhere));
  EXPECT_EQ(loads.load(Ring::kNowhere), 0U);
  EXPECT_EQ(loads.total(), 0U);
}

TEST(RingLoads, ANameKeepsItsLoadFromRingToRing) {
  for (const bool bounded : {true, false}) {
    RingLoads loads =
        bounded ? RingLoads::bounded(three_nodes()) : RingLoads::two_choices(three_nodes());
    for (int i = 0; i < 300; ++i) loads.acquire("key:" + std::to_string(i));
    const auto before = by_name(loads);
    loads.change_ring(Ring("vnode", {{"d"}, {"c"}, {"b", 2}}));
    const auto after = by_name(loads);
    EXPECT_EQ(after.at("b"), before.at("b"));
    EXPECT_EQ(after.at("c"), before.at("c"));
    EXPECT_EQ(after.at("d"), 0U);  // not what "a" left behind
    EXPECT_EQ(loads.total(), before.at("b") + before.at("c"));
    loads.change_ring(three_nodes());
    EXPECT_EQ(by_name(loads).at("a"), 0U);
    EXPECT_EQ(by_name(loads).at("b"), before.at("b"));
    for (int i = 0; i < 300; ++i) ASSERT_LT(*loads.acquire("key:" + std::to_string(i)), 3U);
  }
}

TEST(RingLoads, AKeyThatLiesNowhereGetsNothing) {
  RingLoads loads = RingLoads::bounded(Ring("nginx", {{"a"}, {"b"}}));
  EXPECT_EQ(loads.acquire(""), std::nullopt);
  EXPECT_EQ(loads.total(), 0U);
}

TEST(RingLoads, ABoundMustLeaveRoom) {
  EXPECT_THROW(RingLoads::bounded(three_nodes(), 1'000), RingError);
  EXPECT_THROW(RingLoads::bounded(three_nodes(), 1'000'001), RingError);
}

TEST(CRingLoads, TellWhatTheCxxInterfaceTells) {
  const cleave_ring_node nodes[] = {
      {"a", 1, nullptr, nullptr}, {"b", 2, nullptr, nullptr}, {"c", 1, nullptr, nullptr}};
  cleave_ring* ring = nullptr;
  ASSERT_EQ(cleave_ring_create("vnode", nullptr, 0, nodes, 3, &ring, nullptr), CLEAVE_RING_OK);
  cleave_ring_loads* bounded = nullptr;
  cleave_ring_loads* two = nullptr;
  ASSERT_EQ(cleave_ring_loads_bounded(ring, 1'100, &bounded, nullptr), CLEAVE_RING_OK);
  ASSERT_EQ(cleave_ring_loads_two_choices(ring, &two, nullptr), CLEAVE_RING_OK);
  RingLoads want_bounded = RingLoads::bounded(three_nodes(), 1'100);
  RingLoads want_two = RingLoads::two_choices(three_nodes());
  for (int i = 0; i < 200; ++i) {
    const std::string key = std::to_string(i);
    std::size_t node = 0;
    ASSERT_EQ(cleave_ring_loads_acquire(bounded, key.data(), key.size(), &node), CLEAVE_RING_OK);
    ASSERT_EQ(node, want_bounded.acquire(key));
    ASSERT_EQ(cleave_ring_loads_acquire(two, key.data(), key.size(), &node), CLEAVE_RING_OK);
    ASSERT_EQ(node, want_two.acquire(key));
  }
  EXPECT_EQ(cleave_ring_loads_load(bounded, 1), want_bounded.load(1));
  EXPECT_EQ(cleave_ring_loads_change_ring(two, ring, nullptr), CLEAVE_RING_OK);
  EXPECT_EQ(cleave_ring_loads_total(two), 200U);
  EXPECT_EQ(cleave_ring_loads_release(two, 0), CLEAVE_RING_OK);
  EXPECT_EQ(cleave_ring_loads_release(two, 3), CLEAVE_RING_NOT_FOUND);
  cleave_ring_free(ring);
  cleave_ring_loads_free(bounded);
  cleave_ring_loads_free(two);
}

TEST(CRingLoads, WhatCannotBeIsAStatus) {
  const cleave_ring_node nodes[] = {{"a", 1, nullptr, nullptr}};
  cleave_ring* ring = nullptr;
  cleave_ring_loads* loads = nullptr;
  std::size_t node = 0;
  ASSERT_EQ(cleave_ring_create("vnode", nullptr, 0, nodes, 1, &ring, nullptr), CLEAVE_RING_OK);
  ASSERT_EQ(cleave_ring_loads_two_choices(ring, &loads, nullptr), CLEAVE_RING_OK);
  cleave_ring_loads* none = nullptr;
  for (const cleave_ring_status status :
       {cleave_ring_loads_bounded(nullptr, 1'250, &none, nullptr),
        cleave_ring_loads_bounded(ring, 0, &none, nullptr),
        cleave_ring_loads_bounded(ring, 1'250, nullptr, nullptr),
        cleave_ring_loads_two_choices(nullptr, &none, nullptr),
        cleave_ring_loads_two_choices(ring, nullptr, nullptr),
        cleave_ring_loads_acquire(nullptr, "k", 1, &node),
        cleave_ring_loads_acquire(loads, nullptr, 1, &node),
        cleave_ring_loads_acquire(loads, "k", ~std::size_t{0}, &node),
        cleave_ring_loads_acquire(loads, "k", 1, nullptr), cleave_ring_loads_release(nullptr, 0),
        cleave_ring_loads_change_ring(nullptr, ring, nullptr),
        cleave_ring_loads_change_ring(loads, nullptr, nullptr)}) {
    EXPECT_EQ(status, CLEAVE_RING_INVALID);
  }
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(cleave_ring_loads_load(nullptr, 0), 0U);
  EXPECT_EQ(cleave_ring_loads_total(nullptr), 0U);
  cleave_ring_loads_free(loads);
  cleave_ring_loads_free(nullptr);
  cleave_ring_free(ring);
}

}  // namespace
}  // namespace cleave
