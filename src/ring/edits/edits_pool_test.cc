// Creation, sessions, leader and switches, by example. Laws for all edits:
// edits_property_test.cc.
#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "ring/edits/edits_testing.h"

namespace cleave::ring {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file's whole vocabulary

TEST(Create, GivesIdsInOrderAndEpochOne) {
  const Document document = make_document({1, 3});
  EXPECT_EQ(document.epoch, Epoch{1});
  EXPECT_EQ(document.nodes[0].id, NodeId{1});
  EXPECT_EQ(document.nodes[1].id, NodeId{2});
  EXPECT_EQ(document.next_node, NodeId{3});
  EXPECT_EQ(document.mark, "m1");
  EXPECT_TRUE(validate(document));
}

// As of a peer that goes by position: what is given stays, and whoever joins comes behind all.
TEST(Create, KeepsIdsThatAreGiven) {
  std::vector<Node> nodes = {make_node("a"), make_node("b"), make_node("c")};
  nodes[0].id = NodeId{7};
  nodes[2].id = NodeId{4'000'000};
  const Document document = must(create({.pool = "p", .mark = "m", .nodes = nodes, .now = {}}));
  EXPECT_EQ(document.nodes[0].id, NodeId{7});
  EXPECT_EQ(document.nodes[1].id, NodeId{8});
  EXPECT_EQ(document.nodes[2].id, NodeId{4'000'000});
  EXPECT_EQ(document.next_node, NodeId{4'000'001});
  EXPECT_EQ(must(add_node(document, make_node("d"), {})).nodes[3].id, NodeId{4'000'001});
  nodes[1].id = NodeId{7};
  expect_invalid(create({.pool = "p", .mark = "m", .nodes = nodes, .now = {}}),
                 "'b' is not sorted by id");
  nodes[1].id = NodeId{};
  nodes[2].id = NodeId{0xFFFF'FFFFU};
  expect_invalid(create({.pool = "p", .mark = "m", .nodes = nodes, .now = {}}), "has id");
}

TEST(Create, RefusesAnImpossiblePool) {
  expect_invalid(create({}), "pool ''");
  expect_invalid(create({.pool = "p", .mark = "m", .nodes = {}, .now = {}}), "no active node");
  expect_invalid(create({.pool = "p", .mark = "m", .nodes = {make_node("a", 0)}, .now = {}}),
                 "weight 0");
}

TEST_F(Edits, ASessionJoinsOnce) {
  EXPECT_EQ(sessions_of(document_), (std::vector{SessionId{"r1"}, SessionId{"r2"}}));
  expect_conflict(join(document_, {.session = SessionId{"r1"}}), "'r1' is there already");
  expect_invalid(join(document_, {.session = SessionId{""}}), "session ''");
}

TEST_F(Edits, RemovingARouterAbortsUnfinishedMoves) {
  const Document next = must(remove_router(fenced(copying()), SessionId{"r1"}));
  EXPECT_TRUE(next.moves.empty());
  EXPECT_FALSE(has_router(next, SessionId{"r1"}));
  EXPECT_EQ(next.leftovers, copying().leftovers);  // rule 22: to be cleaned
  expect_conflict(remove_router(document_, SessionId{"r9"}), "no session 'r9'");
}

TEST_F(Edits, ARemovedLeaderLeadsNoMoreButItsTermStays) {
  const Document led = must(lead(document_, SessionId{"r1"}));
  const Document next = must(remove_router(led, SessionId{"r1"}));
  EXPECT_EQ(next.leader, (Leader{SessionId{""}, Term{1}}));
  EXPECT_EQ(must(remove_router(led, SessionId{"r2"})).leader, led.leader);
}

TEST_F(Edits, ANewLeaderHasTheNextTermAndAbortsUnfinishedMoves) {
  const Document first = must(lead(document_, SessionId{"r1"}));
  EXPECT_EQ(first.leader, (Leader{SessionId{"r1"}, Term{1}}));
  const Document second = must(lead(copying(), SessionId{"r2"}));
  EXPECT_TRUE(second.moves.empty());
  EXPECT_EQ(second.leftovers, copying().leftovers);
  expect_conflict(lead(document_, SessionId{"r9"}), "no session 'r9'");
}

TEST_F(Edits, StraysAreKnownOnceAPersonSaysSo) {
  const Document next = must(accept_strays(
      document_, {{.node = NodeId{1}, .strays = 12}, {.node = NodeId{99}, .strays = 3}}));
  EXPECT_EQ(next.epoch, Epoch{document_.epoch.value() + 1});
  EXPECT_EQ(next.nodes[0].strays, 12U);
  EXPECT_EQ(next.nodes[1].strays, 0U);
  EXPECT_EQ(must(accept_strays(next, {{.node = NodeId{1}, .strays = 0}})).nodes[0].strays, 0U);
}

// Until the pool is resumed, and whoever leads meanwhile.
TEST_F(Edits, AFlattenStaysUntilThePoolIsResumed) {
  const Document flat = must(flatten(document_, UnixMillis{9'000}));
  EXPECT_EQ(flat.epoch.value(), document_.epoch.value() + 1);
  EXPECT_EQ(flat.mode, Mode::kObserve);
  EXPECT_TRUE(flat.flatten);
  EXPECT_TRUE(must(lead(flat, SessionId{"r2"})).flatten);
  EXPECT_TRUE(must(set_mode(flat, Mode::kApprove)).flatten);
  EXPECT_TRUE(must(set_frozen(flat, true)).flatten);
  Document waiting = must(set_old_readers(must(set_frozen(flat, true)), true));
  const Document resumed = must(resume(waiting));
  EXPECT_FALSE(resumed.flatten);
  EXPECT_FALSE(resumed.frozen);
  EXPECT_FALSE(resumed.old_readers);
  EXPECT_EQ(resumed.mode, Mode::kObserve) << "only a person begins balancing again";
}

TEST_F(Edits, SwitchesAreSet) {
  EXPECT_TRUE(must(set_frozen(document_, true)).frozen);
  EXPECT_FALSE(must(set_frozen(document_, false)).frozen);
  EXPECT_EQ(must(set_mode(document_, Mode::kObserve)).mode, Mode::kObserve);
}

}  // namespace
}  // namespace cleave::ring
