// What each edit does and refuses, by example. Laws that hold for all: edits_property_test.cc.
#include "ring/edits.h"

#include <gtest/gtest.h>

#include "ring/testing.h"

namespace cleave::ring {
namespace {

using testing::make_document;
using testing::make_node;
using testing::view_of;

constexpr TokenRange kAll{kFirstToken, kLastToken};

void expect_conflict(const Result<Document>& result, const std::string& says) {
  ASSERT_FALSE(result) << "should have failed: " << says;
  EXPECT_EQ(result.error().code, Code::kConflict);
  EXPECT_NE(result.error().message.find(says), std::string::npos) << result.error().message;
}

void expect_invalid(const Result<Document>& result, const std::string& says) {
  ASSERT_FALSE(result) << "should have failed: " << says;
  EXPECT_EQ(result.error().code, Code::kInvalid);
  EXPECT_NE(result.error().message.find(says), std::string::npos) << result.error().message;
}

// The value of an edit that must succeed.
Document must(const Result<Document>& result) {
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : Document{};
}

// Nodes a and b, routers r1 and r2, and the ends of a move that is possible.
class Edits : public ::testing::Test {
 protected:
  Edits() {
    document_ = must(join(must(join(make_document({1, 1}), SessionId{"r1"})), SessionId{"r2"}));
    const auto view = view_of(document_);
    for (const Entry& entry : view->entries()) {
      if (entry.node == NodeId{1} && entry.cut == kNone) range_ = entry.range;
    }
  }

  MoveRequest request() const {
    return {.ranges = {range_},
            .source = NodeId{1},
            .destination = NodeId{2},
            .reason = "hot",
            .now = UnixMillis{5'000}};
  }

  Document copying() const { return must(begin_move(document_, request())); }

  static Document fenced(const Document& document) {
    const Move& move = document.moves.back();
    return must(fence_move(document, move.id, move.phase_epoch));
  }

  static Document committed(const Document& document) {
    const Move& move = document.moves.back();
    return must(commit_move(document, move.id, move.phase_epoch, UnixMillis{6'000}));
  }

  Document document_;
  TokenRange range_;
};

TEST(Create, GivesIdsInOrderAndEpochOne) {
  const Document document = make_document({1, 3});
  EXPECT_EQ(document.epoch, Epoch{1});
  EXPECT_EQ(document.nodes[0].id, NodeId{1});
  EXPECT_EQ(document.nodes[1].id, NodeId{2});
  EXPECT_EQ(document.next_node, NodeId{3});
  EXPECT_EQ(document.mark, "m1");
  EXPECT_TRUE(validate(document));
}

TEST(Create, RefusesAnImpossiblePool) {
  expect_invalid(create({}), "pool ''");
  expect_invalid(create({.pool = "p", .mark = "m", .nodes = {}, .now = {}}), "no active node");
  expect_invalid(create({.pool = "p", .mark = "m", .nodes = {make_node("a", 0)}, .now = {}}),
                 "weight 0");
}

TEST_F(Edits, ASessionJoinsOnce) {
  EXPECT_EQ(document_.routers, (std::vector{SessionId{"r1"}, SessionId{"r2"}}));
  expect_conflict(join(document_, SessionId{"r1"}), "'r1' is there already");
  expect_invalid(join(document_, SessionId{""}), "session ''");
}

TEST_F(Edits, RemovingARouterAbortsUnfinishedMoves) {
  const Document next = must(remove_router(fenced(copying()), SessionId{"r1"}));
  EXPECT_TRUE(next.moves.empty());
  EXPECT_FALSE(has_router(next, SessionId{"r1"}));
  const Document clean = must(remove_router(committed(fenced(copying())), SessionId{"r1"}));
  EXPECT_EQ(clean.moves.size(), 1U);  // past its commit: finished, not aborted
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
  EXPECT_EQ(must(lead(committed(fenced(copying())), SessionId{"r1"})).moves.size(), 1U);
  expect_conflict(lead(document_, SessionId{"r9"}), "no session 'r9'");
}

TEST_F(Edits, AMoveIsNamedByItsEpoch) {
  const Document next = copying();
  const Move expected{.id = MoveId{next.epoch.value()},
                      .ranges = {range_},
                      .source = NodeId{1},
                      .destination = NodeId{2},
                      .phase = Phase::kCopying,
                      .phase_epoch = next.epoch,
                      .reason = "hot",
                      .started = UnixMillis{5'000}};
  EXPECT_EQ(next.moves, std::vector{expected});
}

TEST_F(Edits, BeginRefusesWhatCanNeverBe) {
  MoveRequest none = request();
  none.ranges.clear();
  expect_invalid(begin_move(document_, none), "no range");
  MoveRequest backwards = request();
  backwards.ranges = {{Token{2}, Token{1}}};
  expect_invalid(begin_move(document_, backwards), "ends before it begins");
  MoveRequest nowhere = request();
  nowhere.destination = nowhere.source;
  expect_invalid(begin_move(document_, nowhere), "the same node");
}

TEST_F(Edits, BeginRefusesWhatIsNotSoNow) {
  expect_conflict(begin_move(must(set_frozen(document_, true)), request()), "frozen");
  expect_conflict(begin_move(copying(), request()), "holds some of the tokens");
  expect_conflict(begin_move(must(drain_node(document_, NodeId{2}, {})), request()), "draining");
  MoveRequest unknown = request();
  unknown.destination = NodeId{7};
  expect_conflict(begin_move(document_, unknown), "node 7 is unknown");
  MoveRequest not_owned = request();
  not_owned.ranges = {kAll};
  expect_conflict(begin_move(document_, not_owned), "node 'a' does not own all");
}

// Rule 21: until the source is cleaned, its leftovers could be taken for fresh keys.
TEST_F(Edits, NoMoveTouchesARangeThatIsBeingCleaned) {
  MoveRequest back = request();
  std::swap(back.source, back.destination);
  expect_conflict(begin_move(committed(fenced(copying())), back), "holds some of the tokens");
}

TEST_F(Edits, ADrainingSourceIsWelcome) {
  EXPECT_TRUE(begin_move(must(drain_node(document_, NodeId{1}, {})), request()));
}

TEST_F(Edits, PhasesFollowEachOther) {
  const Document fence = fenced(copying());
  EXPECT_EQ(fence.moves[0].phase, Phase::kFenced);
  EXPECT_EQ(fence.moves[0].phase_epoch, fence.epoch);
  EXPECT_EQ(view_of(fence)->owner(range_.first), NodeId{1});
  const Document clean = committed(fence);
  EXPECT_EQ(clean.moves[0].phase, Phase::kClean);
  EXPECT_EQ(clean.moves[0].phase_epoch, clean.epoch);
  EXPECT_EQ(view_of(clean)->owner(range_.first), NodeId{2});
  EXPECT_NE(view_of(clean)->move_at(range_.first), nullptr);
  EXPECT_TRUE(
      must(finish_move(clean, clean.moves[0].id, clean.moves[0].phase_epoch)).moves.empty());
}

TEST_F(Edits, OrdersCountOnlyInTheirPhaseEpoch) {
  const Document fence = fenced(copying());
  const MoveId id = fence.moves[0].id;
  const Epoch copying_epoch{id.value()};
  const Epoch later{fence.epoch.value() + 1};
  for (const Epoch wrong : {copying_epoch, later}) {
    expect_conflict(commit_move(fence, id, wrong, {}), "is in phase epoch");
    expect_conflict(abort_move(fence, id, wrong), "is in phase epoch");
  }
  expect_conflict(fence_move(copying(), id, later), "is in phase epoch");
  const Document clean = committed(fence);
  expect_conflict(finish_move(clean, id, fence.epoch), "is in phase epoch");
  expect_conflict(abort_move(document_, id, copying_epoch), "is gone");
}

TEST_F(Edits, PhasesAreNotSkippedOrRepeated) {
  const Document copy = copying();
  const MoveId id = copy.moves[0].id;
  expect_conflict(commit_move(copy, id, copy.epoch, {}), "is copying, not fenced");
  expect_conflict(finish_move(copy, id, copy.epoch), "is copying, not clean");
  const Document fence = fenced(copy);
  expect_conflict(fence_move(fence, id, fence.epoch), "is fenced, not copying");
  const Document clean = committed(fence);
  expect_conflict(commit_move(clean, id, clean.epoch, {}), "is clean, not fenced");
  expect_conflict(abort_move(clean, id, clean.epoch), "is committed");
}

TEST_F(Edits, AbortLeavesTheSourceInPlace) {
  const Document copy = copying();
  const Document aborted = must(abort_move(copy, copy.moves[0].id, copy.epoch));
  EXPECT_TRUE(aborted.moves.empty());
  EXPECT_EQ(aborted.cuts, document_.cuts);
}

TEST_F(Edits, CommitMakesACutWithTheMovesReason) {
  const Document clean = committed(fenced(copying()));
  const Cut expected{range_, NodeId{2}, "hot", UnixMillis{6'000}, {}};
  EXPECT_NE(std::ranges::find(clean.cuts, expected), clean.cuts.end());
  EXPECT_EQ(clean.cuts.size(), document_.cuts.size() + 1);
}

TEST_F(Edits, CommitWhereTheBaseAgreesTakesTheCutAway) {
  Document there = committed(fenced(copying()));
  there = must(finish_move(there, there.moves[0].id, there.moves[0].phase_epoch));
  MoveRequest back = request();
  std::swap(back.source, back.destination);
  const Document again = committed(fenced(must(begin_move(there, back))));
  EXPECT_EQ(again.cuts, document_.cuts);
}

TEST_F(Edits, CommitTrimsACutAndKeepsTheRestOfIt) {
  const Cut pinned{range_, NodeId{1}, "known event", UnixMillis{1}, UnixMillis{9'000}};
  const Document cut = must(lay_cut(document_, pinned));
  MoveRequest middle = request();
  middle.ranges = {{Token{range_.first.value() + 10}, Token{range_.first.value() + 20}}};
  const Document clean = committed(fenced(must(begin_move(cut, middle))));
  Cut left = pinned;
  left.range.last = Token{range_.first.value() + 9};
  Cut right = pinned;
  right.range.first = Token{range_.first.value() + 21};
  EXPECT_NE(std::ranges::find(clean.cuts, left), clean.cuts.end());
  EXPECT_NE(std::ranges::find(clean.cuts, right), clean.cuts.end());
  EXPECT_EQ(clean.cuts.size(), cut.cuts.size() + 2);
}

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

TEST_F(Edits, AJoiningNodeGetsTheNextIdAndNothingElse) {
  const Document next = must(add_node(document_, make_node("c", 2), UnixMillis{7'000}));
  EXPECT_EQ(next.nodes.back().id, NodeId{3});
  EXPECT_EQ(next.next_node, NodeId{4});
  EXPECT_TRUE(view_of(next)->owned_by(NodeId{3}).empty());
  EXPECT_EQ(next.cuts.front().reason.find("kept when node 'c' joined"), 0U);
  expect_invalid(add_node(document_, make_node("a"), {}), "two nodes named 'a'");
  expect_invalid(add_node(document_, make_node("c", 0), {}), "weight 0");
}

TEST_F(Edits, IdsNeverReturn) {
  Document next = must(add_node(document_, make_node("c"), {}));
  next = must(remove_node(next, NodeId{3}));  // it owns nothing yet
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
  expect_conflict(remove_node(document_, NodeId{9}), "node 9 is unknown");
  expect_conflict(remove_node(document_, NodeId{1}), "still owns tokens");
  expect_conflict(remove_node(copying(), NodeId{2}), "takes part in a move");
  expect_conflict(remove_node(make_document({1}), NodeId{1}), "the last active node");
  Document next = must(drain_node(document_, NodeId{1}, {}));
  MoveRequest all = request();
  all.ranges = view_of(next)->owned_by(NodeId{1});
  next = committed(fenced(must(begin_move(next, all))));
  expect_conflict(remove_node(next, NodeId{1}), "takes part in a move");
  next = must(finish_move(next, next.moves[0].id, next.moves[0].phase_epoch));
  next = must(remove_node(next, NodeId{1}));
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

TEST_F(Edits, SwitchesAreSet) {
  EXPECT_TRUE(must(set_frozen(document_, true)).frozen);
  EXPECT_FALSE(must(set_frozen(document_, false)).frozen);
  EXPECT_EQ(must(set_mode(document_, Mode::kObserve)).mode, Mode::kObserve);
}

}  // namespace
}  // namespace cleave::ring
