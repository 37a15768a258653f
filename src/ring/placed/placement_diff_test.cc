#include "ring/placed/placement_diff.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ring/width.h"

namespace cleave::ring {
namespace {

using Placed = std::shared_ptr<const Placement>;
using Nodes = std::vector<PlacedNode>;

Placed placed(const SchemeSpec& spec, const Nodes& nodes) {
  auto placement = place(spec, nodes);
  EXPECT_TRUE(placement) << spec.name << ": " << placement.error().message;
  return placement.value_or(nullptr);
}

PlacementDiff diff_of(const SchemeSpec& spec, const Nodes& before, const Nodes& after) {
  const Placed from = placed(spec, before);
  const Placed to = placed(spec, after);
  auto result = diff({*from, before}, {*to, after});
  EXPECT_TRUE(result);
  return result.value_or(PlacementDiff{});
}

std::uint64_t share_ppm_of(const Placement& placement, std::size_t node) {
  Wide sum = 0;
  for (const Arc& arc : placement.arcs()) {
    if (arc.node.value() == node + 1) sum += width(arc.range);
  }
  return ppm_of_all(sum);
}

Nodes some_nodes(std::uint64_t seed, std::size_t count) {
  Nodes nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back({"n" + std::to_string(seed) + "-" + std::to_string(i), 1});
  }
  return nodes;
}

// Circles to which a node adds its own points and changes nobody else's.
std::vector<SchemeSpec> circles() {
  return {{.name = "vnode"},
          {.name = "jedis", .options = {{"named", "true"}}},
          {.name = "nginx", .options = {{"method", "consistent"}}},
          {.name = "haproxy", .options = {{"method", "consistent"}}},
          {.name = "uhashring"},
          {.name = "murmur64a-vnode", .options = {{"points", "40"}}}};
}

// The least that a join can move is what the joiner is to own; a leave, what the leaver owned; a
// heavier weight, what the node gains.
TEST(PlacementDiff, CirclesMoveTheLeastPossible) {
  const std::vector<SchemeSpec> specs = circles();
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const SchemeSpec& spec = specs[seed % specs.size()];
    SCOPED_TRACE(spec.name + ", seed " + std::to_string(seed));
    Rng rng(seed);
    const Nodes few = some_nodes(seed, 1 + rng.below(5));
    Nodes more = few;
    more.push_back({"joiner"});
    const std::size_t joiner = few.size();
    const std::uint64_t share = share_ppm_of(*placed(spec, more), joiner);

    const PlacementDiff join = diff_of(spec, few, more);
    EXPECT_EQ(moved_ppm(join.changes), share);
    for (const Change& change : join.changes)
      ASSERT_EQ(join.names[change.to.value() - 1], "joiner");

    const PlacementDiff leave = diff_of(spec, more, few);
    EXPECT_EQ(moved_ppm(leave.changes), share);
    for (const Change& change : leave.changes) {
      ASSERT_EQ(leave.names[change.from.value() - 1], "joiner");
    }

    Nodes heavier = more;
    heavier.back().weight = 2;
    const std::uint64_t heavy_share = share_ppm_of(*placed(spec, heavier), joiner);
    // Each share is rounded down by itself.
    EXPECT_NEAR(static_cast<double>(moved_ppm(diff_of(spec, more, heavier).changes)),
                static_cast<double>(heavy_share - share), 1.0);
  }
}

TEST(PlacementDiff, TellsWhatASearchTells) {
  const std::vector<SchemeSpec> specs = circles();
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const SchemeSpec& spec = specs[seed % specs.size()];
    SCOPED_TRACE(spec.name + ", seed " + std::to_string(seed));
    Rng rng(seed);
    const Nodes before = some_nodes(seed, 1 + rng.below(4));
    Nodes after = some_nodes(seed + rng.below(2), 1 + rng.below(4));
    std::ranges::reverse(after);  // the order of the list does not matter
    const Placed from = placed(spec, before);
    const Placed to = placed(spec, after);
    const PlacementDiff result = diff_of(spec, before, after);
    for (int i = 0; i < 50; ++i) {
      const Token token{rng.next()};
      const std::string& old_owner = before[from->owner(token)].name;
      const std::string& new_owner = after[to->owner(token)].name;
      const auto change = std::ranges::find_if(
          result.changes, [&](const Change& each) { return each.range.contains(token); });
      ASSERT_EQ(change != result.changes.end(), old_owner != new_owner);
      if (change == result.changes.end()) continue;
      EXPECT_EQ(result.names[change->from.value() - 1], old_owner);
      EXPECT_EQ(result.names[change->to.value() - 1], new_owner);
    }
  }
}

TEST(PlacementDiff, NeedsTokensThatStay) {
  const Nodes nodes = some_nodes(1, 3);
  for (const std::string name : {"modulo", "jump", "go-redis", "pymemcache", "twemproxy-modula"}) {
    const Placed placement = placed({.name = name}, nodes);
    const auto result = diff({*placement, nodes}, {*placement, nodes});
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.error().code, Code::kInvalid);
  }
}

}  // namespace
}  // namespace cleave::ring
