// What ends a move from outside of it: answers of the coordinator that are lost, other routers, a
// person, the end of its driver; and the taking back.
#include <gtest/gtest.h>

#include "control/moves/move_driver_testing.h"

namespace cleave::control {
namespace {

using coord::Faults;

// ---- the document -------------------------------------------------------------------------------

TEST_F(MoveDriverTest, AnAnswerOfTheCoordinatorThatIsLostIsSettledByWhatItShows) {
  for (const Faults::Loss loss : {Faults::Loss::kReply, Faults::Loss::kRequest}) {
    for (std::size_t lost = 0; lost < 4; ++lost) {  // begin, enter, fence, commit
      SCOPED_TRACE(lost);
      overs_ = told_ = 0;
      coordinator.next_writes.assign(lost, Faults::Loss::kNone);
      coordinator.next_writes.push_back(loss);
      start();
      EXPECT_TRUE(finish().committed) << outcome_->why;
      // As it was.
      change([this](const ring::Document& now) -> Result<ring::Document> {
        ring::Document before = first_document();
        before.epoch = Epoch{now.epoch.value() + 1};
        return before;
      });
      for (const std::string& key : keys_) b.values.erase(key);
      loop.run_for(seconds{1});
    }
  }
}

TEST_F(MoveDriverTest, WhoeverAbortsTheMoveItIsOver) {
  for (const char* question : {"copying", "take 1", "fenced"}) {
    SCOPED_TRACE(question);
    overs_ = told_ = 0;
    when(r2, question, [this] {
      change([](const ring::Document& now) { return ring::lead(now, kOurs); });
      change([](const ring::Document& now) -> Result<ring::Document> {
        ring::Document back = now;
        back.leader.term = Term{1};  // so that the next one can begin
        back.epoch = Epoch{now.epoch.value() + 1};
        return back;
      });
    });
    start();
    expect_aborted("aborted by another");
    for (const std::string& key : keys_) b.values.erase(key);
    change([](const ring::Document& now) { return ring::drop_leftover(now, now.leftovers.at(0)); });
  }
}

TEST_F(MoveDriverTest, AnAbortBetweenBeginAndEntryLeavesNoEntry) {
  auto with = options();
  with.begun = [this](Result<MoveId> begun) {
    ++told_;
    begun_ = begun;
    coordinator.before_write = [this, id = *begun] {
      change([id](const ring::Document& now) { return ring::abort_by_order(now, {{id}}); });
    };
  };
  driver_ = std::make_unique<MoveDriver>(
      ring::MoveRequest{
          .ranges = ranges_, .source = kA, .destination = kB, .reason = "test", .now = {}},
      with);
  driver_->start();
  expect_aborted("aborted by another");
  EXPECT_TRUE(document().leftovers.empty());
  EXPECT_EQ(b.asked("RESTORE key"), 0U);
}

TEST_F(MoveDriverTest, ARouterThatJoinsInTheFenceCountsAsBornFenced) {
  when(r2, "fenced", [this] {
    change([](const ring::Document& now) { return ring::join(now, {.session = SessionId{"r3"}}); });
  });
  start();
  expect_committed();
  EXPECT_TRUE(ring::has_router(document(), SessionId{"r3"}));
}

// ---- orders -------------------------------------------------------------------------------------

TEST_F(MoveDriverTest, APersonMayAbortAtAnyStepBeforeTheCommit) {
  for (const Step step : {Step::kIdentify, Step::kBegin, Step::kSweep, Step::kCheck, Step::kEnter,
                          Step::kAwaitCopying, Step::kScan, Step::kRounds, Step::kFence,
                          Step::kAwaitFenced, Step::kVerify}) {
    SCOPED_TRACE(to_string(step));
    overs_ = told_ = 0;
    start();
    ASSERT_TRUE(loop.run_until([&] { return driver_->migration().at() == step; }));
    driver_->abort("aborted by order");
    const migrate::Outcome outcome = finish();
    EXPECT_FALSE(outcome.committed);
    EXPECT_EQ(outcome.why, "aborted by order");
    EXPECT_EQ(begun_->has_value(), step != Step::kIdentify);
    EXPECT_EQ(owned_by(kA), ranges_);
    for (const std::string& key : keys_) b.values.erase(key);
    if (document().leftovers.empty()) continue;
    change([](const ring::Document& now) { return ring::drop_leftover(now, now.leftovers.at(0)); });
    loop.run_for(milliseconds{100});
  }
}

TEST_F(MoveDriverTest, WhatIsOnItsWayToTheCommitIsNotAborted) {
  start();
  ASSERT_TRUE(loop.run_until([this] { return driver_->migration().at() == Step::kCommit; }));
  driver_->abort("aborted by order");
  expect_committed();
}

TEST_F(MoveDriverTest, ADriverThatGoesInTheMiddleIsHeardOfNoMore) {
  for (const Step step : {Step::kIdentify, Step::kBegin, Step::kSweep, Step::kCheck, Step::kEnter,
                          Step::kAwaitCopying, Step::kScan, Step::kRounds, Step::kFence,
                          Step::kAwaitFenced, Step::kVerify, Step::kCommit}) {
    SCOPED_TRACE(to_string(step));
    overs_ = 0;
    start();
    ASSERT_TRUE(loop.run_until([&] { return driver_->migration().at() == step; }));
    driver_.reset();
    loop.run_for(seconds{5});
    EXPECT_EQ(overs_, 0);
    // Rule 3: whoever leads next ends what it left; here as it was.
    change([this](const ring::Document& now) -> Result<ring::Document> {
      ring::Document before = first_document();
      before.epoch = Epoch{now.epoch.value() + 1};
      return before;
    });
    for (const std::string& key : keys_) b.values.erase(key);
    loop.run_for(seconds{1});
  }
}

// ---- taking back (rule 26) ----------------------------------------------------------------------

class TakingBack : public MoveDriverTest {
 protected:
  // The move went well, and afterwards b lost its data: a's copies are kept.
  TakingBack() {
    EXPECT_TRUE(run().committed);
    overs_ = told_ = 0;
    change([](const ring::Document& now) {
      return ring::keep_leftover(now, now.leftovers.at(0), "b lost its data");
    });
    for (const std::string& key : keys_) b.values.erase(key);
    r1.asked.clear();
    r2.asked.clear();
    loop.run_for(milliseconds{100});
  }

  // From b, which owns the range, to a, which has what is kept.
  MoveDriver& start_back(ring::Leftover kept) {
    MoveDriver::Options with = options();
    std::swap(with.source, with.destination);
    driver_ = std::make_unique<MoveDriver>(std::move(kept), std::move(with));
    driver_->start();
    return *driver_;
  }
};

TEST_F(TakingBack, WhatIsKeptBecomesTheRangeAgainAndNothingIsCopied) {
  const std::size_t swept = a.asked("CLIENT LIST");
  start_back(document().leftovers.at(0));
  EXPECT_TRUE(finish().committed) << outcome_->why;
  EXPECT_EQ(owned_by(kA), ranges_);
  EXPECT_EQ(r2.times("copying"), 0U);
  EXPECT_EQ(r2.times("fenced"), 1U) << "every router holds first";
  EXPECT_GT(a.asked("CLIENT LIST"), swept);
  ASSERT_EQ(document().leftovers.size(), 1U);
  EXPECT_EQ(document().leftovers[0].node, kB) << "what lies there is cleaned";
  for (const std::string& key : keys_) EXPECT_EQ(a.values[key], "value of " + key);
}

TEST_F(TakingBack, AnEntryThatIsNotKeptAnyMoreIsNotTakenBack) {
  const ring::Leftover kept = document().leftovers.at(0);
  change([&](const ring::Document& now) { return ring::release_leftover(now, kept); });
  start_back(kept);
  EXPECT_FALSE(finish().committed);
  EXPECT_FALSE(*begun_);
}

TEST_F(TakingBack, AnotherServerThanTheEntrysHasNothingToGive) {
  ring::Leftover kept = document().leftovers.at(0);
  kept.server = "the-server-of-then";
  backend::RingNote note;
  note.server = "another";
  a.values["cleave:{ring}"] = backend::to_text(note);
  start_back(kept);
  EXPECT_FALSE(finish().committed);
  EXPECT_NE(outcome_->why.find("is not the one at that address now"), std::string::npos);
}

TEST_F(TakingBack, AFenceThatIsNotAcknowledgedLeavesItKept) {
  when(r2, "fenced", [this] { r2.silent = true; });
  start_back(document().leftovers.at(0));
  EXPECT_FALSE(finish().committed);
  ASSERT_EQ(document().leftovers.size(), 1U);
  EXPECT_TRUE(document().leftovers[0].kept());
  EXPECT_EQ(owned_by(kA), ring::RangeSet{});
}

}  // namespace
}  // namespace cleave::control
