#include "ring/vnode.h"
#include "ring/arc_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/rng.h"
#include "ring/edits/ring_testing.h"

namespace cleave::ring {
namespace {

using Json = nlohmann::ordered_json;
using testing::golden;
using testing::make_nodes;
using testing::read_file;

std::vector<std::string> vector_keys() {
  const Json json = Json::parse(read_file(CLEAVE_TESTDATA "/keys.json"), nullptr, false);
  if (!json.is_array()) return {};
  return json.get<std::vector<std::string>>();
}

NodeId owner(const std::vector<Arc>& base, Token token) {
  for (const Arc& arc : base) {
    if (arc.range.contains(token)) return arc.node;
  }
  return NodeId{};
}

// One letter a key: "a" is the first node.
std::string owners_of(const std::vector<std::string>& keys, const std::vector<Node>& nodes) {
  const std::vector<Arc> base = testing::base_arcs(nodes);
  std::string letters;
  for (const std::string& key : keys) {
    letters += static_cast<char>('a' + owner(base, vnode_token(key)).value() - 1);
  }
  return letters;
}

// Every placement that was ever promised: a change here moves keys of running pools.
TEST(VnodeScheme, PlacementIsFrozen) {
  const std::vector<std::string> keys = vector_keys();
  ASSERT_EQ(keys.size(), 2'000U);
  Json actual;
  actual["about"] = "scheme vnode: token of each key of keys.json; its owner, one letter a key";
  actual["owners_of_weights_1_1_1"] = owners_of(keys, make_nodes({1, 1, 1}));
  actual["owners_of_weights_1_2_3_1_5"] = owners_of(keys, make_nodes({1, 2, 3, 1, 5}));
  for (const std::string& key : keys) actual["tokens"].push_back(to_hex(vnode_token(key)));
  const std::string text = actual.dump(1) + "\n";
  EXPECT_EQ(golden(CLEAVE_TESTDATA "/vnode_placement.json", text), text);
}

TEST(VnodeScheme, KeysOfOneTagShareAToken) {
  EXPECT_EQ(vnode_token("{user1000}.following"), vnode_token("{user1000}.followers"));
  EXPECT_EQ(vnode_token("{user1000}.following"), Token{xxh3_64("user1000")});
  EXPECT_NE(vnode_token("{}a"), vnode_token("{}b"));
}

TEST(VnodeScheme, OwnerIsTheFirstPointFromTheTokenOn) {
  const std::vector<Node> nodes = make_nodes({1, 1, 1});
  const std::vector<Arc> base = testing::base_arcs(nodes);
  for (const Node& node : nodes) {
    for (std::uint32_t i = 0; i < kPointsPerWeight; ++i) {
      const Token point{xxh3_64(node.name + "#" + std::to_string(i))};
      ASSERT_EQ(owner(base, point), node.id) << node.name << "#" << i;
    }
  }
}

TEST(VnodeScheme, TokensPastTheLastPointBelongToTheFirst) {
  const std::vector<Arc> base = testing::base_arcs(make_nodes({1, 1, 1}));
  EXPECT_EQ(base.back().range.last, kLastToken);
  EXPECT_EQ(base.back().node, base.front().node);
}

TEST(VnodeScheme, DrainingNodesHaveNoPoints) {
  std::vector<Node> nodes = make_nodes({1, 1, 1});
  const std::vector<Node> rest = {nodes[0], nodes[2]};
  nodes[1].state = NodeState::kDraining;
  EXPECT_EQ(testing::base_arcs(nodes), testing::base_arcs(rest));
  nodes[0].state = nodes[2].state = NodeState::kDraining;
  EXPECT_TRUE(testing::base_arcs(nodes).empty());
}

TEST(VnodeScheme, CoversEveryTokenOnce) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<std::uint32_t> weights(1 + rng.below(5));
    for (std::uint32_t& weight : weights) weight = 1 + static_cast<std::uint32_t>(rng.below(2));
    std::vector<Node> nodes = make_nodes(weights);
    for (Node& node : nodes) node.name += std::to_string(seed);
    const std::vector<Arc> base = testing::base_arcs(nodes);
    std::uint64_t next = 0;
    NodeId previous;
    for (const Arc& arc : base) {
      ASSERT_EQ(arc.range.first.value(), next);
      ASSERT_LE(arc.range.first, arc.range.last);
      ASSERT_NE(arc.node, previous);
      previous = arc.node;
      next = arc.range.last.value() + 1;
    }
    ASSERT_EQ(base.back().range.last, kLastToken);
  }
}

}  // namespace
}  // namespace cleave::ring
