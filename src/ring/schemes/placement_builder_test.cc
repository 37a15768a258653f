#include "ring/schemes/placement_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"

namespace cleave::ring {
namespace {

std::vector<SchemeSpec> specs() {
  return {{.name = "vnode", .options = {{"points", "7"}}},
          {.name = "murmur64a-vnode", .options = {{"points", "9"}}},
          {.name = "java-vnode", .options = {{"points", "40"}}},  // crowded, with equal points
          {.name = "jedis", .options = {{"named", "true"}}},
          {.name = "jedis", .options = {{"named", "true"}, {"hash", "md5"}}},
          {.name = "jedis"},
          {.name = "nginx", .options = {{"method", "consistent"}}},
          {.name = "uhashring"},
          {.name = "haproxy", .options = {{"method", "consistent"}}},
          {.name = "twemproxy-ketama"},
          {.name = "envoy-maglev", .options = {{"table_size", "251"}}}};
}

void expect_as_placed(const SchemeSpec& spec, const PlacementBuilder& builder) {
  const auto anew = place(spec, builder.nodes());
  ASSERT_TRUE(anew);
  ASSERT_TRUE(std::ranges::equal(builder.placement()->arcs(), (*anew)->arcs()));
  for (const std::string_view key : {"", "a", "user:17"}) {
    ASSERT_EQ(builder.placement()->owner(key), (*anew)->owner(key));
  }
}

// A random edit that the scheme must take.
void edit(PlacementBuilder& builder, Rng& rng, std::size_t step) {
  const auto any = [&] { return builder.nodes()[rng.below(builder.nodes().size())].name; };
  switch (rng.below(3)) {
    case 0: {
      if (builder.nodes().size() == 1) return;
      ASSERT_TRUE(builder.remove(any()));
      return;
    }
    case 1: {
      ASSERT_TRUE(builder.set_weight(any(), 1 + static_cast<std::uint32_t>(rng.below(4))));
      return;
    }
    default: {
      // Names of one hash code in Java: all their points there are equal.
      for (const std::string twin : {"Aa", "BB"}) {
        const auto weight = 1 + static_cast<std::uint32_t>(rng.below(2));
        ASSERT_TRUE(builder.add({twin + std::to_string(step), weight}));
      }
    }
  }
}

TEST(PlacementBuilder, PlacesAsPlaceDoes) {
  const std::vector<SchemeSpec> all = specs();
  for (std::uint64_t seed = 0; seed < 1'100; ++seed) {
    const SchemeSpec& spec = all[seed % all.size()];
    SCOPED_TRACE(spec.name + ", seed " + std::to_string(seed));
    Rng rng(seed);
    auto builder = PlacementBuilder::start(spec, {{"Aa"}, {"BB", 2}});
    ASSERT_TRUE(builder);
    for (std::size_t step = 0; step < 8; ++step) {
      edit(*builder, rng, step);
      expect_as_placed(spec, *builder);
    }
  }
}

// Equal points of two nodes: whoever the scheme prefers has them, and the other gets them when
// that one leaves.
TEST(PlacementBuilder, KeepsPointsThatLostATie) {
  const SchemeSpec spec{.name = "java-vnode"};
  auto builder = PlacementBuilder::start(spec, {{"Aa"}, {"x"}});
  ASSERT_TRUE(builder);
  ASSERT_TRUE(builder->add({"BB"}));  // "Aa" and "BB" have one hash code
  const auto owners = [&] {
    std::vector<bool> owns(builder->nodes().size());
    for (const Arc& arc : builder->placement()->arcs()) owns[arc.node.value() - 1] = true;
    return owns;
  };
  EXPECT_EQ(owners(), (std::vector<bool>{false, true, true}));
  ASSERT_TRUE(builder->remove("BB"));
  EXPECT_EQ(owners(), (std::vector<bool>{true, true}));
  expect_as_placed(spec, *builder);
}

TEST(PlacementBuilder, AnErrorChangesNothing) {
  const SchemeSpec spec{.name = "vnode"};
  auto builder = PlacementBuilder::start(spec, {{"a"}, {"b"}});
  ASSERT_TRUE(builder);
  const auto before = builder->placement();
  EXPECT_EQ(builder->add({"a"}).error().code, Code::kInvalid);
  EXPECT_EQ(builder->add({"c", 0}).error().code, Code::kInvalid);
  EXPECT_EQ(builder->add({"c", 100'000}).error().code, Code::kExhausted);
  EXPECT_EQ(builder->remove("c").error().code, Code::kNotFound);
  EXPECT_EQ(builder->set_weight("c", 2).error().code, Code::kNotFound);
  EXPECT_EQ(builder->set_weight("a", 0).error().code, Code::kInvalid);
  EXPECT_EQ(builder->placement(), before);
  ASSERT_TRUE(builder->remove("a"));
  EXPECT_EQ(builder->remove("b").error().code, Code::kInvalid);
  expect_as_placed(spec, *builder);
  EXPECT_FALSE(PlacementBuilder::start({.name = "kettle"}, {{"a"}}));
}

// A placement outlives the edits that follow it.
TEST(PlacementBuilder, LeavesEarlierPlacementsAlone) {
  auto builder = PlacementBuilder::start({.name = "vnode"}, {{"a"}, {"b"}});
  ASSERT_TRUE(builder);
  const auto earlier = builder->placement();
  const std::vector<Arc> arcs(earlier->arcs().begin(), earlier->arcs().end());
  ASSERT_TRUE(builder->add({"c"}));
  EXPECT_TRUE(std::ranges::equal(earlier->arcs(), arcs));
}

}  // namespace
}  // namespace cleave::ring
