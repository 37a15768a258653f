// What each server and router of a move can say no to, and when.
#include <gtest/gtest.h>

#include "control/moves/move_driver_testing.h"

namespace cleave::control {
namespace {

constexpr const char* kFull = "OOM command not allowed when used memory > 'maxmemory'.";

// ---- as it should be ----------------------------------------------------------------------------

TEST_F(MoveDriverTest, AMoveCopiesCommitsAndLeavesAnEntryOfTheSource) {
  start();
  expect_committed();
  EXPECT_EQ(driver_->keys_copied(), keys_.size());
  EXPECT_FALSE(refused_.has_value());
  ASSERT_EQ(document().leftovers.size(), 1U);
  EXPECT_EQ(document().leftovers[0].node, kA);
  EXPECT_EQ(document().leftovers[0].holder, kB);
  EXPECT_EQ(document().leftovers[0].move, **begun_);
  EXPECT_EQ(copies_->at(kA), keys_.size()) << "what lies at the source are copies now";
  EXPECT_EQ(copies_->at(kB), 0U);
}

// Rule 4: by equality.
TEST_F(MoveDriverTest, RoutersAreAskedInThePhaseEpochThatTheDocumentShows) {
  start();
  ASSERT_TRUE(loop.run_until([this] { return r2.times("fenced") > 0; }));
  const ring::Move fenced = document().moves.at(0);
  EXPECT_EQ(r2.epochs.back(), fenced.phase_epoch);
  EXPECT_EQ(r2.epochs.front(), Epoch{fenced.id.value()});
  expect_committed();
}

TEST_F(MoveDriverTest, WhatRoutersNoteIsCopiedAgain) {
  start();
  when(r1, "copying", [this] {
    r1.dirty.push_back({.keys = {keys_[0], keys_[1]}});
    a.values[keys_[0]] = "written meanwhile";
    a.values.erase(keys_[1]);
  });
  // In the fence, and therefore with the last sets.
  when(r2, "fenced", [this] {
    a.values[keys_[2]] = "written last";
    r2.fenced.last.keys = {keys_[2]};
  });
  EXPECT_TRUE(finish().committed);
  EXPECT_EQ(b.values[keys_[0]], "written meanwhile");
  EXPECT_FALSE(b.values.contains(keys_[1])) << "gone at the source: removed (rule 15)";
  EXPECT_EQ(b.values[keys_[2]], "written last");
}

TEST_F(MoveDriverTest, OurOwnKeysStayWhereTheyAre) {
  const std::string marker = b.values["cleave:{owner}"];
  a.values["cleave:{ring}"] = "a's note";
  EXPECT_TRUE(run().committed);
  EXPECT_EQ(b.values["cleave:{owner}"], marker);
  EXPECT_FALSE(b.values.contains("cleave:{ring}"));
}

// ---- refused before it has begun ----------------------------------------------------------------

TEST_F(MoveDriverTest, AServerThatCannotBeReachedIsNamed) {
  for (const End end : {End::kSource, End::kDestination}) {
    backend::VirtualRedis& server = end == End::kSource ? a : b;
    overs_ = told_ = 0;
    server.down = true;
    server.break_connections();
    loop.run_for(milliseconds{100});
    start();
    expect_refused(end == End::kSource ? "the source a (10.0.0.1:6379): connection refused"
                                       : "the destination b (10.0.0.2:6379): connection refused");
    expect_blamed(end);
    server.down = false;
    ASSERT_TRUE(loop.run_until([this] { return connected(kA) && connected(kB); }));
  }
}

TEST_F(MoveDriverTest, AServerThatIsNoPrimaryOrNotOursIsNotWrittenTo) {
  b.role = "slave";
  start();
  expect_refused("the destination is not a primary");
  EXPECT_EQ(b.asked("RESTORE"), 0U);
  overs_ = told_ = 0;
  b.role = "master";
  b.values.erase("cleave:{owner}");
  start();
  expect_refused("the destination does not carry this pool's ownership marker");
  EXPECT_EQ(b.asked("RESTORE"), 0U) << "not even the probe";
}

TEST_F(MoveDriverTest, WhatThePreflightFindsIsSaidOfItsServer) {
  b.errors["RESTORE"] = kFull;
  start();
  expect_refused(std::string("refuses what a move needs: ") + kFull);
  expect_blamed(End::kDestination);
  overs_ = told_ = 0;
  b.errors.clear();
  a.errors["DUMP"] = "NOPERM this user has no permissions to run the 'dump' command";
  start();
  expect_refused("allow it there with: ACL SETUSER default +dump");
  expect_blamed(End::kSource);
}

TEST_F(MoveDriverTest, OneServerUnderTwoNamesIsNoDestination) {
  b.run_id = a.run_id;
  start();
  expect_refused("one server under two names");
}

TEST_F(MoveDriverTest, ClocksThatDifferAreARefusal) {
  b.clock = milliseconds{100};
  start();
  expect_refused("the clocks of source and destination differ");
}

TEST_F(MoveDriverTest, WhatTheDocumentForbidsIsRefused) {
  change([](const ring::Document& now) { return ring::set_frozen(now, true); });
  start();
  expect_refused("frozen");
}

TEST_F(MoveDriverTest, AnotherLeaderDrivesThePool) {
  change([](const ring::Document& now) { return ring::lead(now, kOther); });
  start();
  expect_refused("another leader drives this pool now");
}

// Later nobody may want it.
TEST_F(MoveDriverTest, AMoveBeginsSoonOrNever) {
  coordinator.away = true;
  const Instant asked = loop.now();
  start();
  ASSERT_TRUE(loop.run_until([this] { return told_ > 0; }));
  EXPECT_LE(loop.now() - asked, seconds{2});
  coordinator.away = false;
  loop.run_for(seconds{5});
  expect_refused("coordinator:");
  EXPECT_EQ(document().epoch, Epoch{1});
}

// ---- aborted after it has begun -----------------------------------------------------------------

TEST_F(MoveDriverTest, ASweepThatFailsIsSaidOfItsServer) {
  a.errors["CLIENT LIST"] = "NOPERM no";
  start();
  expect_aborted("the source a (10.0.0.1:6379): CLIENT LIST: NOPERM no");
  expect_blamed(End::kSource);
  overs_ = told_ = 0;
  a.errors.clear();
  b.errors["CLIENT LIST"] = "NOPERM no";
  start();
  expect_aborted("the destination b (10.0.0.2:6379): CLIENT LIST: NOPERM no");
  expect_blamed(End::kDestination);
}

TEST_F(MoveDriverTest, ConnectionsOfOthersAreEndedAtBothEnds) {
  a.strangers[5] = "cleave:gone";
  b.strangers[6] = "cleave:gone.t1";
  b.strangers[7] = "somebody";
  EXPECT_TRUE(run().committed);
  EXPECT_TRUE(a.strangers.empty());
  EXPECT_EQ(b.strangers.size(), 1U) << "who is not ours stays";
}

TEST_F(MoveDriverTest, KeysThatLieAtTheDestinationStopItUntouched) {
  b.page = 2;  // the check goes on to the last page
  const std::vector<std::string> foreign(keys_.begin(), keys_.begin() + 7);
  for (const std::string& key : foreign) b.values[key] = "somebody's";
  start();
  const migrate::Outcome outcome = expect_aborted("the destination holds 7 keys of the range");
  EXPECT_TRUE(outcome.foreign_keys);
  EXPECT_FALSE(refused_.has_value()) << "no server said no";
  for (const std::string& key : foreign) EXPECT_EQ(b.values[key], "somebody's");
  EXPECT_TRUE(document().leftovers.empty()) << "no entry: nothing of ours lies there (rule 13)";
  EXPECT_EQ(std::ranges::count(outcome.why, '\''), 8) << "three examples: " << outcome.why;
}

TEST_F(MoveDriverTest, ACheckThatCannotBeMadeAborts) {
  b.errors["SCAN"] = "LOADING Redis is loading the dataset in memory";
  start();
  expect_aborted("SCAN was refused: LOADING");
  expect_blamed(End::kDestination);
  EXPECT_TRUE(document().leftovers.empty());
}

TEST_F(MoveDriverTest, AScanThatFailsAborts) {
  refuse_when_copying(a, "SCAN", "LOADING Redis is loading the dataset in memory");
  start();
  expect_aborted("the source a (10.0.0.1:6379): SCAN was refused: LOADING");
  expect_blamed(End::kSource);
  EXPECT_EQ(document().leftovers.size(), 1U) << "copies may lie there (rule 22)";
}

TEST_F(MoveDriverTest, ACopyThatFailsIsSaidOfTheServerThatRefusedIt) {
  refuse_when_copying(a, "MEMORY USAGE", "NOPERM no");
  start();
  expect_aborted("the source a");
  expect_blamed(End::kSource);
  overs_ = told_ = 0;
  a.errors.clear();
  change([](const ring::Document& now) { return ring::drop_leftover(now, now.leftovers.at(0)); });
  refuse_when_copying(b, "RESTORE", kFull);
  start();
  expect_aborted(std::string("RESTORE was refused: ") + kFull);
  expect_blamed(End::kDestination);
}

TEST_F(MoveDriverTest, AKeyThatCannotMoveIsNamed) {
  a.sizes[keys_[3]] = std::uint64_t{600} << 20U;
  start();
  const migrate::Outcome outcome = expect_aborted("one key cannot be moved");
  ASSERT_EQ(outcome.unmovable.size(), 1U);
  EXPECT_EQ(outcome.unmovable[0].key, keys_[3]);
  EXPECT_FALSE(refused_.has_value()) << "the next key goes well";
}

TEST_F(MoveDriverTest, ReplicasOfTheDestinationAreWaitedFor) {
  b.replicas = 2;
  b.before = [this](const std::string& command) {
    if (command.starts_with("WAIT")) b.replicas = 1;
  };
  start();
  expect_aborted("only 1 of 2 replicas of the destination have the copies");
  overs_ = told_ = 0;
  b.before = nullptr;
  b.errors["WAIT"] = "NOPERM no";
  for (const std::string& key : keys_) b.values.erase(key);
  change([](const ring::Document& now) { return ring::drop_leftover(now, now.leftovers.at(0)); });
  start();
  expect_aborted("WAIT was refused");
  expect_blamed(End::kDestination);
}

TEST_F(MoveDriverTest, AServerThatBecameAnotherDuringTheMoveAborts) {
  when(r2, "fenced", [this] { b.run_id = "another-life"; });
  start();
  expect_aborted("the destination restarted or failed over during the move");
}

TEST_F(MoveDriverTest, ASourceThatFailedOverAborts) {
  when(r2, "fenced", [this] { a.replid = "another-history"; });
  start();
  expect_aborted("the source restarted or failed over during the move");
}

TEST_F(MoveDriverTest, AClockThatJumpsAborts) {
  when(r2, "fenced", [this] { a.clock = b.clock = milliseconds{100}; });
  start();
  expect_aborted("jumped during the move");
}

TEST_F(MoveDriverTest, AConnectionThatBreaksAbortsBeforeTheCommit) {
  refuse_when_copying(b, "nothing", "");
  when(r2, "copying", [this] { b.down = true, b.break_connections(); });
  start();
  expect_aborted("the destination b");
  expect_blamed(End::kDestination);
}

// ---- routers ------------------------------------------------------------------------------------

TEST_F(MoveDriverTest, ARouterThatIsNotKnownYetIsAskedWhenItIs) {
  directory.known.erase(kOther);
  start();
  loop.run_for(seconds{2});
  EXPECT_EQ(driver_->migration().at(), Step::kAwaitCopying);
  EXPECT_EQ(driver_->migration().waits_for(), "routers r2");
  directory.known[kOther] = &r2;
  expect_committed();
}

TEST_F(MoveDriverTest, ARouterThatNobodyKnowsEndsTheMoveByItsPatience) {
  directory.known.erase(kOther);
  start();
  expect_aborted("no acknowledgement of the copying phase by routers r2");
}

TEST_F(MoveDriverTest, ARouterThatIsLostSightOfDuringTheRoundsIsFoundAgain) {
  when(r2, "copying",
       [this] { loop.after(milliseconds{2}, [this] { directory.known.erase(kOther); }); });
  start();
  loop.run_for(seconds{2});
  EXPECT_EQ(overs_, 0);
  directory.known[kOther] = &r2;
  expect_committed();
}

TEST_F(MoveDriverTest, ARouterThatDoesNotAnswerIsAskedAgain) {
  r2.error = Error{Code::kUnavailable, "connection reset"};
  start();
  loop.run_for(seconds{1});
  EXPECT_GT(r2.times("copying"), 50U);
  r2.error.reset();
  expect_committed();
}

TEST_F(MoveDriverTest, ATakeIsAskedAgainByItsNumber) {
  when(r2, "take 1", [this] { r2.error = Error{Code::kTimeout, "lost"}; });
  start();
  ASSERT_TRUE(loop.run_until([this] { return r2.times("take 1") > 5; }));
  EXPECT_EQ(r2.times("take 2"), 0U) << "the batch that was lost is asked for, not the next one";
  r2.error.reset();
  expect_committed();
}

TEST_F(MoveDriverTest, ARouterThatCannotNameWhatWasWrittenAbortsTheMove) {
  when(r2, "copying", [this] { r2.dirty.push_back({.keys = {}, .whole_range = true}); });
  start();
  expect_aborted("a command whose keys are not all known");
  overs_ = told_ = 0;
  for (const std::string& key : keys_) b.values.erase(key);
  change([](const ring::Document& now) { return ring::drop_leftover(now, now.leftovers.at(0)); });
  when(r2, "fenced", [this] { r2.fenced.last.whole_range = true; });
  start();
  expect_aborted("a command whose keys are not all known");
}

TEST_F(MoveDriverTest, ARouterThatDoesNotAcknowledgeTheFenceEndsIt) {
  when(r2, "fenced", [this] { r2.silent = true; });
  start();
  ASSERT_TRUE(loop.run_until([this] { return r2.times("fenced") > 0; }));
  const Instant fenced = loop.now();
  ASSERT_TRUE(loop.run_until([this] { return document().moves.empty(); }));
  EXPECT_LE(loop.now() - fenced, Limits{}.fence_hold_max);
  expect_aborted("the fence would have been held too long (step await-fenced)");
}

TEST_F(MoveDriverTest, ARouterThatRefusesTheFenceIsAskedAgainWhileItLasts) {
  when(r2, "fenced", [this] { r2.error = Error{Code::kConflict, "another phase epoch"}; });
  start();
  ASSERT_TRUE(loop.run_until([this] { return r2.times("fenced") > 3; }));
  r2.error.reset();
  expect_committed();
}

TEST_F(MoveDriverTest, ARouterThatSpokeToAnotherLifeOfTheSourceAborts) {
  when(r2, "fenced", [this] { r2.fenced.incarnations[kA] = {{"before", "a-repl"}}; });
  start();
  expect_aborted("router r2 spoke to another life of the source");
}

TEST_F(MoveDriverTest, WhereTheSourceEvictsNoElementsAreAskedFor) {
  ASSERT_TRUE(links_.store(kA)->may_evict()) << "until its facts are known";
  when(r2, "copying", [this] { a.sizes[keys_[0]] = std::uint64_t{20} << 20U; });
  start();
  loop.run_for(seconds{1});
  EXPECT_TRUE(r2.watched.empty());
}

}  // namespace
}  // namespace cleave::control
