// The C++ and C interface of replicas, as far as they add something to replicas_test.cc.
#include <cleave/cleave_ring.h>
#include <gtest/gtest.h>

#include <cleave/ring_replicas.hpp>
#include <memory>
#include <set>

namespace cleave {
namespace {

// Six nodes, two in each of three racks.
Ring six_nodes() {
  std::vector<Ring::Node> nodes;
  for (int i = 0; i < 6; ++i) {
    nodes.push_back({"n" + std::to_string(i), 1, "r" + std::to_string(i % 3), "east"});
  }
  return Ring("vnode", nodes);
}

TEST(RingReplicas, NoTwoStandInOneRackWhileThereAreRacks) {
  const Ring ring = six_nodes();
  const RingReplicas replicas = RingReplicas::over_racks(ring, 3);
  EXPECT_EQ(replicas.count(), 3U);
  EXPECT_TRUE(replicas.shortages().empty());
  for (int i = 0; i < 1'000; ++i) {
    const std::string key = "key:" + std::to_string(i);
    const std::vector<std::size_t> nodes = replicas.locate(key);
    ASSERT_EQ(nodes.size(), 3U);
    EXPECT_EQ(nodes[0], ring.locate(key));
    std::set<std::string> racks;
    for (const std::size_t node : nodes) racks.insert(ring.nodes()[node].rack);
    EXPECT_EQ(racks.size(), 3U);
    EXPECT_EQ(replicas.of_token(*ring.token_of(key)), nodes);
    std::size_t buffer[3] = {};
    ASSERT_EQ(replicas.locate(key, buffer), 3U);
    EXPECT_TRUE(std::equal(nodes.begin(), nodes.end(), buffer));
  }
}

TEST(RingReplicas, WhatDoesNotSufficeIsTold) {
  const RingReplicas four = RingReplicas::over_racks(six_nodes(), 4);
  ASSERT_EQ(four.shortages().size(), 1U);
  EXPECT_EQ(four.shortages()[0].datacenter, "east");
  EXPECT_EQ(four.shortages()[0].wanted, 4U);
  EXPECT_EQ(four.shortages()[0].missing, 0U);
  EXPECT_EQ(four.shortages()[0].sharing, 1U);
  const RingReplicas eight = RingReplicas::simple(six_nodes(), 8);
  EXPECT_EQ(eight.count(), 6U);
  EXPECT_EQ(eight.shortages()[0].missing, 2U);
}

// A cut's owner comes first: the walk knows cuts, too.
TEST(RingReplicas, BeginWithTheOwnerOfACut) {
  const Ring ring = six_nodes();
  const std::uint64_t token = *ring.token_of("hot");
  for (const Ring::Node& node : ring.nodes()) {
    const Ring cut = ring.with_cut({token, token, node.name});
    EXPECT_EQ(RingReplicas::over_racks(cut, 3).locate("hot").front(), cut.find(node.name));
  }
}

TEST(RingReplicas, AKeyThatLiesNowhereHasNone) {
  const Ring ring("nginx", {{"a"}, {"b"}}, {{"method", "consistent"}});
  const RingReplicas replicas = RingReplicas::simple(ring, 2);
  EXPECT_TRUE(replicas.locate("").empty());
  EXPECT_EQ(replicas.locate("", nullptr), 0U);
  EXPECT_EQ(replicas.ring(), ring);
}

TEST(RingReplicas, WhatCannotBeIsAnException) {
  const Ring ring = six_nodes();
  EXPECT_THROW(RingReplicas::simple(ring, 0), RingError);
  EXPECT_THROW(RingReplicas::simple(ring, 65), RingError);
  EXPECT_THROW(RingReplicas::over_racks(ring, std::map<std::string, std::uint32_t>{}), RingError);
  EXPECT_THROW(RingReplicas::over_racks(ring.with_node({"w", 1, "", "west"}), 2), RingError);
}

TEST(CRingReplicas, TellWhatTheCxxInterfaceTells) {
  std::vector<cleave_ring_node> nodes;
  const Ring six = six_nodes();
  for (const Ring::Node& node : six.nodes()) {
    nodes.push_back({node.name.c_str(), 1, node.rack.c_str(), node.datacenter.c_str()});
  }
  cleave_ring* ring = nullptr;
  cleave_ring_replicas* made = nullptr;
  ASSERT_EQ(cleave_ring_create("vnode", nullptr, 0, nodes.data(), 6, &ring, nullptr),
            CLEAVE_RING_OK);
  const cleave_ring_datacenter east = {"east", 4};
  ASSERT_EQ(cleave_ring_replicas_over_racks(ring, &east, 1, &made, nullptr), CLEAVE_RING_OK);
  cleave_ring_free(ring);
  const std::unique_ptr<cleave_ring_replicas, decltype(&cleave_ring_replicas_free)> replicas(
      made, cleave_ring_replicas_free);
  std::size_t found[4] = {};
  std::size_t count = 0;
  ASSERT_EQ(cleave_ring_replicas_locate(made, "key", 3, found, 4, &count), CLEAVE_RING_OK);
  const auto want = RingReplicas::over_racks(six, 4).locate("key");
  EXPECT_TRUE(std::equal(want.begin(), want.end(), found, found + count));
  cleave_ring_shortage shortage = {};
  ASSERT_EQ(cleave_ring_replicas_shortages(made, &shortage, 1, &count), CLEAVE_RING_OK);
  EXPECT_STREQ(shortage.datacenter, "east");
  EXPECT_EQ(shortage.sharing, 1U);
  EXPECT_EQ(cleave_ring_replicas_count(made), 4U);
}

TEST(CRingReplicas, WhatCannotBeIsAStatus) {
  const cleave_ring_node nodes[] = {{"a", 1, nullptr, nullptr}};
  cleave_ring* ring = nullptr;
  ASSERT_EQ(cleave_ring_create("vnode", nullptr, 0, nodes, 1, &ring, nullptr), CLEAVE_RING_OK);
  const std::unique_ptr<cleave_ring, decltype(&cleave_ring_free)> owner(ring, cleave_ring_free);
  cleave_ring_replicas* made = nullptr;
  std::size_t count = 0;
  const cleave_ring_datacenter twice[] = {{nullptr, 1}, {"", 2}};
  for (const cleave_ring_status status :
       {cleave_ring_replicas_simple(nullptr, 1, &made, nullptr),
        cleave_ring_replicas_simple(ring, 0, &made, nullptr),
        cleave_ring_replicas_simple(ring, 1, nullptr, nullptr),
        cleave_ring_replicas_over_racks(nullptr, twice, 1, &made, nullptr),
        cleave_ring_replicas_over_racks(ring, nullptr, 1, &made, nullptr),
        cleave_ring_replicas_over_racks(ring, nullptr, 0, &made, nullptr),
        cleave_ring_replicas_over_racks(ring, twice, 2, &made, nullptr),
        cleave_ring_replicas_locate(nullptr, "k", 1, nullptr, 0, &count),
        cleave_ring_replicas_shortages(nullptr, nullptr, 0, &count)}) {
    EXPECT_EQ(status, CLEAVE_RING_INVALID);
  }
  EXPECT_EQ(cleave_ring_replicas_simple(ring, 65, &made, nullptr), CLEAVE_RING_LIMIT);
  EXPECT_EQ(cleave_ring_replicas_over_racks(ring, twice, ~std::size_t{0}, &made, nullptr),
            CLEAVE_RING_LIMIT);
  ASSERT_EQ(cleave_ring_replicas_simple(ring, 1, &made, nullptr), CLEAVE_RING_OK);
  EXPECT_EQ(cleave_ring_replicas_locate(made, nullptr, 1, nullptr, 0, &count), CLEAVE_RING_INVALID);
  EXPECT_EQ(cleave_ring_replicas_locate(made, "k", 1, nullptr, 0, nullptr), CLEAVE_RING_INVALID);
  EXPECT_EQ(cleave_ring_replicas_locate(made, "k", 1, nullptr, 0, &count),
            CLEAVE_RING_BUFFER_TOO_SMALL);
  EXPECT_EQ(count, 1U);
  cleave_ring_replicas_free(made);
  cleave_ring_replicas_free(nullptr);
  EXPECT_EQ(cleave_ring_replicas_count(nullptr), 0U);
}

}  // namespace
}  // namespace cleave
