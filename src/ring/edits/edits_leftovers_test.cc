// The life of a leftover, by example. Laws for all edits: edits_property_test.cc.
#include <gtest/gtest.h>

#include "ring/edits/edits.h"
#include "ring/edits/edits_testing.h"

namespace cleave::ring {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file's whole vocabulary

class Leftovers : public Edits {
 protected:
  Leftovers() : done_(committed(fenced(copying()))), left_(done_.leftovers.at(0)) {}

  // The comparison found that the destination lost its data.
  Document kept() const { return must(keep_leftover(done_, left_, "lost")); }

  Document done_;
  Leftover left_;
};

TEST_F(Leftovers, CopiesAreEnteredAtTheDestination) {
  const Document copy = copying();
  const Move& move = copy.moves.at(0);
  const Leftover expected{
      .move = move.id, .node = NodeId{2}, .ranges = {range_}, .since = UnixMillis{5'500}};
  EXPECT_EQ(copy.leftovers, std::vector{expected});
  EXPECT_TRUE(in_use(copy, expected));
  EXPECT_EQ(move.phase, Phase::kCopying);
  EXPECT_EQ(move.phase_epoch.value(), move.id.value()) << "the phase is the same";
}

TEST_F(Leftovers, ACommitTurnsThemIntoThoseOfTheSource) {
  const Leftover expected{.move = left_.move,
                          .node = NodeId{1},
                          .ranges = {range_},
                          .since = UnixMillis{6'000},
                          .holder = NodeId{2},
                          .incarnation = holder().incarnation,
                          .offset = holder().offset};
  EXPECT_EQ(done_.leftovers, std::vector{expected});
  EXPECT_FALSE(in_use(done_, left_));
}

TEST_F(Leftovers, ThoseOfAMoveInFlightAreNotCleaned) {
  const Document copy = copying();
  expect_conflict(drop_leftover(copy, copy.leftovers[0]), "under way");
}

TEST_F(Leftovers, WhatAnAbortLeftIsDroppedWithoutAComparison) {
  const Document copy = copying();
  const Document aborted = must(abort_move(copy, copy.moves[0].id, copy.moves[0].phase_epoch));
  expect_conflict(begin_cleaning(aborted, aborted.leftovers[0]), "no holder");
  EXPECT_TRUE(must(drop_leftover(aborted, aborted.leftovers[0])).leftovers.empty());
}

// Rule 23 e: the destination may have come back empty, and then the source has the only copy.
TEST_F(Leftovers, WhatACommitLeftIsComparedFirst) {
  expect_conflict(drop_leftover(done_, left_), "not compared");
  const Document begun = must(begin_cleaning(done_, left_));
  EXPECT_EQ(begun.leftovers[0].state, LeftoverState::kBegun);
  expect_conflict(begin_cleaning(begun, begun.leftovers[0]), "already");
  EXPECT_TRUE(must(drop_leftover(begun, begun.leftovers[0])).leftovers.empty());
}

// Rule 23 d: an entry as read, so that a late leader takes nothing off that is newer.
TEST_F(Leftovers, OnlyAnEntryAsReadIsChanged) {
  const Document begun = must(begin_cleaning(done_, left_));
  expect_conflict(drop_leftover(begun, left_), "has changed");
  expect_conflict(begin_cleaning(begun, left_), "has changed");
  const Document gone = must(drop_leftover(begun, begun.leftovers[0]));
  expect_conflict(drop_leftover(gone, begun.leftovers[0]), "is gone");
}

TEST_F(Leftovers, KeptOnesAreGivenUpByAPersonOnly) {
  const Document keeping = kept();
  const Leftover& entry = keeping.leftovers[0];
  EXPECT_EQ(entry.state, LeftoverState::kKept);
  expect_conflict(drop_leftover(keeping, entry), "only a person");
  expect_conflict(begin_cleaning(keeping, entry), "only a person");
  expect_conflict(release_leftover(done_, left_), "is not kept");
  const Document released = must(release_leftover(keeping, entry));
  EXPECT_EQ(released.leftovers[0].holder, NodeId{});
  EXPECT_TRUE(must(drop_leftover(released, released.leftovers[0])).leftovers.empty());
}

TEST_F(Leftovers, KeptOnesSayWhetherKeysAreGoneAlready) {
  const Document begun = must(begin_cleaning(done_, left_));
  const Document keeping = must(keep_leftover(begun, begun.leftovers[0], "lost"));
  EXPECT_EQ(keeping.leftovers[0].state, LeftoverState::kKeptBegun);
}

TEST_F(Leftovers, TheyRememberTheServerThatHasThem) {
  const Document begun = must(begin_move(document_, request()));
  const Move& move = begun.moves.back();
  const Document entered =
      must(enter_copies(begun, move.id, move.phase_epoch, UnixMillis{5'500}, "server-b"));
  EXPECT_EQ(entered.leftovers.at(0).server, "server-b");
  const Document fence = fenced(entered);
  const Document done = must(commit_move(fence, move.id, fence.moves.back().phase_epoch, holder(),
                                         UnixMillis{6'000}, {}, "server-a"));
  EXPECT_EQ(done.leftovers.at(0).server, "server-a") << "the entry is the source's now";
}

// Rule 23 f.
TEST_F(Leftovers, WhatIsAtAnotherServerIsKeptWithoutAHolderToo) {
  const Document copy = copying();
  const Document aborted = must(abort_move(copy, copy.moves[0].id, copy.moves[0].phase_epoch));
  const Document keeping = must(keep_leftover(aborted, aborted.leftovers[0], "another server"));
  const Leftover& entry = keeping.leftovers[0];
  EXPECT_TRUE(entry.kept());
  EXPECT_EQ(entry.why, "another server");
  EXPECT_TRUE(validate(keeping));
  expect_conflict(keep_leftover(keeping, entry, "again"), "kept already");
  expect_conflict(begin_taking_back(keeping, entry, {}), "nobody knows who had all");
  EXPECT_TRUE(must(forget_leftover(keeping, entry)).leftovers.empty());
}

TEST_F(Leftovers, OnlyKeptOnesAreForgotten) {
  expect_conflict(forget_leftover(done_, left_), "is not kept");
  const Document keeping = kept();
  const Document taking = must(begin_taking_back(keeping, keeping.leftovers[0], {}));
  expect_conflict(forget_leftover(taking, taking.leftovers[0]), "being taken back");
}

// Rule 12: the copy would overwrite what is kept.
TEST_F(Leftovers, KeptOnesStopMovesToTheirNode) {
  MoveRequest back = request();
  std::swap(back.source, back.destination);
  expect_conflict(begin_move(kept(), back), "may still hold copies");
}

// Rule 26.
TEST_F(Leftovers, KeptOnesAreTakenBackBehindAFence) {
  const Document keeping = kept();
  const Leftover entry = keeping.leftovers[0];
  expect_conflict(begin_taking_back(done_, left_, {}), "is not kept");
  const Document taking = must(begin_taking_back(keeping, entry, UnixMillis{7'000}));
  const Move& move = taking.moves.at(0);
  EXPECT_EQ(move.phase, Phase::kFenced);
  EXPECT_EQ(move.takes_back, entry.move);
  EXPECT_EQ(move.source, NodeId{2});
  EXPECT_EQ(move.destination, NodeId{1});
  expect_conflict(release_leftover(taking, entry), "being taken back");
  expect_conflict(commit_move(taking, move.id, move.phase_epoch, holder(), {}), "takes a range");

  const Document taken = must(take_back(taking, move.id, move.phase_epoch, entry, {}));
  EXPECT_EQ(view_of(taken)->owner(range_.first), NodeId{1});
  EXPECT_TRUE(taken.moves.empty());
  ASSERT_EQ(taken.leftovers.size(), 1U);
  EXPECT_EQ(taken.leftovers[0].node, NodeId{2});
  EXPECT_EQ(taken.leftovers[0].holder, NodeId{});
}

TEST_F(Leftovers, AnAbortedTakingBackKeepsTheEntry) {
  const Document keeping = kept();
  const Document taking = must(begin_taking_back(keeping, keeping.leftovers[0], {}));
  const Move& move = taking.moves.at(0);
  const Document aborted = must(abort_move(taking, move.id, move.phase_epoch));
  EXPECT_EQ(aborted.leftovers, keeping.leftovers);
  EXPECT_TRUE(begin_taking_back(aborted, aborted.leftovers[0], {}));
}

TEST_F(Leftovers, OnlyWhatTheHolderStillOwnsIsTakenBack) {
  const std::uint64_t width = range_.last.value() - range_.first.value();
  ASSERT_GT(width, 1U);
  const TokenRange first{range_.first, Token{range_.first.value() + width / 2}};
  const TokenRange second{Token{first.last.value() + 1}, range_.last};
  // A third node has taken over the second half since.
  Document moved = must(add_node(kept(), make_node("c"), {}));
  moved = must(begin_move(moved, {{second}, NodeId{2}, NodeId{3}, "on", UnixMillis{6'500}}));
  moved = committed(fenced(entered(moved)));

  const Leftover entry = *find_leftover(moved, left_.move);
  const Document taking = must(begin_taking_back(moved, entry, UnixMillis{7'000}));
  const Move& move = taking.moves.at(0);
  EXPECT_EQ(move.ranges, RangeSet{first});
  const Document taken = must(take_back(taking, move.id, move.phase_epoch, entry, {}));
  EXPECT_EQ(view_of(taken)->owner(first.first), NodeId{1});
  EXPECT_EQ(view_of(taken)->owner(second.first), NodeId{3});
  EXPECT_EQ(find_leftover(taken, left_.move)->ranges, RangeSet{second});
}

TEST_F(Leftovers, ANodeThatTheyNameStays) {
  Document drained = must(drain_node(done_, NodeId{1}, {}));
  expect_conflict(remove_node(drained, NodeId{1}, {}), "left behind");
}

// Rule 21: what a leader of the version before had committed and not cleaned.
TEST_F(Leftovers, TheOldPhaseCleanBecomesOneWhenTheLastOldRouterHasGone) {
  Document old = done_;
  old.leftovers.clear();
  old.moves = {{.id = left_.move,
                .ranges = {range_},
                .source = NodeId{1},
                .destination = NodeId{2},
                .phase = Phase::kClean,
                .phase_epoch = old.epoch,
                .reason = "hot",
                .started = UnixMillis{5'000}}};
  old.routers[0].reader = 4;
  ASSERT_TRUE(validate(old));
  EXPECT_EQ(text_format_of(old), 2U);
  EXPECT_EQ(must(set_mode(old, Mode::kObserve)).moves, old.moves) << "an old router is there";
  old.routers[0].reader = 5;
  const Document next = must(set_mode(old, Mode::kObserve));
  EXPECT_TRUE(next.moves.empty());
  const Leftover expected{
      .move = left_.move, .node = NodeId{1}, .ranges = {range_}, .since = UnixMillis{5'000}};
  EXPECT_EQ(next.leftovers, std::vector{expected});
}

// An old router that joined would delete what it did not put there (the purge of before).
TEST_F(Leftovers, OldRoutersAreShutOutOnceAllKnowLeftovers) {
  EXPECT_EQ(text_format_of(document_), 5U);
  Document mixed = document_;
  mixed.routers[0].reader = 4;
  EXPECT_EQ(text_format_of(mixed), 2U);
}

TEST_F(Leftovers, APoolGoesBackOnlyWithAnEmptyList) {
  const Document back = must(set_old_readers(document_, true));
  EXPECT_EQ(text_format_of(back), 2U);
  EXPECT_EQ(text_format_of(must(set_old_readers(done_, true))), 5U);
  Document nobody = document_;
  nobody.routers.clear();
  EXPECT_EQ(text_format_of(nobody), 2U) << "after the last router has left";
}

}  // namespace
}  // namespace cleave::ring
