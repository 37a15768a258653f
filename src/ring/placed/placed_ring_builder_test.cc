#include "ring/placed/placed_ring_builder.h"

#include <gtest/gtest.h>

#include "ring/placed/placed_ring_testing.h"
#include "ring/placed/placed_ring_text.h"

namespace cleave::ring {
namespace {

using testing::made;
using testing::random_spec;

PlacedRingBuilder started(const PlacedRing& ring) {
  auto builder = PlacedRingBuilder::start(ring);
  EXPECT_TRUE(builder);
  return std::move(builder).value();
}

TEST(PlacedRingBuilder, GivesWhatChangesOfARingGive) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    PlacedRing ring = made(random_spec(rng, 4));
    PlacedRingBuilder builder = started(ring);
    for (int step = 0; step < 6; ++step) {
      const std::string name =
          rng.chance(1, 6) ? "nobody" : ring.nodes()[rng.below(ring.nodes().size())].name;
      const auto weight = static_cast<std::uint32_t>(rng.below(4));
      const RingNode joiner{.name = rng.chance(1, 6) ? name : "j" + std::to_string(step),
                            .weight = weight,
                            .rack = rng.chance(1, 6) ? "\xFF" : "r1"};
      const std::uint64_t kind = rng.below(3);
      const Result<PlacedRing> want = kind == 0   ? ring.with_node(joiner)
                                      : kind == 1 ? ring.without_node(name)
                                                  : ring.with_weight(name, weight);
      const Result<void> done = kind == 0   ? builder.add(joiner)
                                : kind == 1 ? builder.remove(name)
                                            : builder.set_weight(name, weight);
      ASSERT_EQ(done.has_value(), want.has_value());
      if (want) {
        ring = *want;
      } else {
        EXPECT_EQ(done.error(), want.error());
      }
      ASSERT_EQ(to_text(builder.ring()), to_text(ring));
      ASSERT_EQ(builder.ring().arcs(), ring.arcs());
    }
  }
}

TEST(PlacedRingBuilder, LeavesOldRingsAlone) {
  const PlacedRing ring = made({.scheme = {.name = "vnode"}, .nodes = {{.name = "a"}}});
  PlacedRingBuilder builder = started(ring);
  ASSERT_TRUE(builder.add({.name = "b"}));
  const PlacedRing both = builder.ring();
  const std::vector<Arc> arcs = both.arcs();
  ASSERT_TRUE(builder.remove("a"));
  EXPECT_EQ(both.arcs(), arcs);
  EXPECT_EQ(both.nodes().size(), 2U);
  EXPECT_EQ(builder.ring().nodes().size(), 1U);
}

}  // namespace
}  // namespace cleave::ring
