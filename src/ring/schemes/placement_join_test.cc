#include "ring/schemes/placement_join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"

namespace cleave::ring {
namespace {

std::vector<SchemeSpec> joined_specs() {
  return {{.name = "vnode", .options = {{"points", "3"}}},
          {.name = "murmur64a-vnode", .options = {{"points", "2"}}},
          {.name = "java-vnode", .options = {{"points", "30"}}},  // crowded, with equal points
          {.name = "java-vnode", .options = {{"points", "1"}}},
          {.name = "jedis", .options = {{"named", "true"}, {"hash", "md5"}}},
          {.name = "nginx", .options = {{"method", "consistent"}}},
          {.name = "uhashring"},
          {.name = "twemproxy-ketama"}};
}

// Every second node is a twin of the one before it: "Aa" and "BB" have one hash code in Java, and
// nginx leaves "unix:" out. Where it is so, all their points are equal.
std::string some_name(Rng& rng, std::size_t index) {
  const std::string number = std::to_string(index / 2);
  if (index % 2 == 0) return "Aa" + number + "Aa";
  return rng.chance(1, 2) ? "BB" + number + "BB" : "unix:Aa" + number + "Aa";
}

TEST(PlaceJoined, GivesWhatPlaceGives) {
  const std::vector<SchemeSpec> all = joined_specs();
  for (std::uint64_t seed = 0; seed < 1'200; ++seed) {
    const SchemeSpec& spec = all[seed % all.size()];
    SCOPED_TRACE(spec.name + ", seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<PlacedNode> nodes = {{some_name(rng, 0)}};
    auto placement = place(spec, nodes);
    ASSERT_TRUE(placement);
    for (std::size_t i = 1; i < 9; ++i) {
      nodes.push_back({some_name(rng, i), 1 + static_cast<std::uint32_t>(rng.below(3))});
      const auto joined = place_joined(**placement, spec, nodes);
      placement = place(spec, nodes);
      ASSERT_TRUE(joined && placement);
      ASSERT_TRUE(std::ranges::equal((*joined)->arcs(), (*placement)->arcs())) << i;
      ASSERT_EQ((*joined)->owner("user:17"), (*placement)->owner("user:17"));
    }
  }
}

TEST(PlaceJoined, RefusesWhatPlaceRefuses) {
  const SchemeSpec spec{.name = "vnode"};
  const std::vector<PlacedNode> one = {{"a"}};
  const auto placement = place(spec, one);
  ASSERT_TRUE(placement);
  const std::vector<PlacedNode> twice = {{"a"}, {"a"}};
  EXPECT_EQ(place_joined(**placement, spec, twice).error().code, Code::kInvalid);
  const std::vector<PlacedNode> heavy = {{"a"}, {"b", 1'000'000}};
  EXPECT_EQ(place_joined(**placement, spec, heavy).error().code, Code::kExhausted);
}

}  // namespace
}  // namespace cleave::ring
