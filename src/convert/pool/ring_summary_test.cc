#include "convert/pool/ring_summary.h"

#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "ring/edits/ring_testing.h"

namespace cleave::convert {
namespace {

ring::Document document() {
  std::vector<ring::Node> nodes = ring::testing::make_nodes({1, 2, 1});
  nodes[0].hash_key = "10.0.0.1:6379";
  const auto made = ring::create(
      {.pool = "main",
       .mark = "m",
       .nodes = nodes,
       .scheme = {.name = "twemproxy-ketama", .options = {{"hash", "md5"}, {"hash_tag", "{}"}}},
       .mode = ring::Mode::kObserve,
       .now = UnixMillis{1}});
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(ring::Document{});
}

TEST(RingPool, PlacesEveryKeyAsTheRing) {
  const ring::Document from = document();
  const Pool pool = pool_of(summary_of(from));
  EXPECT_EQ(pool.name, "main");
  EXPECT_EQ(pool.scheme, from.scheme);
  EXPECT_EQ(pool.nodes[0].members, std::vector<std::string>{"a.example:7000"});
  EXPECT_EQ(pool.nodes[0].rack, "r-a");
  const auto placement = ring::place(pool.scheme, placed_nodes(pool));
  ASSERT_TRUE(placement) << placement.error().message;
  const auto view = ring::testing::view_of(from);
  for (int i = 0; i < 2'000; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_EQ((*placement)->owner(key), view->owner(view->token_of(key)).value() - 1) << key;
  }
}

TEST(RingPool, KnowsOnlyNodesThatStay) {
  const auto draining = ring::drain_node(document(), NodeId{2}, UnixMillis{2});
  ASSERT_TRUE(draining) << draining.error().message;
  const Pool pool = pool_of(summary_of(*draining));
  ASSERT_EQ(pool.nodes.size(), 2U);
  EXPECT_EQ(pool.nodes[1].name, "c");
}

// HAProxy hashes positions: were they counted anew, every key behind the gap would be elsewhere.
TEST(RingPool, KeepsThePositionsOfNodesBehindOneThatLeft) {
  const auto made =
      ring::create({.pool = "main",
                    .mark = "m",
                    .nodes = ring::testing::make_nodes({1, 1, 1}),
                    .scheme = {.name = "haproxy", .options = {{"method", "consistent"}}},
                    .mode = ring::Mode::kObserve,
                    .now = UnixMillis{1}});
  ASSERT_TRUE(made) << made.error().message;
  ring::Document left = *made;
  left.nodes.erase(left.nodes.begin() + 1);
  const auto view = ring::testing::view_of(left);
  const Pool pool = pool_of(summary_of(left));
  const auto placement = ring::place(pool.scheme, placed_nodes(pool));
  ASSERT_TRUE(placement) << placement.error().message;
  for (int i = 0; i < 2'000; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_EQ(left.nodes[(*placement)->owner(key).value()].id, view->owner(view->token_of(key)))
        << key;
  }
}

}  // namespace
}  // namespace cleave::convert
