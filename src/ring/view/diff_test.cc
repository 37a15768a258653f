#include "ring/view/diff.h"

#include <gtest/gtest.h>

#include "ring/edits/ring_testing.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

using testing::any_token;
using testing::make_document;
using testing::make_nodes;
using testing::RandomEdits;
using testing::view_of;

const Change* change_at(const std::vector<Change>& changes, Token token) {
  for (const Change& change : changes) {
    if (change.range.contains(token)) return &change;
  }
  return nullptr;
}

void expect_change_is_true(const RingView& before, const RingView& after,
                           const std::vector<Change>& changes, Token token) {
  const Change* change = change_at(changes, token);
  const NodeId from = before.owner(token);
  const NodeId to = after.owner(token);
  ASSERT_EQ(change != nullptr, from != to) << to_hex(token);
  if (change == nullptr) return;
  ASSERT_EQ(change->from, from);
  ASSERT_EQ(change->to, to);
}

void expect_sorted_and_joined(const std::vector<Change>& changes) {
  for (std::size_t i = 1; i < changes.size(); ++i) {
    const Change& left = changes[i - 1];
    const Change& right = changes[i];
    ASSERT_LT(left.range.last, right.range.first);
    const bool touch = left.range.last.value() + 1 == right.range.first.value();
    ASSERT_FALSE(touch && left.from == right.from && left.to == right.to);
  }
}

TEST(Diff, TellsEveryTokenThatChangedHands) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    const auto before = view_of(edited_document(edits, 8));
    const auto after = view_of(edited_document(edits, 8));
    const std::vector<Change> changes = diff(*before, *after);
    expect_sorted_and_joined(changes);
    for (int i = 0; i < 20; ++i) {
      expect_change_is_true(*before, *after, changes, any_token(edits.rng(), *before));
      expect_change_is_true(*before, *after, changes, any_token(edits.rng(), *after));
    }
    ASSERT_TRUE(diff(*before, *before).empty());
  }
}

TEST(Diff, CountsTheShareThatMoves) {
  const TokenRange quarter{kFirstToken, Token{kLastToken.value() / 4}};
  EXPECT_EQ(moved_ppm({}), 0U);
  EXPECT_EQ(moved_ppm({{quarter, NodeId{1}, NodeId{2}}}), 250'000U);
}

// The base of a larger set differs only by what the new node takes: nobody else's tokens move.
TEST(Diff, AJoinMovesNoMoreThanTheNewNodesShare) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<std::uint32_t> weights(2 + rng.below(4));
    for (std::uint32_t& weight : weights) weight = 1 + static_cast<std::uint32_t>(rng.below(3));
    std::vector<Node> nodes = make_nodes(weights);
    for (Node& node : nodes) node.name += std::to_string(seed);
    const std::vector<Arc> after = testing::base_arcs(nodes);
    const NodeId joined = nodes.back().id;
    nodes.pop_back();
    const std::vector<Change> changes = differences(testing::base_arcs(nodes), after);
    std::vector<TokenRange> moved;
    for (const Change& change : changes) {
      ASSERT_EQ(change.to, joined);
      moved.push_back(change.range);
    }
    std::vector<TokenRange> owned;
    for (const Arc& arc : after) {
      if (arc.node == joined) owned.push_back(arc.range);
    }
    ASSERT_EQ(normalised(moved), normalised(owned));
  }
}

}  // namespace
}  // namespace cleave::ring
