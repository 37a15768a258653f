#include "ring/document/base_ring.h"

#include <gtest/gtest.h>

#include "ring/edits/edits_testing.h"
#include "ring/edits/ring_testing.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

using testing::expect_conflict;
using testing::kAll;
using testing::make_document;
using testing::must;

const SchemeSpec kHaproxy{.name = "haproxy", .options = {{"method", "consistent"}}};

BaseRing base_ring(const Document& document) {
  auto base = make_base(document);
  EXPECT_TRUE(base) << base.error().message;
  return base.value_or(BaseRing{});
}

std::vector<SchemeSpec> uncuttable() {
  return {{.name = "modulo"},
          {.name = "twemproxy-modula"},
          {.name = "nginx"},
          {.name = "haproxy"},
          {.name = "jump", .options = {{"hash", "xxh64"}}},
          {.name = "go-redis"}};
}

TEST(BaseRing, HashesTheHashKeyWhereThereIsOne) {
  const SchemeSpec ketama{.name = "twemproxy-ketama"};
  Document renamed = make_document({1, 1, 1}, ketama);
  const std::vector<Arc> arcs = base_ring(renamed).arcs;
  for (Node& node : renamed.nodes) {
    node.hash_key = node.name;
    node.name = "server-" + node.name;
  }
  EXPECT_EQ(base_ring(renamed).arcs, arcs);
  renamed.nodes[0].hash_key.clear();
  EXPECT_NE(base_ring(renamed).arcs, arcs);
}

TEST(BaseRing, TwoNodesCannotHashTheSame) {
  Document document = make_document({1, 1}, {.name = "twemproxy-ketama"});
  document.nodes[1].hash_key = "a";
  const auto base = make_base(document);
  ASSERT_FALSE(base);
  EXPECT_EQ(base.error().message, "two nodes are named 'a'");
}

// HAProxy hashes the position of a server. Were that the index in what is left, every node behind
// the one that leaves would change its place.
TEST(BaseRing, NobodyChangesPlaceWhenAnotherLeaves) {
  for (const SchemeSpec& scheme : {kHaproxy, SchemeSpec{.name = "jedis"}}) {
    SCOPED_TRACE(scheme.name);
    const Document before = make_document({1, 1, 1, 1}, scheme);
    const Document after = must(drain_node(before, NodeId{2}, UnixMillis{5'000}));
    for (const Change& change : differences(base_of(before), base_of(after))) {
      ASSERT_EQ(change.from, NodeId{2});
    }
  }
}

TEST(BaseRing, OtherSchemesThanVnodeAreLeftAsTheyAreAtCreation) {
  const std::vector<std::uint32_t> weights(8, 1);
  EXPECT_TRUE(make_document(weights, kHaproxy).cuts.empty());
  EXPECT_FALSE(make_document(weights).cuts.empty());
}

TEST(BaseRing, WhereTokensDependOnTheNodesNothingIsCutOrMoved) {
  for (const SchemeSpec& scheme : uncuttable()) {
    SCOPED_TRACE(scheme.name);
    const Document document = make_document({1, 1}, scheme);
    const UnixMillis now{5'000};
    const std::vector<Arc> arcs = base_of(document);
    const NodeId other{3 - arcs[0].node.value()};
    const std::string why = "scheme " + scheme.name + " places a key by the number of nodes";
    expect_conflict(begin_move(document, {.ranges = {arcs[0].range},
                                          .source = arcs[0].node,
                                          .destination = other,
                                          .reason = "",
                                          .now = now}),
                    why);
    const Cut cut{.range = arcs[0].range,
                  .node = arcs[0].node,
                  .reason = "",
                  .created = now,
                  .pinned_until = {}};
    expect_conflict(lay_cut(document, cut), why);
    expect_conflict(add_node(document, testing::make_node("c"), now), why);
    expect_conflict(drain_node(document, NodeId{1}, now), why);
    expect_conflict(set_weight(document, NodeId{1}, 2, now), why);
    Document broken = document;
    broken.cuts = {cut};
    EXPECT_FALSE(validate(broken));
    EXPECT_FALSE(RingView::build(broken));
    EXPECT_FALSE(testing::view_of(document)->cuttable());
  }
}

// What the peer cannot do is an error of the edit, not of the next who reads the document.
TEST(BaseRing, AnEditCannotLeaveThePeersLimits) {
  const Document document = make_document({1, 1}, kHaproxy);
  const auto heavy = set_weight(document, NodeId{1}, 257, UnixMillis{5'000});
  ASSERT_FALSE(heavy);
  EXPECT_EQ(heavy.error().code, Code::kInvalid);
}

}  // namespace
}  // namespace cleave::ring
