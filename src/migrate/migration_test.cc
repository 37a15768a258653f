#include "migrate/migration.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "migrate/story_testing.h"
#include "ring/view/view.h"

namespace cleave::migrate {
namespace {

TEST(Migration, GoesThroughItsRulesInOrder) {
  Story story;
  Migration move = story.make();
  EXPECT_TRUE(has<Identify>(move.step(Start{}, story.now_)));
  EXPECT_TRUE(
      writes(move.step(Identified{story.facts_a_, story.facts_b_}, story.now_), Change::kBegin));
  EXPECT_TRUE(has<SweepBoth>(story.write(move, Change::kBegin)));
  EXPECT_TRUE(has<Check>(move.step(Swept{}, story.now_)));
  EXPECT_TRUE(writes(move.step(Checked{}, story.now_), Change::kEnter));
  EXPECT_EQ(story.write(move, Change::kEnter).size(), 2U);  // one AwaitCopying a router
  EXPECT_TRUE(move.step(CopyingAcked{SessionId{"r1"}}, story.now_).empty());
  EXPECT_TRUE(has<ScanNext>(move.step(CopyingAcked{SessionId{"r2"}}, story.now_)));
  EXPECT_TRUE(has<CopyKeys>(move.step(ScanPage{.keys = {"k"}, .last = true}, story.now_)));
  EXPECT_TRUE(has<Take>(move.step(Copied{.keys = 1, .bytes = 1, .unmovable = {}}, story.now_)));
  story.take(move, "r1", {});
  EXPECT_TRUE(writes(story.take(move, "r2", {}), Change::kFence));
  EXPECT_TRUE(has<AwaitFenced>(story.write(move, Change::kFence)));
  EXPECT_TRUE(story.fenced_ack(move, "r1", {"dirty"}).empty());
  EXPECT_TRUE(has<CopyKeys>(story.fenced_ack(move, "r2")));
  EXPECT_TRUE(has<Identify>(move.step(Copied{.keys = 1, .bytes = 1, .unmovable = {}}, story.now_)));
  EXPECT_TRUE(
      writes(move.step(Identified{story.facts_a_, story.facts_b_}, story.now_), Change::kCommit));
  EXPECT_TRUE(has<Over>(story.write(move, Change::kCommit)));
  EXPECT_TRUE(move.outcome().committed);
  EXPECT_TRUE(story.document_.moves.empty());
}

TEST(Migration, RefusesTwoNamesForOneServer) {
  Story story;
  Migration move = story.make();
  move.step(Start{}, story.now_);
  ServerFacts twin = story.facts_a_;
  EXPECT_TRUE(has<Over>(move.step(Identified{story.facts_a_, twin}, story.now_)));
  EXPECT_NE(move.outcome().why.find("two names"), std::string::npos);
}

TEST(Migration, RefusesAServerAndItsReplica) {
  Story story;
  Migration move = story.make();
  move.step(Start{}, story.now_);
  story.facts_b_.incarnation.replication_id = "repl-a";
  EXPECT_TRUE(has<Over>(move.step(Identified{story.facts_a_, story.facts_b_}, story.now_)));
}

TEST(Migration, RefusesAServerWithoutTheMarker) {
  Story story;
  Migration move = story.make();
  move.step(Start{}, story.now_);
  story.facts_b_.marked = false;
  EXPECT_TRUE(has<Over>(move.step(Identified{story.facts_a_, story.facts_b_}, story.now_)));
  EXPECT_NE(move.outcome().why.find("marker"), std::string::npos);
}

TEST(Migration, RefusesClocksThatDiffer) {
  Story story;
  Migration move = story.make();
  move.step(Start{}, story.now_);
  story.facts_b_.clock_ms = -51;
  EXPECT_TRUE(has<Over>(move.step(Identified{story.facts_a_, story.facts_b_}, story.now_)));
}

// Seed 7324: a key that a jump had expired at the source was back after the move.
TEST(Migration, AbortsWhenAClockJumpedDuringTheMove) {
  for (const bool both : {false, true}) {
    Story story;
    Migration move = story.make();
    story.to_fenced(move);
    story.fenced_ack(move, "r1");
    story.fenced_ack(move, "r2");
    story.facts_a_.clock_ms += 51;
    if (both) story.facts_b_.clock_ms += 51;
    EXPECT_TRUE(
        writes(move.step(Identified{story.facts_a_, story.facts_b_}, story.now_), Change::kAbort));
  }
}

TEST(Migration, DoesNotCommitWithoutEveryAcknowledgement) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1");
  EXPECT_FALSE(move.edit(Change::kCommit, story.document_, UnixMillis{3}).has_value());
}

TEST(Migration, ARouterThatJoinedFencedCountsAsAcknowledged) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1");
  story.fenced_ack(move, "r2");
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.document_ = *ring::join(story.document_, {.session = SessionId{"r3"}});
  EXPECT_TRUE(has<Over>(story.write(move, Change::kCommit)));
}

TEST(Migration, AbortsWhenARouterWasRemoved) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.document_ = *ring::remove_router(story.document_, SessionId{"r2"});
  EXPECT_TRUE(has<Over>(move.step(DocumentSeen{story.shared()}, story.now_)));
  EXPECT_FALSE(move.outcome().committed);
}

TEST(Migration, AbortsWhenTheSourceFailedOver) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1");
  story.fenced_ack(move, "r2");
  story.facts_a_.incarnation.replication_id = "after";
  EXPECT_TRUE(
      writes(move.step(Identified{story.facts_a_, story.facts_b_}, story.now_), Change::kAbort));
}

TEST(Migration, AbortsWhenARouterSpokeToAnotherLifeOfTheSource) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  const FencedAcked ack{SessionId{"r1"}, {}, false, {{"run-a", "another"}}};
  EXPECT_TRUE(writes(move.step(ack, story.now_), Change::kAbort));
}

// Well before fence_hold_max (200 ms): the abort and the news of it are part of what clients wait.
TEST(Migration, AbortsWhenTheFenceIsHeldTooLong) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  EXPECT_TRUE(move.step(Tick{}, story.now_ + milliseconds{150}).empty());
  EXPECT_TRUE(writes(move.step(Tick{}, story.now_ + milliseconds{151}), Change::kAbort));
}

TEST(Migration, AbortsForAKeyThatCannotBeMoved) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"big"}, .last = true}, story.now_);
  const Copied copied{.keys = 0, .bytes = 0, .unmovable = {{"big", "too big"}}};
  EXPECT_TRUE(writes(move.step(copied, story.now_), Change::kAbort));
  story.write(move, Change::kAbort);
  ASSERT_EQ(move.outcome().unmovable.size(), 1U);
  EXPECT_EQ(move.outcome().unmovable[0].key, "big");
}

// One order once became 20,000 cuts.
TEST(Migration, KeepsAFewKeysBehindAndElseMovesNothing) {
  struct Case {
    std::size_t keys = 0;
    std::size_t unmovable = 0;
    std::size_t kept_before = 0;
    bool around = false;
  };
  for (const Case& one : {Case{10, 1, 0, true}, Case{10, 2, 0, false}, Case{5'000, 5, 0, true},
                          Case{5'000, 6, 0, false}, Case{50'000, 16, 0, true},
                          Case{50'000, 17, 0, false}, Case{50'000, 10, 7, false}}) {
    SCOPED_TRACE(std::to_string(one.keys) + " keys, " + std::to_string(one.unmovable));
    Story story;
    Migration move = story.make({}, one.kept_before);
    story.to_scan(move);
    Copied copied;
    for (std::size_t i = 0; i < one.unmovable; ++i)
      copied.unmovable.push_back({"k" + std::to_string(i), "too big"});
    move.step(ScanPage{.keys = std::vector<std::string>(one.keys, "k"), .last = true}, story.now_);
    EXPECT_TRUE(writes(move.step(copied, story.now_), Change::kAbort));
    EXPECT_EQ(move.outcome().unmovable.size(), one.around ? one.unmovable : 0);
    story.write(move, Change::kAbort);
    EXPECT_NE(move.outcome().why.find("too big"), std::string::npos);
  }
}

// What stays is known, and named, at once: not one abort for each page.
TEST(Migration, LooksAtAllKeysBeforeItLeavesAnyBehind) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = std::vector<std::string>(2'000, "k"), .last = false}, story.now_);
  Copied copied;
  copied.unmovable = {{"one", "too big"}};
  EXPECT_FALSE(writes(move.step(copied, story.now_), Change::kAbort));
  move.step(ScanPage{.keys = {"other"}, .last = true}, story.now_);
  copied.unmovable = {{"other", "too big"}};
  EXPECT_TRUE(writes(move.step(copied, story.now_), Change::kAbort));
  EXPECT_EQ(move.outcome().unmovable.size(), 2U);
}

TEST(Migration, RefusesWhatThePreflightFound) {
  Story story;
  Migration move = story.make();
  const Actions first = move.step(Start{}, story.now_);
  EXPECT_TRUE(std::get<Identify>(first.front()).preflight);
  Identified seen{story.facts_a_, story.facts_b_};
  seen.unfit = "b refuses what a move needs: OOM";
  EXPECT_TRUE(has<Over>(move.step(seen, story.now_)));
  EXPECT_EQ(move.outcome().why, seen.unfit);
  EXPECT_TRUE(story.document_.moves.empty());
}

// A router's dirty set is bounded, and a scan may take hours.
// Else a scan of hours would wait for one large key at each take.
// The take on its way may hand over keys: the rounds wait for it.
// A bound on the bytes a second makes the copies of a round, or of the scan's pages, take long.
// What waits for its copy lies in the leader's memory.
// A key that is copied in pieces takes longer than a fence may be held.
TEST(Migration, AbortsAWriteOfUnknownKeys) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  EXPECT_TRUE(writes(move.step(Taken{SessionId{"r1"}, 1, {}, true}, story.now_), Change::kAbort));
}

TEST(Migration, AnUnknownCommitIsSettledByTheDocument) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1");
  story.fenced_ack(move, "r2");
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.document_ = *move.edit(Change::kCommit, story.document_, UnixMillis{3});
  EXPECT_TRUE(has<Over>(move.step(DocumentSeen{story.shared()}, story.now_)));
  EXPECT_TRUE(move.step(WriteRefused{"late"}, story.now_).empty());
}

TEST(Migration, ACommittedMoveIsOver) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1");
  story.fenced_ack(move, "r2");
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.write(move, Change::kCommit);
  EXPECT_TRUE(move.step(AbortWanted{"late"}, story.now_).empty());
  EXPECT_TRUE(move.step(Failed{"server away"}, story.now_).empty());
  EXPECT_TRUE(move.step(Tick{}, story.now_).empty());
  EXPECT_TRUE(move.outcome().committed);
}

// Rule 13: nothing that lay there before is deleted, overwritten, or entered for the cleaning.
TEST(Migration, ForeignKeysAtTheDestinationStopIt) {
  Story story;
  Migration move = story.make();
  move.step(Start{}, story.now_);
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.write(move, Change::kBegin);
  move.step(Swept{}, story.now_);
  const Checked found{.foreign = 2, .examples = {"theirs"}};
  EXPECT_TRUE(writes(move.step(found, story.now_), Change::kAbort));
  EXPECT_TRUE(has<Over>(story.write(move, Change::kAbort)));
  EXPECT_NE(move.outcome().why.find("2 keys"), std::string::npos);
  EXPECT_NE(move.outcome().why.find("'theirs'"), std::string::npos);
  EXPECT_TRUE(story.document_.leftovers.empty());
}

// Rule 13: after an abort somebody must know where the copies are.
TEST(Migration, CopiesNothingBeforeItsCopiesAreEntered) {
  Story story;
  Migration move = story.make();
  move.step(Start{}, story.now_);
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.write(move, Change::kBegin);
  move.step(Swept{}, story.now_);
  EXPECT_TRUE(writes(move.step(Checked{}, story.now_), Change::kEnter));
  EXPECT_TRUE(move.step(CopyingAcked{SessionId{"r1"}}, story.now_).empty());
  EXPECT_TRUE(writes(move.step(WriteRefused{"an old leader"}, story.now_), Change::kAbort));
}

TEST(Migration, TheCommitRemembersWhoHasTheCopies) {
  Story story;
  story.facts_b_.replicas = 1;
  story.facts_b_.offset = 10;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1");
  EXPECT_TRUE(has<WaitReplicas>(story.fenced_ack(move, "r2")));
  move.step(ReplicasWaited{1}, story.now_);
  story.facts_b_.offset = 99;
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.write(move, Change::kCommit);
  const ring::Leftover& left = story.document_.leftovers.at(0);
  EXPECT_EQ(left.node, NodeId{1});
  EXPECT_EQ(left.holder, NodeId{2});
  EXPECT_EQ(left.incarnation, story.facts_b_.incarnation);
  EXPECT_EQ(left.offset, 99U);
}

// Rule 23 f.
TEST(Migration, NothingIsTakenBackToAnotherServer) {
  Story story;
  story.facts_a_.server = "server-a";
  story.facts_b_.server = "server-b";
  Migration move = story.make();
  story.to_fenced(move);
  EXPECT_EQ(story.document_.leftovers.at(0).server, "server-b");
  story.fenced_ack(move, "r1");
  story.fenced_ack(move, "r2");
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.write(move, Change::kCommit);
  EXPECT_EQ(story.document_.leftovers.at(0).server, "server-a");
  story.document_ = *ring::keep_leftover(story.document_, story.document_.leftovers.at(0), "lost");
  Migration back(story.document_.leftovers.at(0), UnixMillis{2}, {.limits = {}, .mutations = {}});
  back.step(Start{}, story.now_);
  story.facts_a_.server = "server-c";
  EXPECT_TRUE(has<Over>(back.step(Identified{story.facts_b_, story.facts_a_}, story.now_)));
  EXPECT_NE(back.outcome().why.find("not the one at that address"), std::string::npos);
}

// Rule 26: fenced first, then old connections are ended, then every router has let go.
TEST(Migration, ATakingBackIsFencedAndCopiesNothing) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1");
  story.fenced_ack(move, "r2");
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.write(move, Change::kCommit);
  story.document_ = *ring::keep_leftover(story.document_, story.document_.leftovers.at(0), "lost");

  Migration back(story.document_.leftovers.at(0), UnixMillis{2}, {.limits = {}, .mutations = {}});
  EXPECT_TRUE(has<Identify>(back.step(Start{}, story.now_)));
  EXPECT_TRUE(
      writes(back.step(Identified{story.facts_b_, story.facts_a_}, story.now_), Change::kBegin));
  EXPECT_TRUE(has<SweepBoth>(story.write(back, Change::kBegin)));
  EXPECT_EQ(story.document_.moves.at(0).phase, ring::Phase::kFenced);
  EXPECT_EQ(back.step(Swept{}, story.now_).size(), 2U);  // one AwaitFenced a router
  EXPECT_TRUE(story.fenced_ack(back, "r1", {"written since"}).empty());
  EXPECT_TRUE(writes(story.fenced_ack(back, "r2"), Change::kCommit));
  EXPECT_TRUE(has<Over>(story.write(back, Change::kCommit)));
  EXPECT_TRUE(back.outcome().committed);
  EXPECT_EQ((*ring::RingView::build(story.document_))->owner(kRange.first), NodeId{1});
  ASSERT_EQ(story.document_.leftovers.size(), 1U);
  EXPECT_EQ(story.document_.leftovers[0].node, NodeId{2});
}

// Any events in any order: never a CHECK, never two ends, the document always valid, and the
// owner of the range changes only through a commit that everybody acknowledged.
TEST(Migration, SurvivesEventsInAnyOrder) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    Story story;
    Migration move = story.make();
    Rng rng(seed);
    Actions open = move.step(Start{}, story.now_);
    for (int i = 0; i < 60; ++i) {
      story.now_ += milliseconds{static_cast<std::int64_t>(rng.below(30))};
      const std::string router = rng.chance(1, 2) ? "r1" : "r2";
      switch (rng.below(14)) {
        case 0: open = move.step(Identified{story.facts_a_, story.facts_b_}, story.now_); break;
        case 1: open = move.step(Swept{}, story.now_); break;
        case 2: open = move.step(Checked{rng.below(4) / 3, {}}, story.now_); break;
        case 3: open = move.step(CopyingAcked{SessionId{router}}, story.now_); break;
        case 4: open = move.step(ScanPage{{"k"}, rng.chance(1, 2)}, story.now_); break;
        case 5: open = move.step(Copied{1, 1, {}}, story.now_); break;
        case 6: open = story.take(move, router, {"k"}, 1 + rng.below(2)); break;
        case 7: open = story.fenced_ack(move, router, {"k"}); break;
        case 8: open = move.step(ReplicasWaited{1}, story.now_); break;
        case 9: open = move.step(Tick{}, story.now_); break;
        case 10:
          if (rng.chance(1, 6)) open = move.step(AbortWanted{"test"}, story.now_);
          break;
        case 11:
          if (rng.chance(1, 6)) open = move.step(Failed{"test"}, story.now_);
          break;
        case 12: open = move.step(DocumentSeen{story.shared()}, story.now_); break;
        default:
          for (const Action& action : Actions(open)) {
            const auto* write = std::get_if<Write>(&action);
            if (write != nullptr) open = story.write(move, write->change);
          }
      }
      ASSERT_TRUE(ring::validate(story.document_).has_value());
    }
    if (move.is_over() && move.outcome().committed) {
      EXPECT_TRUE(story.document_.moves.empty());
    }
  }
}

// Its record says when it began, as any move's.
TEST(Migration, ATakingBackKnowsWhenItBegan) {
  ring::Leftover kept{
      .move = MoveId{1}, .node = NodeId{1}, .ranges = {{Token{1}, Token{9}}}, .since = {}};
  kept.holder = NodeId{2};
  kept.state = ring::LeftoverState::kKept;
  const Migration taking(kept, UnixMillis{5}, {});
  EXPECT_EQ(taking.request().now, UnixMillis{5});
  EXPECT_EQ(taking.request().source, NodeId{2});
}

}  // namespace
}  // namespace cleave::migrate
