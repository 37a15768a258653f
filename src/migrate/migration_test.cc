#include "migrate/migration.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ring/view.h"

namespace cleave::migrate {
namespace {

constexpr ring::TokenRange kRange{Token{100}, Token{199}};

// A move from node 1 to node 2 with two routers, and the world around it: the document is real
// (ring/edits.h), servers and routers answer what a test tells them.
class Story {
 public:
  Story() {
    ring::Creation creation{.pool = "main", .mark = "m", .nodes = {}, .mode = {}, .now = {}};
    for (const char* name : {"a", "b", "c"}) {
      ring::Node node;
      node.name = name;
      node.members = {{std::string("127.0.0.1:700") + name[0], ""}};
      node.members[0].address = "127.0.0.1:" + std::to_string(7001 + creation.nodes.size());
      creation.nodes.push_back(node);
    }
    document_ = *ring::create(creation);
    document_ = *ring::join(document_, {.session = SessionId{"r1"}});
    document_ = *ring::join(document_, {.session = SessionId{"r2"}});
    document_ = *ring::lead(document_, SessionId{"r1"});
    // Node 1 owns the range through a cut, whatever the base says.
    document_.cuts = {
        {.range = kRange, .node = NodeId{1}, .reason = "t", .created = {}, .pinned_until = {}}};
    facts_a_ = {.incarnation = {"run-a", "repl-a"}, .primary = true, .marked = true};
    facts_b_ = {.incarnation = {"run-b", "repl-b"}, .primary = true, .marked = true};
  }

  Migration make(Mutations mutations = {}, std::size_t kept_behind = 0) {
    return Migration({.ranges = {kRange},
                      .source = NodeId{1},
                      .destination = NodeId{2},
                      .reason = "test",
                      .now = UnixMillis{1}},
                     {.limits = {}, .mutations = mutations, .kept_behind = kept_behind});
  }

  // Applies the edit of a Write and tells the machine.
  Actions write(Migration& move, Change change) {
    Result<ring::Document> next = move.edit(change, document_, UnixMillis{2});
    if (!next) return move.step(WriteRefused{next.error().message}, now_);
    document_ = *next;
    return move.step(Written{shared()}, now_);
  }

  std::shared_ptr<const ring::Document> shared() const {
    return std::make_shared<const ring::Document>(document_);
  }

  // Up to COPYING acknowledged by both routers: the next action is the first page.
  Actions to_scan(Migration& move) {
    move.step(Start{}, now_);
    move.step(Identified{facts_a_, facts_b_}, now_);
    write(move, Change::kBegin);
    move.step(Swept{}, now_);
    move.step(Checked{}, now_);
    write(move, Change::kEnter);
    move.step(CopyingAcked{SessionId{"r1"}}, now_);
    return move.step(CopyingAcked{SessionId{"r2"}}, now_);
  }

  // Scan of one page, an empty round, fenced.
  Actions to_fenced(Migration& move) {
    to_scan(move);
    move.step(ScanPage{.keys = {"k1", "k2"}, .last = true}, now_);
    move.step(Copied{.keys = 2, .bytes = 20, .unmovable = {}}, now_);
    take(move, "r1", {});
    take(move, "r2", {});
    return write(move, Change::kFence);
  }

  Actions take(Migration& move, const std::string& router, std::vector<std::string> keys,
               std::uint64_t number = 1) {
    return move.step(Taken{SessionId{router}, number, std::move(keys), false}, now_);
  }

  Actions fenced_ack(Migration& move, const std::string& router,
                     std::vector<std::string> keys = {}) {
    return move.step(FencedAcked{SessionId{router}, std::move(keys), false, {}}, now_);
  }

  ring::Document document_;
  ServerFacts facts_a_;
  ServerFacts facts_b_;
  Instant now_{1};
};

template <class Wanted>
bool has(const Actions& actions) {
  return std::ranges::any_of(
      actions, [](const Action& action) { return std::holds_alternative<Wanted>(action); });
}

bool writes(const Actions& actions, Change change) {
  return std::ranges::any_of(actions, [&](const Action& action) {
    const auto* write = std::get_if<Write>(&action);
    return write != nullptr && write->change == change;
  });
}

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
TEST(Migration, TakesDirtySetsWhileItScans) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"a"}, .last = false}, story.now_);
  story.now_ += milliseconds{101};
  const Actions takes = move.step(Tick{}, story.now_);
  ASSERT_EQ(takes.size(), 2U);  // one a router
  EXPECT_EQ(std::get<Take>(takes.front()).number, 1U);
  EXPECT_TRUE(move.step(Tick{}, story.now_ + seconds{1}).empty()) << "one take at a time";
  EXPECT_TRUE(story.take(move, "r1", {"dirty"}).empty());
  const Actions copies = story.take(move, "r2", {});
  ASSERT_TRUE(has<CopyKeys>(copies));
  EXPECT_EQ(std::get<CopyKeys>(copies.front()).keys, std::vector<std::string>{"dirty"});
  // The rounds go on from there.
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  move.step(Copied{.keys = 1}, story.now_);
  const Actions round = move.step(Copied{.keys = 1}, story.now_);
  ASSERT_TRUE(has<Take>(round));
  EXPECT_EQ(std::get<Take>(round.front()).number, 2U);
}

// Else a scan of hours would wait for one large key at each take.
TEST(Migration, WhatIsCopiedInPiecesWaitsForTheRounds) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"big"}, .last = false}, story.now_);
  move.step(Copied{.keys = 1, .big = {"big"}}, story.now_);
  story.now_ += milliseconds{101};
  move.step(Tick{}, story.now_);
  story.take(move, "r1", {"big", "small"});
  const Actions meanwhile = story.take(move, "r2", {});
  ASSERT_TRUE(has<CopyKeys>(meanwhile));
  EXPECT_EQ(std::get<CopyKeys>(meanwhile.front()).keys, std::vector<std::string>{"small"});
  move.step(Copied{.keys = 1}, story.now_);
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  story.take(move, "r1", {}, 2);
  const Actions round = story.take(move, "r2", {}, 2);
  ASSERT_TRUE(has<CopyKeys>(round));
  EXPECT_EQ(std::get<CopyKeys>(round.front()).keys, std::vector<std::string>{"big"});
}

// The take on its way may hand over keys: the rounds wait for it.
TEST(Migration, ATakeOnItsWayIsAnsweredBeforeTheRoundsBegin) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  story.now_ += milliseconds{101};
  EXPECT_TRUE(has<Take>(move.step(Tick{}, story.now_)));
  EXPECT_TRUE(move.step(ScanPage{.keys = {}, .last = true}, story.now_).empty());
  story.take(move, "r1", {"dirty"});
  EXPECT_TRUE(has<CopyKeys>(story.take(move, "r2", {})));
  EXPECT_TRUE(has<Take>(move.step(Copied{.keys = 1}, story.now_)));
}

// A key that is copied in pieces takes longer than a fence may be held.
TEST(Migration, NoFenceWhileABigKeyIsWritten) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"big"}, .last = true}, story.now_);
  move.step(Copied{.keys = 1, .big = {"big"}}, story.now_);
  story.take(move, "r1", {"big"});
  EXPECT_TRUE(has<CopyKeys>(story.take(move, "r2", {})));
  EXPECT_TRUE(has<Take>(move.step(Copied{.keys = 1, .big = {"big"}}, story.now_)));
  story.take(move, "r1", {}, 2);
  EXPECT_TRUE(writes(story.take(move, "r2", {}, 2), Change::kFence));
  story.write(move, Change::kFence);
  story.fenced_ack(move, "r1", {"big"});
  EXPECT_TRUE(writes(story.fenced_ack(move, "r2"), Change::kAbort));
  EXPECT_TRUE(move.outcome().again);
}

TEST(Migration, ABigKeyThatIsNeverAtRestStaysBehind) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {"big"}, .last = true}, story.now_);
  move.step(Copied{.keys = 1, .big = {"big"}}, story.now_);
  std::uint64_t round = 1;
  for (; move.at() == Step::kRounds && round < 100; ++round) {
    story.take(move, "r1", {"big"}, round);
    story.take(move, "r2", {}, round);
    move.step(Copied{.keys = 1, .big = {"big"}}, story.now_);
  }
  EXPECT_EQ(move.at(), Step::kAbort);
  EXPECT_LT(round, 20U);
  ASSERT_EQ(move.outcome().unmovable.size(), 1U);
  EXPECT_EQ(move.outcome().unmovable[0].key, "big");
}

TEST(Migration, AbortsAWriteOfUnknownKeys) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  EXPECT_TRUE(writes(move.step(Taken{SessionId{"r1"}, 1, {}, true}, story.now_), Change::kAbort));
}

TEST(Migration, ManyDirtyKeysTakeAnotherRound) {
  Story story;
  Migration move = story.make();
  story.to_scan(move);
  move.step(ScanPage{.keys = {}, .last = true}, story.now_);
  std::vector<std::string> many;
  for (int i = 0; i < 1'000; ++i) many.push_back("k" + std::to_string(i));
  story.take(move, "r1", many);
  EXPECT_TRUE(has<CopyKeys>(story.take(move, "r2", {})));
  EXPECT_TRUE(has<Take>(move.step(Copied{.keys = 1'000, .bytes = 1, .unmovable = {}}, story.now_)));
  EXPECT_TRUE(story.take(move, "r1", {}, 1).empty()) << "a late batch of the round before";
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

// Rule 26: fenced first, then old connections are ended, then every router has let go.
TEST(Migration, ATakingBackIsFencedAndCopiesNothing) {
  Story story;
  Migration move = story.make();
  story.to_fenced(move);
  story.fenced_ack(move, "r1");
  story.fenced_ack(move, "r2");
  move.step(Identified{story.facts_a_, story.facts_b_}, story.now_);
  story.write(move, Change::kCommit);
  story.document_ = *ring::judge_leftover(story.document_, story.document_.leftovers.at(0),
                                          ring::HolderState::kLost);

  Migration back(story.document_.leftovers.at(0), {.limits = {}, .mutations = {}});
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

}  // namespace
}  // namespace cleave::migrate
