// Nodes that join, drain, leave and change their weight, by example. Laws for all edits:
// edits_property_test.cc.
#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "ring/edits/edits_testing.h"
#include "ring/edits/undrain.h"

namespace cleave::ring {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file's whole vocabulary

TEST_F(Edits, AJoiningNodeGetsTheNextIdAndNothingElse) {
  const Document next = must(add_node(document_, make_node("c", 2), UnixMillis{7'000}));
  EXPECT_EQ(next.nodes.back().id, NodeId{3});
  EXPECT_EQ(next.next_node, NodeId{4});
  EXPECT_TRUE(view_of(next)->owned_by(NodeId{3}).empty());
  EXPECT_EQ(next.cuts.front().reason.find("kept when node 'c' joined"), 0U);
  expect_invalid(add_node(document_, make_node("a"), {}), "two nodes named 'a'");
  expect_invalid(add_node(document_, make_node("c", 0), {}), "weight 0");
}

TEST_F(Edits, AJoiningNodeHasNoAddressOfAnother) {
  Node first = make_node("c");
  first.members = {{.address = "localhost:7009", .rack = ""}};
  const Document next = must(add_node(document_, first, {}));
  Node other = make_node("d");
  for (const char* address : {"localhost:7009", "127.0.0.1:7009", "LOCALHOST:7009"}) {
    other.members = {{.address = "10.0.0.1:7009", .rack = ""}, {.address = address, .rack = ""}};
    expect_conflict(add_node(next, other, {}), "is of node 'c' already");
  }
  other.members = {{.address = "Cache:7009", .rack = ""}, {.address = "cache:7009", .rack = ""}};
  expect_conflict(add_node(next, other, {}), "is given twice");
}

TEST_F(Edits, IdsNeverReturn) {
  Document next = must(add_node(document_, make_node("c"), {}));
  next = must(remove_node(next, NodeId{3}, {}));  // it owns nothing yet
  EXPECT_EQ(must(add_node(next, make_node("c"), {})).nodes.back().id, NodeId{4});
}

TEST_F(Edits, ADrainingNodeKeepsWhatItOwns) {
  const Document next = must(drain_node(document_, NodeId{1}, {}));
  EXPECT_EQ(view_of(next)->owned_by(NodeId{1}), view_of(document_)->owned_by(NodeId{1}));
  expect_conflict(drain_node(next, NodeId{1}, {}), "draining already");
  expect_conflict(drain_node(next, NodeId{2}, {}), "the last active node");
  expect_conflict(drain_node(next, NodeId{9}, {}), "node 9 is unknown");
}

TEST_F(Edits, ANodeIsRemovedOnceItOwnsNothing) {
  expect_conflict(remove_node(document_, NodeId{9}, {}), "node 9 is unknown");
  expect_conflict(remove_node(document_, NodeId{1}, {}), "still owns tokens");
  expect_conflict(remove_node(copying(), NodeId{2}, {}), "takes part in a move");
  expect_conflict(remove_node(make_document({1}), NodeId{1}, {}), "the last active node");
  Document next = must(drain_node(document_, NodeId{1}, {}));
  MoveRequest all = request();
  all.ranges = view_of(next)->owned_by(NodeId{1});
  next = committed(fenced(entered(must(begin_move(next, all)))));
  expect_conflict(remove_node(next, NodeId{1}, {}), "left behind");
  next = must(remove_node(cleaned(next), NodeId{1}, {}));
  EXPECT_EQ(find_node(next, NodeId{1}), nullptr);
  EXPECT_EQ(view_of(next)->owned_by(NodeId{2}), RangeSet{kAll});
}

TEST_F(Edits, AWeightChangesTheBaseOnly) {
  const Document next = must(set_weight(document_, NodeId{1}, 3, {}));
  EXPECT_EQ(find_node(next, NodeId{1})->weight, 3U);
  EXPECT_EQ(view_of(next)->owned_by(NodeId{1}), view_of(document_)->owned_by(NodeId{1}));
  expect_conflict(set_weight(next, NodeId{1}, 3, {}), "has weight 3 already");
  expect_conflict(set_weight(next, NodeId{9}, 3, {}), "node 9 is unknown");
  expect_invalid(set_weight(next, NodeId{1}, 0, {}), "weight 0");
  const Document draining = must(drain_node(next, NodeId{1}, {}));
  expect_conflict(set_weight(draining, NodeId{1}, 1, {}), "is draining");
}

TEST_F(Edits, ADrainTakenBackMovesNothingByItself) {
  const Document draining = must(drain_node(document_, NodeId{1}, {}));
  const Document back = must(undrain_node(draining, NodeId{1}, {}));
  EXPECT_EQ(find_node(back, NodeId{1})->state, NodeState::kActive);
  EXPECT_EQ(view_of(back)->owned_by(NodeId{1}), view_of(document_)->owned_by(NodeId{1}));
  expect_conflict(undrain_node(back, NodeId{1}, {}), "does not drain");
  expect_conflict(undrain_node(back, NodeId{9}, {}), "node 9 is unknown");
  Document held = draining;
  held.nodes[0].drain_held = true;
  EXPECT_FALSE(must(undrain_node(held, NodeId{1}, {})).nodes[0].drain_held);
}

// What a person stops does not begin again by itself, whoever leads.
TEST_F(Edits, AnAbortedMoveOfADrainWaitsForTheNextOrder) {
  const Document draining = must(drain_node(document_, NodeId{1}, {}));
  const Document moving = must(begin_move(draining, request()));
  const Document aborted = must(abort_by_order(moving, {{moving.moves[0].id}}));
  EXPECT_TRUE(aborted.moves.empty());
  EXPECT_TRUE(aborted.nodes[0].drain_held);
  EXPECT_TRUE(must(lead(aborted, SessionId{"r2"})).nodes[0].drain_held);
  expect_conflict(abort_by_order(aborted, {{moving.moves[0].id}}), "just ended");
  const Document again = must(drain_node(aborted, NodeId{1}, {}));
  EXPECT_FALSE(again.nodes[0].drain_held);
  EXPECT_EQ(again.cuts, aborted.cuts);
  expect_conflict(drain_node(again, NodeId{1}, {}), "draining already");
}

TEST_F(Edits, AnAbortedMoveOfAnActiveNodeHoldsNothing) {
  const Document moving = must(begin_move(document_, request()));
  EXPECT_FALSE(must(abort_by_order(moving, {{moving.moves[0].id}})).nodes[0].drain_held);
}

}  // namespace
}  // namespace cleave::ring
