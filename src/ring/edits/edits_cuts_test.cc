// Cuts laid and merged, by example. Laws for all edits:
// edits_property_test.cc.
#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "ring/edits/edits_testing.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file's whole vocabulary

TEST_F(Edits, ACutIsLaidOnlyOnItsOwnersTokens) {
  const Cut cut{range_, NodeId{1}, "edge", UnixMillis{1}, {}};
  EXPECT_EQ(must(lay_cut(document_, cut)).cuts.size(), document_.cuts.size() + 1);
  Cut other = cut;
  other.node = NodeId{2};
  expect_conflict(lay_cut(document_, other), "node 'b' does not own all of");
  other.node = NodeId{7};
  expect_conflict(lay_cut(document_, other), "node 7 is unknown");
  Cut backwards = cut;
  backwards.range = {Token{2}, Token{1}};
  expect_invalid(lay_cut(document_, backwards), "ends before it begins");
  Cut timeless = cut;
  timeless.created = UnixMillis{-1};
  expect_invalid(lay_cut(document_, timeless), "has a time");
}

// Cuts of `node` side by side at the start of `range`, each of ten tokens.
std::vector<Cut> side_by_side(TokenRange range, NodeId node, std::uint64_t count) {
  std::vector<Cut> cuts;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = range.first.value() + i * 10;
    cuts.push_back({{Token{first}, Token{first + 9}}, node, "piece", UnixMillis{1}, {}});
  }
  return cuts;
}

TEST_F(Edits, MergeJoinsNeighboursOfOneOwner) {
  document_.cuts = side_by_side(range_, NodeId{2}, 3);
  const Document merged = must(merge_cuts(document_, kAll, UnixMillis{7'000}));
  const Token last{range_.first.value() + 29};
  const Cut expected{{range_.first, last}, NodeId{2}, "merged from 3 cuts", UnixMillis{7'000}, {}};
  EXPECT_EQ(merged.cuts, std::vector{expected});
  expect_conflict(merge_cuts(merged, kAll, {}), "nothing to merge");
}

TEST_F(Edits, MergeTakesAwayWhatTheBaseSaysToo) {
  document_.cuts = side_by_side(range_, NodeId{1}, 3);
  EXPECT_TRUE(must(merge_cuts(document_, kAll, {})).cuts.empty());
}

// Ten tokens on each side of the place where the base passes from `left` to the other node.
std::vector<TokenRange> beside_a_boundary(const Document& document, NodeId left) {
  for (const Arc& arc : base_of(document)) {
    const std::uint64_t last = arc.range.last.value();
    if (arc.node != left || arc.range.last == kLastToken) continue;
    return {{Token{last - 9}, Token{last}}, {Token{last + 1}, Token{last + 10}}};
  }
  return {};
}

TEST_F(Edits, MergeDropsWhatAgreesAtTheEndsAndKeepsTheRestAsItIs) {
  for (const NodeId left : {NodeId{1}, NodeId{2}}) {
    const std::vector<TokenRange> sides = beside_a_boundary(document_, left);
    ASSERT_EQ(sides.size(), 2U);
    document_.cuts = {{sides[0], NodeId{1}, "left", UnixMillis{1}, {}},
                      {sides[1], NodeId{1}, "right", UnixMillis{1}, {}}};
    const Cut& differs = document_.cuts[left == NodeId{1} ? 1 : 0];
    EXPECT_EQ(must(merge_cuts(document_, kAll, UnixMillis{7'000})).cuts, std::vector{differs});
  }
}

TEST_F(Edits, MergeStaysInsideTheRange) {
  document_.cuts = side_by_side(range_, NodeId{2}, 3);
  const TokenRange first_two{range_.first, Token{range_.first.value() + 19}};
  EXPECT_EQ(must(merge_cuts(document_, first_two, {})).cuts.size(), 2U);
  const TokenRange half{range_.first, Token{range_.first.value() + 18}};
  expect_conflict(merge_cuts(document_, half, {}), "nothing to merge");
}

TEST_F(Edits, MergeLeavesPinnedCutsAlone) {
  document_.cuts = side_by_side(range_, NodeId{2}, 3);
  document_.cuts[1].pinned_until = UnixMillis{8'000};
  expect_conflict(merge_cuts(document_, kAll, UnixMillis{7'999}), "nothing to merge");
  EXPECT_EQ(must(merge_cuts(document_, kAll, UnixMillis{8'000})).cuts.size(), 1U);
}

}  // namespace
}  // namespace cleave::ring
