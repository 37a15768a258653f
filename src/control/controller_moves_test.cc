// A person's orders about moves.
#include <gtest/gtest.h>

#include "control/controller_testing.h"

namespace cleave::control {
namespace {

using coord::Faults;

// ---- moves --------------------------------------------------------------------------------------

TEST_F(ControllerTest, AMoveByOrderIsToldWhenItBeginsAndWhenItEnds) {
  lead();
  put_keys(kA, 5, kA);
  const Result<MoveId> begun = move(kA, kB);
  ASSERT_TRUE(begun) << begun.error().message;
  ASSERT_EQ(told("order").size(), 1U);
  EXPECT_EQ(told("order")[0].move->id, *begun);
  EXPECT_EQ(told("order")[0].move->source, "a");
  EXPECT_EQ(told("order")[0].move->destination, "b");
  ASSERT_TRUE(loop.run_until([this] { return !told("moved").empty(); }));
  EXPECT_EQ(told("moved")[0].reason, "a person wants it");
  EXPECT_EQ(told("moved")[0].move->keys, 5U);
  EXPECT_NE(told("moved")[0].real.find("5 keys"), std::string::npos);
  const Status status = orders().status();
  EXPECT_EQ(status.totals.committed, 1U);
  EXPECT_EQ(status.totals.keys, 5U);
  ASSERT_EQ(status.ended.size(), 1U);
  EXPECT_EQ(status.decisions.front().kind, "moved") << "the newest first";
}

TEST_F(ControllerTest, WhatItsOwnerHasAlreadyNeedsNoMove) {
  lead();
  expect_error(move(kA, kA), Code::kConflict, "node a owns that already");
}

TEST_F(ControllerTest, AMoveThatIsRefusedIsNotToldAsOrdered) {
  lead();
  b.values.erase("cleave:{owner}");
  expect_error(move(kA, kB), Code::kConflict, "does not carry this pool's ownership marker");
  loop.run_for(milliseconds{100});
  EXPECT_TRUE(told("order").empty());
  ASSERT_EQ(told("refused").size(), 1U);
  EXPECT_EQ(orders().status().totals.aborted, 0U) << "it never began";
}

TEST_F(ControllerTest, AMoveToANodeThatIsNotThereIsToldAsRefused) {
  lead();
  expect_error(answer<MoveId>([&](auto done) {
                 orders().moves().move({.ranges = owned_by(kA),
                                        .source = kA,
                                        .destination = NodeId{9},
                                        .reason = "typed wrongly",
                                        .now = {}},
                                       done);
               }),
               Code::kNotFound, "no such node");
  ASSERT_EQ(told("refused").size(), 1U);
  EXPECT_EQ(told("refused")[0].reason, "move: typed wrongly: no such node");
}

TEST_F(ControllerTest, AMoveThatWaitsTooLongIsTakenBack) {
  lead();
  r2.silent = true;
  const Result<MoveId> first = move(kA, kB);
  ASSERT_TRUE(first);
  const Result<MoveId> second = move(kA, kC);
  expect_error(second, Code::kUnavailable,
               "move " + std::to_string(first->value()) + " is not over yet");
  ASSERT_EQ(told("refused").size(), 1U);
  EXPECT_NE(told("refused")[0].reason.find("move: a person wants it: a node sends"),
            std::string::npos);
}

TEST_F(ControllerTest, AMoveThatTheCoordinatorKeptFromBeginningIsTheCoordinatorsFault) {
  lead();
  coordinator.read_only = true;
  const Result<MoveId> moved = move(kA, kB);
  expect_error(moved, Code::kUnavailable, "coordinator: it takes no writes since");
}

// Before it has been slow for long enough to be called away.
TEST_F(ControllerTest, AMoveThatASlowCoordinatorKeptFromBeginningMayBeOrderedAgain) {
  lead();
  coordinator.slow = seconds{4};
  expect_error(move(kA, kB), Code::kUnavailable, "coordinator: it does not answer");
  EXPECT_EQ(orders().status().coordinator_state, CoordinatorState::kOk);
  coordinator.slow = {};
  loop.run_for(seconds{10});
  EXPECT_TRUE(document().moves.empty()) << "it is aborted where it began all the same";
  EXPECT_TRUE(move(kA, kB));
}

TEST_F(ControllerTest, WhereNobodyMovesStatusShowsWhatTheDocumentSays) {
  follow();
  change([this](const ring::Document& now) {
    ring::MoveRequest wanted = request(kA, kB);
    return ring::begin_move(now, wanted);
  });
  loop.run_for(milliseconds{10});
  const Status status = orders().status();
  ASSERT_EQ(status.moves.size(), 1U);
  EXPECT_EQ(status.moves[0].step, "copying");
  EXPECT_EQ(status.moves[0].waits_for, "the leader knows");
  EXPECT_TRUE(status.nodes.empty());
}

// ---- aborts -------------------------------------------------------------------------------------

TEST_F(ControllerTest, AnAbortByOrderIsTheReasonThatIsTold) {
  lead();
  r2.silent = true;
  const Result<MoveId> begun = move(kA, kB);
  expect_error(abort(MoveId{begun->value() + 1}), Code::kNotFound, "no move of that id");
  EXPECT_TRUE(abort(*begun));
  ASSERT_TRUE(loop.run_until([this] { return !told("aborted").empty(); }));
  EXPECT_EQ(told("aborted")[0].reason, "aborted by order");
  EXPECT_EQ(told("abort").size(), 1U);
  EXPECT_EQ(orders().status().totals.aborted, 1U);
}

TEST_F(ControllerTest, AnAbortThatWasNotWrittenIsForgotten) {
  lead();
  r2.silent = true;
  const Result<MoveId> begun = move(kA, kB);
  coordinator.read_only = true;
  expect_error(abort(*begun), Code::kUnavailable, "coordinator:");
  coordinator.read_only = false;
  loop.run_for(seconds{1});
  change([&](const ring::Document& now) {
    return ring::abort_move(now, *begun, now.moves.at(0).phase_epoch);
  });
  ASSERT_TRUE(loop.run_until([this] { return !told("aborted").empty(); }));
  EXPECT_EQ(told("aborted")[0].reason, "aborted by another");
}

TEST_F(ControllerTest, AnAbortWhoseAnswerWasLostIsStillTheReason) {
  lead();
  r2.silent = true;
  const Result<MoveId> begun = move(kA, kB);
  coordinator.next_writes = {Faults::Loss::kReply};
  coordinator.after_write = [this] { coordinator.away = true; };
  EXPECT_EQ(abort(*begun).error().code, Code::kTimeout);
  coordinator.away = false;
  ASSERT_TRUE(loop.run_until([this] { return !told("aborted").empty(); }));
  EXPECT_EQ(told("aborted")[0].reason, "aborted by order");
}

// Rule 11: whoever holds too long.
TEST_F(ControllerTest, AHeldMoveIsAbortedInItsPhaseOnly) {
  follow();
  change([this](const ring::Document& now) { return ring::begin_move(now, request(kA, kB)); });
  loop.run_for(milliseconds{10});
  const ring::Move shown = document().moves.at(0);
  control().fence_keeper().abort_held_move(shown.id, Epoch{shown.phase_epoch.value() + 1});
  loop.run_for(seconds{1});
  EXPECT_EQ(document().moves.size(), 1U) << "by equality (rule 4)";
  control().fence_keeper().abort_held_move(shown.id, shown.phase_epoch);
  EXPECT_TRUE(loop.run_until([this] { return document().moves.empty(); }));
}

TEST_F(ControllerTest, AllMovesAreAbortedWithThoseThatWait) {
  lead();
  r2.silent = true;
  ASSERT_TRUE(move(kA, kB));
  ASSERT_TRUE(move(kB, kC));
  std::optional<Result<MoveId>> waiting;
  orders().moves().move(request(kC, kB), [&](Result<MoveId> begun) { waiting = std::move(begun); });
  loop.run_for(milliseconds{100});
  const Result<std::uint64_t> aborted = abort_all();
  ASSERT_TRUE(aborted) << aborted.error().message;
  EXPECT_EQ(*aborted, 2U);
  ASSERT_TRUE(waiting.has_value());
  expect_error(*waiting, Code::kUnavailable, "aborted by order");
  ASSERT_TRUE(loop.run_until([this] { return told("aborted").size() == 2; }));
  for (const DecisionRecord& each : told("aborted")) EXPECT_EQ(each.reason, "aborted by order");
  EXPECT_FALSE(document().frozen);
  EXPECT_TRUE(document().moves.empty());
}

TEST_F(ControllerTest, WhereNothingMovesThereIsNothingToAbort) {
  lead();
  expect_error(abort_all(), Code::kConflict, "no move is under way");
  EXPECT_TRUE(abort_all(MoveOrders::Then::kFreeze)) << "but the pool can be frozen";
  EXPECT_TRUE(document().frozen);
}

TEST_F(ControllerTest, FreezingAbortsInTheSameChange) {
  lead();
  r2.silent = true;
  ASSERT_TRUE(move(kA, kB));
  const Epoch before = document().epoch;
  EXPECT_EQ(*abort_all(MoveOrders::Then::kFreeze), 1U);
  EXPECT_EQ(document().epoch, Epoch{before.value() + 1});
  EXPECT_TRUE(document().frozen);
  EXPECT_TRUE(document().moves.empty());
  expect_error(move(kB, kC), Code::kConflict, "frozen");
}

// It has no place in the document yet.
TEST_F(ControllerTest, AMoveThatOnlyBeginsIsForgottenWithoutAWrite) {
  lead();
  a.silent = true;
  std::optional<Result<MoveId>> begun;
  orders().moves().move(request(kA, kB), [&](Result<MoveId> said) { begun = std::move(said); });
  loop.run_for(milliseconds{50});
  const Epoch before = document().epoch;
  const Result<std::uint64_t> aborted = abort_all();
  ASSERT_TRUE(aborted) << aborted.error().message;
  EXPECT_EQ(*aborted, 0U);
  EXPECT_EQ(document().epoch, before);
  ASSERT_TRUE(loop.run_until([&] { return begun.has_value(); }));
  EXPECT_EQ(begun->error().message, "aborted by order");
}

TEST_F(ControllerTest, AnAbortOfAllThatWasNotWrittenForgetsNothing) {
  lead();
  r2.silent = true;
  ASSERT_TRUE(move(kA, kB));
  std::optional<Result<MoveId>> waiting;
  orders().moves().move(request(kA, kC), [&](Result<MoveId> begun) { waiting = std::move(begun); });
  coordinator.read_only = true;
  const auto aborted = answer<std::uint64_t>([&](auto done) {
    orders().moves().abort_all(MoveOrders::Then::kGoOn, done);
    EXPECT_FALSE(waiting.has_value());
  });
  EXPECT_EQ(aborted.error().code, Code::kUnavailable);
  coordinator.read_only = false;
  EXPECT_EQ(document().moves.size(), 1U);
}

}  // namespace
}  // namespace cleave::control
