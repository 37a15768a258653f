// The C++ and C interface of builders, as far as they add something to
// ring/placed/placed_ring_builder_test.cc.
#include <cleave/cleave_ring.h>
#include <gtest/gtest.h>

#include <cleave/ring_builder.hpp>

namespace cleave {
namespace {

TEST(RingBuilder, GivesWhatChangesOfTheRingGive) {
  const Ring ring = Ring("vnode", {{"a", 2, "r1"}, {"b"}}).with_cut({1, 9, "b"});
  RingBuilder builder(ring);
  EXPECT_EQ(builder.ring(), ring);
  builder.add({"c", 3, "r2", "d"});
  EXPECT_EQ(builder.ring(), ring.with_node({"c", 3, "r2", "d"}));
  const Ring kept = builder.ring();
  builder.set_weight("a", 1);
  EXPECT_EQ(builder.ring(), kept.with_weight("a", 1));
  builder.remove("b");
  EXPECT_EQ(builder.ring(), kept.with_weight("a", 1).without_node("b"));
  EXPECT_TRUE(builder.ring().cuts().empty());
  EXPECT_EQ(kept.nodes().size(), 3U);
}

TEST(RingBuilder, AnErrorChangesNothing) {
  RingBuilder builder(Ring("vnode", {{"a"}}));
  const Ring before = builder.ring();
  EXPECT_THROW(builder.add({"a"}), RingError);
  EXPECT_THROW(builder.add({"b", 0}), RingError);
  EXPECT_THROW(builder.add({"b", 1, "\n"}), RingError);
  EXPECT_THROW(builder.remove("b"), RingError);
  EXPECT_THROW(builder.remove("a"), RingError);
  EXPECT_THROW(builder.set_weight("b", 1), RingError);
  EXPECT_EQ(builder.ring(), before);
  builder.add({"b"});
  EXPECT_EQ(builder.ring(), before.with_node({"b"}));
}

TEST(CRingBuilder, TellsWhatTheCxxInterfaceTells) {
  const cleave_ring_node a = {"a", 1, nullptr, nullptr};
  const cleave_ring_node b = {"b", 2, nullptr, nullptr};
  cleave_ring* ring = nullptr;
  cleave_ring_builder* builder = nullptr;
  ASSERT_EQ(cleave_ring_create("vnode", nullptr, 0, &a, 1, &ring, nullptr), CLEAVE_RING_OK);
  ASSERT_EQ(cleave_ring_builder_create(ring, &builder, nullptr), CLEAVE_RING_OK);
  cleave_ring_free(ring);
  EXPECT_EQ(cleave_ring_builder_add(builder, &b, nullptr), CLEAVE_RING_OK);
  EXPECT_EQ(cleave_ring_builder_add(builder, &b, nullptr), CLEAVE_RING_INVALID);
  EXPECT_EQ(cleave_ring_builder_set_weight(builder, "b", 3, nullptr), CLEAVE_RING_OK);
  EXPECT_EQ(cleave_ring_builder_remove(builder, "a", nullptr), CLEAVE_RING_OK);
  EXPECT_EQ(cleave_ring_builder_remove(builder, "a", nullptr), CLEAVE_RING_NOT_FOUND);
  ASSERT_EQ(cleave_ring_builder_ring(builder, &ring, nullptr), CLEAVE_RING_OK);
  cleave_ring_builder_free(builder);
  cleave_ring_node node = {};
  EXPECT_EQ(cleave_ring_node_count(ring), 1U);
  ASSERT_EQ(cleave_ring_node_at(ring, 0, &node), CLEAVE_RING_OK);
  EXPECT_STREQ(node.name, "b");
  EXPECT_EQ(node.weight, 3U);
  cleave_ring_free(ring);
}

TEST(CRingBuilder, NullIsInvalid) {
  const cleave_ring_node a = {"a", 1, nullptr, nullptr};
  const cleave_ring_node nameless = {nullptr, 1, nullptr, nullptr};
  cleave_ring* ring = nullptr;
  cleave_ring_builder* builder = nullptr;
  ASSERT_EQ(cleave_ring_create("vnode", nullptr, 0, &a, 1, &ring, nullptr), CLEAVE_RING_OK);
  ASSERT_EQ(cleave_ring_builder_create(ring, &builder, nullptr), CLEAVE_RING_OK);
  cleave_ring_builder* none = nullptr;
  cleave_ring* no_ring = nullptr;
  for (const cleave_ring_status status :
       {cleave_ring_builder_create(nullptr, &none, nullptr),
        cleave_ring_builder_create(ring, nullptr, nullptr),
        cleave_ring_builder_ring(nullptr, &no_ring, nullptr),
        cleave_ring_builder_ring(builder, nullptr, nullptr),
        cleave_ring_builder_add(nullptr, &a, nullptr),
        cleave_ring_builder_add(builder, nullptr, nullptr),
        cleave_ring_builder_add(builder, &nameless, nullptr),
        cleave_ring_builder_remove(nullptr, "a", nullptr),
        cleave_ring_builder_remove(builder, nullptr, nullptr),
        cleave_ring_builder_set_weight(nullptr, "a", 1, nullptr),
        cleave_ring_builder_set_weight(builder, nullptr, 1, nullptr)}) {
    EXPECT_EQ(status, CLEAVE_RING_INVALID);
  }
  cleave_ring_builder_free(builder);
  cleave_ring_builder_free(nullptr);
  cleave_ring_free(ring);
}

}  // namespace
}  // namespace cleave
