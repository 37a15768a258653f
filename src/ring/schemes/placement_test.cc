#include "ring/schemes/placement.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ring/edits/ring_testing.h"

namespace cleave::ring {
namespace {

using Placed = std::shared_ptr<const Placement>;

std::string random_bytes(Rng& rng, std::size_t size_max) {
  std::string bytes(rng.below(size_max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
  return bytes;
}

std::string random_name(Rng& rng, std::size_t index) {
  std::string name = "10.0." + std::to_string(rng.below(256)) + "." + std::to_string(index);
  if (rng.chance(1, 2)) name += rng.chance(1, 2) ? ":11211" : ":6379";
  return name;
}

std::vector<PlacedNode> random_nodes(Rng& rng, std::size_t most, std::uint32_t weight_max) {
  std::vector<PlacedNode> nodes(1 + rng.below(most));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = random_name(rng, i);
    nodes[i].weight = 1 + static_cast<std::uint32_t>(rng.below(weight_max));
  }
  return nodes;
}

bool has_weights(std::string_view scheme) {
  for (const std::string_view without : {"jump", "guava", "go-redis", "pymemcache", "modulo"}) {
    if (scheme == without) return false;
  }
  return true;
}

Placed placed(const SchemeSpec& spec, const std::vector<PlacedNode>& nodes) {
  auto placement = place(spec, nodes);
  EXPECT_TRUE(placement) << spec.name << ": " << placement.error().message;
  return placement.value_or(nullptr);
}

std::string message_of(const SchemeSpec& spec, const std::vector<PlacedNode>& nodes) {
  const auto placement = place(spec, nodes);
  EXPECT_FALSE(placement) << spec.name;
  return placement ? "" : placement.error().message;
}

void expect_cover(const Placement& placement, std::size_t nodes) {
  std::uint64_t next = 0;
  NodeId previous;
  for (const Arc& arc : placement.arcs()) {
    ASSERT_EQ(arc.range.first.value(), next);
    ASSERT_LE(arc.range.first, arc.range.last);
    ASSERT_NE(arc.node, previous);
    ASSERT_GE(arc.node.value(), 1U);
    ASSERT_LE(arc.node.value(), nodes);
    previous = arc.node;
    next = arc.range.last.value() + 1;
  }
  ASSERT_EQ(placement.arcs().back().range.last, kLastToken);
}

TEST(Placement, OfEverySchemeCoversEveryTokenOnce) {
  for (const SchemeText& scheme : schemes()) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(std::string(scheme.name) + ", seed " + std::to_string(seed));
      Rng rng(seed);
      const auto nodes = random_nodes(rng, 6, has_weights(scheme.name) ? 3 : 1);
      const Placed placement = placed({.name = std::string(scheme.name)}, nodes);
      ASSERT_NE(placement, nullptr);
      expect_cover(*placement, nodes.size());
      for (int i = 0; i < 20; ++i) {
        const std::string key = random_bytes(rng, 40);
        const auto owner = placement->owner(key);
        ASSERT_TRUE(!owner || *owner < nodes.size());
        ASSERT_EQ(owner, placement->owner(key));
      }
    }
  }
}

// Schemes for which a node that joins takes keys, and nobody else gets any.
std::vector<SchemeSpec> consistent_schemes() {
  return {{.name = "libmemcached-ketama"},
          {.name = "libmemcached-spy", .options = {{"hash", "crc"}}},
          {.name = "spymemcached"},
          {.name = "spymemcached", .options = {{"hash", "FNV1A_32_HASH"}}},
          {.name = "uhashring"},
          {.name = "uhashring", .options = {{"hash", "ketama"}}},
          {.name = "jedis"},
          {.name = "jedis", .options = {{"named", "true"}, {"hash", "md5"}}},
          {.name = "nginx", .options = {{"method", "consistent"}}},
          {.name = "haproxy", .options = {{"method", "consistent"}}},
          {.name = "murmur64a-vnode", .options = {{"points", "20"}}},
          {.name = "java-vnode"},
          {.name = "vnode"},
          {.name = "jump", .options = {{"hash", "xxh64"}}},
          {.name = "guava", .options = {{"hash", "xxh3"}}},
          {.name = "go-redis"},
          {.name = "pymemcache"}};
}

TEST(Placement, AJoinMovesKeysOnlyToTheJoiner) {
  const std::vector<SchemeSpec> specs = consistent_schemes();
  for (std::uint64_t seed = 0; seed < 1'020; ++seed) {
    const SchemeSpec& spec = specs[seed % specs.size()];
    SCOPED_TRACE(spec.name + ", seed " + std::to_string(seed));
    Rng rng(seed);
    auto nodes = random_nodes(rng, 6, 1);
    const Placed before = placed(spec, nodes);
    const std::size_t joiner = nodes.size();
    nodes.push_back({.name = random_name(rng, joiner)});
    const Placed after = placed(spec, nodes);
    std::size_t moved = 0;
    for (int i = 0; i < 300; ++i) {
      const std::string key = "key:" + std::to_string(rng.next());
      if (after->owner(key) == before->owner(key)) continue;
      ASSERT_EQ(after->owner(key), joiner);
      ++moved;
    }
    // The points of java-vnode lie so close together that a joiner may get none.
    if (spec.name != "java-vnode") {
      EXPECT_GT(moved, 0U);
    }
  }
}

// What "fixed" promises: whatever the nodes, a key has one token.
TEST(Placement, FixedTokensDoNotDependOnTheNodes) {
  std::size_t fixed = 0;
  for (const SchemeText& scheme : schemes()) {
    Rng rng(7);
    const SchemeSpec spec{.name = std::string(scheme.name)};
    const Placed one = placed(spec, random_nodes(rng, 5, 1));
    const Placed other = placed(spec, random_nodes(rng, 9, 1));
    ASSERT_EQ(one->fixed_tokens(), other->fixed_tokens());
    if (!one->fixed_tokens()) continue;
    ++fixed;
    for (int i = 0; i < 100; ++i) {
      const std::string key = random_bytes(rng, 20);
      ASSERT_EQ(one->token_of(key), other->token_of(key)) << scheme.name;
    }
  }
  EXPECT_EQ(fixed, 17U);
}

TEST(Placement, OfVnodeIsThatOfTheRing) {
  const Placed placement = placed({.name = "vnode"}, {{"a", 1}, {"b", 2}, {"c", 5}});
  const auto base = testing::base_arcs(testing::make_nodes({1, 2, 5}));
  ASSERT_TRUE(std::ranges::equal(placement->arcs(), base));
  EXPECT_EQ(placement->token_of("{user}.x"), vnode_token("{user}.x"));
}

// twemproxy sorts its servers by name, short names first, before it does anything else with them.
TEST(Placement, OfTwemproxyDoesNotDependOnTheOrderOfTheNodes) {
  const std::vector<PlacedNode> nodes = {{"s10", 4}, {"s9", 2}, {"b", 3}, {"t1", 1}};
  const std::vector<PlacedNode> sorted = {{"b", 3}, {"s9", 2}, {"t1", 1}, {"s10", 4}};
  for (const std::string name : {"twemproxy-modula", "twemproxy-ketama"}) {
    const SchemeSpec spec{.name = name, .options = {{"hash", "crc32"}}};
    const Placed one = placed(spec, nodes);
    const Placed other = placed(spec, sorted);
    for (int i = 0; i < 500; ++i) {
      const std::string key = "key:" + std::to_string(i);
      ASSERT_EQ(nodes[*one->owner(key)].name, sorted[*other->owner(key)].name) << key;
    }
  }
  // Entry 0 of the table is the first in that order.
  EXPECT_EQ(placed({.name = "twemproxy-modula"}, nodes)->owner(""), 2U);
}

TEST(Placement, RedisClusterHasTheRangesOfItsOwnTool) {
  const Placed placement = placed({.name = "redis-cluster"}, {{"a"}, {"b"}, {"c"}});
  ASSERT_EQ(placement->arcs().size(), 3U);
  EXPECT_EQ(placement->arcs()[0].range.last.value() >> 50U, 5'460U);
  EXPECT_EQ(placement->arcs()[1].range.last.value() >> 50U, 10'922U);
}

TEST(Placement, BadInputIsAClearError) {
  const std::vector<PlacedNode> good = {{"a"}, {"b"}};
  EXPECT_NE(message_of({.name = "kettle"}, good).find("twemproxy-ketama"), std::string::npos);
  EXPECT_EQ(message_of({.name = "nginx", .options = {{"hash", "md5"}}}, good),
            "scheme nginx has no option 'hash'; there are: method");
  EXPECT_EQ(message_of({.name = "nginx", .options = {{"method", "x"}}}, good),
            "scheme nginx: option method: 'x': want one of: plain, consistent");
  EXPECT_EQ(message_of({.name = "vnode"}, {}), "no nodes: at least one is needed");
  EXPECT_EQ(message_of({.name = "vnode"}, {{"a"}, {"a"}}), "two nodes are named 'a'");
  EXPECT_EQ(message_of({.name = "vnode"}, {{""}}), "a node has an empty name");
  EXPECT_EQ(message_of({.name = "vnode"}, {{"a", 0}}), "node 'a': weight 0, want 1 to 1000000");
  EXPECT_EQ(message_of({.name = "jump"}, {{"a", 2}}),
            "scheme jump: node 'a' has weight 2, but the peer has none");
  EXPECT_EQ(message_of({.name = "haproxy"}, {{"a", 257}}),
            "scheme haproxy: node 'a': weight at most 256");
  EXPECT_EQ(message_of({.name = "envoy-maglev", .options = {{"table_size", "1000"}}}, good),
            "scheme envoy-maglev: option table_size: '1000': want a prime number");
  EXPECT_EQ(message_of({.name = "twemproxy-ketama", .options = {{"hash_tag", "{"}}}, good),
            "scheme twemproxy-ketama: option hash_tag: '{': want two bytes, such as {}");
  EXPECT_EQ(message_of({.name = "envoy-ring", .options = {{"min_ring", "-1"}}}, good),
            "scheme envoy-ring: option min_ring: '-1': want a number from 1 to 8388608");
}

TEST(Placement, MorePointsThanTheLimitAreRefused) {
  for (const SchemeText& scheme : schemes()) {
    const auto placement = place({.name = std::string(scheme.name)},
                                 std::vector<PlacedNode>(kPlacedNodesMax + 1, {"a"}));
    ASSERT_FALSE(placement);
    EXPECT_EQ(placement.error().code, Code::kExhausted);
  }
  for (const std::string name : {"nginx", "jedis", "uhashring", "vnode", "java-vnode",
                                 "murmur64a-vnode", "twemproxy-modula"}) {
    std::vector<PlacedNode> heavy;
    for (int i = 0; i < 9; ++i) heavy.push_back({std::to_string(i), kPlacedWeightMax});
    const auto placement = place({.name = name}, heavy);
    ASSERT_FALSE(placement) << name;
    EXPECT_EQ(placement.error().code, Code::kExhausted);
  }
}

// Any text for any option, any bytes for names and keys: an error or a placement, never a crash.
TEST(Placement, SurvivesAnyInput) {
  const std::vector<SchemeText> all = schemes();
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const SchemeText& scheme = all[rng.below(all.size())];
    SchemeSpec spec{.name = std::string(scheme.name)};
    for (const OptionText& option : scheme.options) {
      if (rng.chance(1, 2)) continue;
      // One of the words of its description is often a good value.
      const std::string words(option.values);
      const std::size_t start = rng.below(words.size());
      spec.options[std::string(option.name)] =
          rng.chance(1, 2) ? random_bytes(rng, 4)
                           : words.substr(start, words.find_first_of(" ,;", start) - start);
    }
    std::vector<PlacedNode> nodes(rng.below(4));
    for (PlacedNode& node : nodes) {
      node = {random_bytes(rng, 12), static_cast<std::uint32_t>(rng.below(4))};
    }
    const auto placement = place(spec, nodes);
    if (!placement) {
      EXPECT_FALSE(placement.error().message.empty());
      continue;
    }
    expect_cover(**placement, nodes.size());
    for (int i = 0; i < 20; ++i) {
      const auto owner = (*placement)->owner(random_bytes(rng, 300));
      ASSERT_TRUE(!owner || *owner < nodes.size());
    }
  }
}

}  // namespace
}  // namespace cleave::ring
