// The life of a move, by example. Laws for all edits:
// edits_property_test.cc.
#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "ring/edits/edits_testing.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file's whole vocabulary

TEST_F(Edits, AMoveIsNamedByItsEpoch) {
  const Document next = must(begin_move(document_, request()));
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

// Rules 12 and 21: until the source is cleaned, its leftovers could be taken for fresh keys.
TEST_F(Edits, NoMoveGoesWhereCopiesMayBeLeft) {
  MoveRequest back = request();
  std::swap(back.source, back.destination);
  const Document done = committed(fenced(copying()));
  expect_conflict(begin_move(done, back), "may still hold copies");
  EXPECT_TRUE(begin_move(cleaned(done), back));
  const Document copy = copying();
  const Document aborted = must(abort_move(copy, copy.moves[0].id, copy.moves[0].phase_epoch));
  expect_conflict(begin_move(aborted, request()), "may still hold copies");
}

// Rule 12: it would purge what it did not put there, and know nothing of leftovers.
TEST_F(Edits, NoMoveBeginsBesideARouterThatKnowsNoLeftovers) {
  document_.routers[1].reader = 4;
  expect_conflict(begin_move(document_, request()), "upgrade");
  document_.routers[1].reader = 5;
  expect_conflict(begin_move(must(set_old_readers(document_, true)), request()), "older version");
}

TEST_F(Edits, ADrainingSourceIsWelcome) {
  EXPECT_TRUE(begin_move(must(drain_node(document_, NodeId{1}, {})), request()));
}

TEST_F(Edits, PhasesFollowEachOther) {
  const Document fence = fenced(copying());
  EXPECT_EQ(fence.moves[0].phase, Phase::kFenced);
  EXPECT_EQ(fence.moves[0].phase_epoch, fence.epoch);
  EXPECT_EQ(view_of(fence)->owner(range_.first), NodeId{1});
  const Document done = committed(fence);
  EXPECT_TRUE(done.moves.empty());
  EXPECT_EQ(view_of(done)->owner(range_.first), NodeId{2});
}

TEST_F(Edits, OrdersCountOnlyInTheirPhaseEpoch) {
  const Document fence = fenced(copying());
  const MoveId id = fence.moves[0].id;
  const Epoch copying_epoch{id.value()};
  const Epoch later{fence.epoch.value() + 1};
  for (const Epoch wrong : {copying_epoch, later}) {
    expect_conflict(commit_move(fence, id, wrong, holder(), {}), "is in phase epoch");
    expect_conflict(abort_move(fence, id, wrong), "is in phase epoch");
  }
  expect_conflict(fence_move(copying(), id, later), "is in phase epoch");
  expect_conflict(enter_copies(copying(), id, later, {}), "is in phase epoch");
  expect_conflict(abort_move(document_, id, copying_epoch), "is gone");
}

TEST_F(Edits, PhasesAreNotSkippedOrRepeated) {
  const Document copy = copying();
  const MoveId id = copy.moves[0].id;
  const Epoch begun = copy.moves[0].phase_epoch;
  expect_conflict(commit_move(copy, id, begun, holder(), {}), "is copying, not fenced");
  expect_conflict(enter_copies(copy, id, begun, {}), "has entered its copies");
  const Document fence = fenced(copy);
  expect_conflict(fence_move(fence, id, fence.epoch), "is fenced, not copying");
  expect_conflict(enter_copies(fence, id, fence.epoch, {}), "is fenced, not copying");
  expect_conflict(commit_move(committed(fence), id, fence.epoch, holder(), {}), "is gone");
}

TEST_F(Edits, CopiesThatWereNotEnteredAreNotCommitted) {
  const Document fence = fenced(must(begin_move(document_, request())));
  const Move& move = fence.moves[0];
  expect_conflict(commit_move(fence, move.id, move.phase_epoch, holder(), {}), "not entered");
}

TEST_F(Edits, AbortLeavesTheSourceInPlace) {
  const Document copy = copying();
  const Document aborted = must(abort_move(copy, copy.moves[0].id, copy.moves[0].phase_epoch));
  EXPECT_TRUE(aborted.moves.empty());
  EXPECT_EQ(aborted.leftovers, copy.leftovers);  // rule 22
  EXPECT_EQ(aborted.cuts, document_.cuts);
}

TEST_F(Edits, CommitMakesACutWithTheMovesReason) {
  const Document clean = committed(fenced(copying()));
  const Cut expected{range_, NodeId{2}, "hot", UnixMillis{6'000}, {}};
  EXPECT_NE(std::ranges::find(clean.cuts, expected), clean.cuts.end());
  EXPECT_EQ(clean.cuts.size(), document_.cuts.size() + 1);
}

TEST_F(Edits, CommitPinsItsCutsWhenAsked) {
  const Document before = fenced(copying());
  const Move& move = before.moves.back();
  const Document clean = must(commit_move(before, move.id, move.phase_epoch, holder(),
                                          UnixMillis{6'000}, {UnixMillis{9'000}}));
  const Cut expected{range_, NodeId{2}, "hot", UnixMillis{6'000}, UnixMillis{9'000}};
  EXPECT_NE(std::ranges::find(clean.cuts, expected), clean.cuts.end());
}

TEST_F(Edits, CommitWhereTheBaseAgreesTakesTheCutAway) {
  const Document there = cleaned(committed(fenced(copying())));
  MoveRequest back = request();
  std::swap(back.source, back.destination);
  const Document again = committed(fenced(entered(must(begin_move(there, back)))));
  EXPECT_EQ(again.cuts, document_.cuts);
}

// Growth of the document is bounded: the balancer counts on one cut a range.
TEST_F(Edits, CommitMakesOneCutOfARangeThatTheBaseGivesToMany) {
  document_.cuts = {{kAll, NodeId{1}, "all", UnixMillis{1}, {}}};
  const std::vector<Arc> base = base_of(document_);
  MoveRequest wide = request();
  wide.ranges = {{base[2].range.first, base[9].range.last}};
  const bool starts_with_b = base[2].node == NodeId{2};  // the nodes alternate
  const TokenRange disputed{base[starts_with_b ? 3 : 2].range.first,
                            base[starts_with_b ? 9 : 8].range.last};
  const Document clean = committed(fenced(entered(must(begin_move(document_, wide)))));
  ASSERT_EQ(clean.cuts.size(), 3U);
  EXPECT_EQ(clean.cuts[1], (Cut{disputed, NodeId{2}, "hot", UnixMillis{6'000}, {}}));
  EXPECT_EQ(view_of(clean)->owner(wide.ranges[0].first), NodeId{2});
  EXPECT_EQ(view_of(clean)->owner(wide.ranges[0].last), NodeId{2});
}

TEST_F(Edits, CommitTrimsACutAndKeepsTheRestOfIt) {
  const Cut pinned{range_, NodeId{1}, "known event", UnixMillis{1}, UnixMillis{9'000}};
  const Document cut = must(lay_cut(document_, pinned));
  MoveRequest middle = request();
  middle.ranges = {{Token{range_.first.value() + 10}, Token{range_.first.value() + 20}}};
  const Document clean = committed(fenced(entered(must(begin_move(cut, middle)))));
  Cut left = pinned;
  left.range.last = Token{range_.first.value() + 9};
  Cut right = pinned;
  right.range.first = Token{range_.first.value() + 21};
  EXPECT_NE(std::ranges::find(clean.cuts, left), clean.cuts.end());
  EXPECT_NE(std::ranges::find(clean.cuts, right), clean.cuts.end());
  EXPECT_EQ(clean.cuts.size(), cut.cuts.size() + 2);
}

}  // namespace
}  // namespace cleave::ring
