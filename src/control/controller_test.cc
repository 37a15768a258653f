// Who may be asked, what a router tells of its pool, and how it ends. (Moves that go well, with
// clients, are played by sim/.)
#include <gtest/gtest.h>

#include "control/controller_testing.h"

namespace cleave::control {
namespace {

using coord::Faults;

// ---- who may be asked ---------------------------------------------------------------------------

TEST_F(ControllerTest, BeforeItHasJoinedNothingCanBeOrdered) {
  be_alone();
  const std::string joined = "has not joined its ring yet";
  expect_error(move(kA, kB), Code::kUnavailable, joined);
  expect_error(answer<MoveId>([&](auto done) { orders().moves().take_back(MoveId{1}, done); }),
               Code::kUnavailable, joined);
  expect_error(answer([&](auto done) { orders().ranges().cut({}, done); }), Code::kUnavailable,
               joined);
  expect_error(answer<Presplit>([&](auto done) { orders().ranges().presplit({}, done); }),
               Code::kUnavailable, joined);
  expect_error(answer<std::uint64_t>([&](auto done) { orders().ranges().flatten(done); }),
               Code::kUnavailable, joined);
  expect_error(answer<std::uint64_t>([&](auto done) { orders().moves().approve("x", done); }),
               Code::kUnavailable, joined);
  expect_error(answer<std::uint64_t>([&](auto done) { control().key_counter().count_keys(done); }),
               Code::kUnavailable, joined);
  expect_error(abort(MoveId{1}), Code::kNotFound, "no move of that id");
  expect_error(freeze(true), Code::kUnavailable, "coordinator: it does not answer since");
  EXPECT_EQ(orders().status().view, nullptr);
  EXPECT_NE(orders().status().coordinator, "ok");
  EXPECT_EQ(orders().status().coordinator_state, CoordinatorState::kAway);
}

TEST_F(ControllerTest, WhatOnlyTheLeaderCanDoNamesTheLeader) {
  follow();
  const std::string leader = "ask the leader r2";
  expect_error(move(kA, kB), Code::kUnavailable, leader);
  expect_error(answer<MoveId>([&](auto done) { orders().moves().take_back(MoveId{1}, done); }),
               Code::kUnavailable, leader);
  expect_error(answer<Presplit>([&](auto done) { orders().ranges().presplit({}, done); }),
               Code::kUnavailable, leader);
  expect_error(answer<std::uint64_t>([&](auto done) { orders().ranges().flatten(done); }),
               Code::kUnavailable, leader);
  expect_error(answer<std::uint64_t>([&](auto done) { orders().moves().approve("x", done); }),
               Code::kUnavailable, leader);
  expect_error(answer<Survey>([&](auto done) { orders().strays().survey(done); }),
               Code::kUnavailable, leader);
  expect_error(answer([&](auto done) { orders().strays().adopt({}, done); }), Code::kUnavailable,
               leader);
  expect_error(answer([&](auto done) { control().recovery().take_over({}, done); }),
               Code::kUnavailable, leader);
  expect_error(answer<StrayList>([&](auto done) { orders().strays().list_strays(done); }),
               Code::kUnavailable, leader);
  expect_error(answer<StraysHandled>([&](auto done) { orders().strays().move_strays({}, done); }),
               Code::kUnavailable, leader);
  expect_error(answer<StrayDumps>([&](auto done) { orders().strays().read_strays({}, done); }),
               Code::kUnavailable, leader);
  expect_error(
      answer<StraysHandled>([&](auto done) { orders().strays().remove_strays(kA, {}, done); }),
      Code::kUnavailable, leader);
  expect_error(answer<std::uint64_t>([&](auto done) { orders().strays().accept_strays(done); }),
               Code::kUnavailable, leader);
  expect_error(answer([&](auto done) { orders().nodes().remove_node(kC, Force::kNo, done); }),
               Code::kUnavailable, "or say --force");
  expect_error(
      answer<std::uint64_t>([&](auto done) { control().key_counter().count_as_leader(done); }),
      Code::kUnavailable, leader);
}

// Whoever is asked: an edit of the document needs no leader.
TEST_F(ControllerTest, EditsAreCarriedOutByAnyRouter) {
  follow();
  EXPECT_TRUE(freeze(true));
  EXPECT_TRUE(document().frozen);
  EXPECT_TRUE(freeze(false));
  EXPECT_FALSE(document().frozen);
  EXPECT_TRUE(answer([&](auto done) { orders().pool().set_mode(ring::Mode::kApprove, done); }));
  EXPECT_EQ(document().mode, ring::Mode::kApprove);
  EXPECT_TRUE(answer([&](auto done) { orders().pool().allow_old_readers(done); }));
  EXPECT_TRUE(document().old_readers);
  EXPECT_EQ(told("freeze").size(), 1U);
  EXPECT_EQ(told("resume").size(), 1U);
  EXPECT_EQ(told("mode").size(), 1U);
  EXPECT_EQ(told("downgrade").size(), 1U);
}

TEST_F(ControllerTest, WithNoLeaderAtAllThatIsSaid) {
  others_are_there(true);
  change([](const ring::Document& now) { return ring::remove_router(now, kOther); });
  coordinator.read_only = true;  // nobody can take the term
  make();
  loop.run_for(seconds{1});
  coordinator.read_only = false;
  ASSERT_TRUE(loop.run_until([this] { return orders().status().view != nullptr; }));
  coordinator.read_only = true;
  const Result<MoveId> moved = move(kA, kB);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().message, "this router does not lead; ask the leader");
}

// ---- the coordinator ----------------------------------------------------------------------------

TEST_F(ControllerTest, AnOrderIsAnsweredInTimeAndNothingIsDoneLater) {
  lead();
  coordinator.away = true;
  expect_error(freeze(true), Code::kUnavailable, "coordinator: it does not answer since");
  coordinator.away = false;
  loop.run_for(seconds{5});
  EXPECT_FALSE(document().frozen);
  EXPECT_TRUE(told("freeze").empty());
}

TEST_F(ControllerTest, WhatBecameOfAnUnknownOutcomeIsToldWhenItIsKnown) {
  lead();
  coordinator.next_writes = {Faults::Loss::kReply};
  coordinator.after_write = [this] { coordinator.away = true; };
  std::optional<Result<void>> settled;
  const Result<void> frozen = answer([&](auto done) {
    orders().pool().freeze(true, [this, &settled, done](Result<void> result) {
      orders().when_settled([&settled](Result<void> told) { settled = std::move(told); });
      done(std::move(result));
    });
  });
  expect_error(frozen, Code::kTimeout, "coordinator:");
  EXPECT_FALSE(settled.has_value());
  EXPECT_TRUE(told("freeze").empty()) << "not before it is known";
  coordinator.away = false;
  ASSERT_TRUE(loop.run_until([&] { return settled.has_value(); }));
  EXPECT_TRUE(settled->has_value());
  EXPECT_EQ(told("freeze").size(), 1U);
}

TEST_F(ControllerTest, AnOrderThatNeverArrivedIsSaidToBeLost) {
  lead();
  coordinator.next_writes = {Faults::Loss::kRequest};
  coordinator.after_write = [this] { coordinator.away = true; };
  std::optional<Result<void>> settled;
  const Result<void> frozen = answer([&](auto done) {
    orders().pool().freeze(true, [this, &settled, done](Result<void> result) {
      orders().when_settled([&settled](Result<void> told) { settled = std::move(told); });
      done(std::move(result));
    });
  });
  EXPECT_EQ(frozen.error().code, Code::kTimeout);
  coordinator.away = false;
  ASSERT_TRUE(loop.run_until([&] { return settled.has_value(); }));
  EXPECT_EQ(settled->error().code, Code::kConflict);
  EXPECT_TRUE(told("freeze").empty());
  EXPECT_FALSE(document().frozen);
}

TEST_F(ControllerTest, NobodyIsTakenForSomebodyWhoWaits) {
  lead();
  bool told = false;
  orders().when_settled([&](const Result<void>&) { told = true; });
  EXPECT_TRUE(freeze(true));
  loop.run_for(seconds{5});
  EXPECT_FALSE(told);
}

// ---- counting keys ------------------------------------------------------------------------------

TEST_F(ControllerTest, TheLeaderCountsTheKeysOfAllServersWithoutItsOwn) {
  lead();
  put_keys(kA, 3, kA);
  put_keys(kB, 4, kB);
  EXPECT_EQ(*answer<std::uint64_t>([&](auto done) { control().key_counter().count_keys(done); }),
            7U);
}

TEST_F(ControllerTest, AnotherRouterAsksTheLeaderOneQuestionAtATime) {
  follow();
  r2.keys = 42;
  int answered = 0;
  for (int i = 0; i < 5; ++i) {
    control().key_counter().count_keys([&](Result<std::uint64_t> keys) {
      EXPECT_EQ(keys.value_or(0), 42U);
      ++answered;
    });
  }
  ASSERT_TRUE(loop.run_until([&] { return answered == 5; }));
  EXPECT_EQ(r2.times("keys"), 2U) << "who asks meanwhile waits for the next one";
}

TEST_F(ControllerTest, AQuestionThatNobodyAnswersIsGivenUp) {
  follow();
  r2.silent = true;
  int answered = 0;
  const auto count = [&] {
    control().key_counter().count_keys([&](const Result<std::uint64_t>&) { ++answered; });
  };
  count();
  loop.run_for(seconds{3});
  r2.silent = false;
  count();
  loop.run_for(seconds{1});
  EXPECT_EQ(answered, 1);
  EXPECT_EQ(r2.times("keys"), 2U);
}

TEST_F(ControllerTest, ALeaderThatIsNotKnownCannotBeAsked) {
  follow();
  directory.known.erase(kOther);
  expect_error(answer<std::uint64_t>([&](auto done) { control().key_counter().count_keys(done); }),
               Code::kUnavailable, "ask the leader r2");
}

// ---- recovery -----------------------------------------------------------------------------------

TEST_F(ControllerTest, WhereThereIsARingNoneIsBegunOrRestored) {
  lead();
  const auto situation =
      answer<RingSituation>([&](auto done) { control().recovery().situation(done); });
  EXPECT_TRUE(situation->has_ring);
  const std::string has = "the coordinator has a ring of this pool";
  expect_error(answer([&](auto done) { control().recovery().begin_anew(Force::kYes, done); }),
               Code::kConflict, has);
  expect_error(answer<RestoreReport>([&](auto done) { control().recovery().restore({}, done); }),
               Code::kConflict, has);
}

// ---- the end ------------------------------------------------------------------------------------

TEST_F(ControllerTest, WhoIsRemovedIsTold) {
  follow();
  change([](const ring::Document& now) { return ring::remove_router(now, kOurs); });
  ASSERT_TRUE(loop.run_until([this] { return !removed_.empty(); }));
  EXPECT_NE(removed_.find("session r1 was removed"), std::string::npos);
}

TEST_F(ControllerTest, ATermThatEndsEndsItsMoves) {
  lead();
  r2.silent = true;
  ASSERT_TRUE(move(kA, kB));
  change([](const ring::Document& now) { return ring::lead(now, kOther); });
  loop.run_for(milliseconds{100});
  EXPECT_FALSE(orders().status().leader);
  EXPECT_TRUE(orders().status().moves.empty());
  expect_error(move(kB, kC), Code::kUnavailable, "ask the leader r2");
}

TEST_F(ControllerTest, ACleanStopAbortsLeavesAndEndsTheLease) {
  lead();
  r2.silent = true;
  ASSERT_TRUE(move(kA, kB));
  int stopped = 0;
  control().stop([&] { ++stopped; });
  ASSERT_TRUE(loop.run_until([&] { return stopped > 0; }, seconds{5}));
  EXPECT_FALSE(ring::has_router(document(), kOurs));
  EXPECT_TRUE(document().moves.empty());
  const auto alive = store->alive(loop.now());
  EXPECT_EQ(std::ranges::find(alive, kOurs), alive.end());
  EXPECT_EQ(removed_, "") << "it went of its own accord";
  loop.run_for(seconds{5});
  EXPECT_EQ(stopped, 1);
}

TEST_F(ControllerTest, WhoNeverJoinedStopsAtOnce) {
  be_alone();
  int stopped = 0;
  control().stop([&] { ++stopped; });
  EXPECT_EQ(stopped, 0) << "not within the call";
  EXPECT_TRUE(loop.run_until([&] { return stopped == 1; }, milliseconds{10}));
}

TEST_F(ControllerTest, AMoveThatCannotEndDelaysTheStopNoLongerThanPatienceLasts) {
  lead();
  r2.silent = true;
  ASSERT_TRUE(move(kA, kB));
  coordinator.read_only = true;
  int stopped = 0;
  control().stop([&] { ++stopped; });
  loop.run_for(seconds{6});
  coordinator.read_only = false;
  EXPECT_TRUE(loop.run_until([&] { return stopped == 1; }, seconds{5}));
}

// ---- who is there -------------------------------------------------------------------------------

TEST_F(ControllerTest, ARouterWhoseLeaseIsGoneIsRemoved) {
  lead();
  other_lives_ = false;
  EXPECT_TRUE(
      loop.run_until([this] { return !ring::has_router(document(), kOther); }, seconds{10}));
}

TEST_F(ControllerTest, TheLeaderKnowsWhomItHeardOf) {
  lead();
  loop.run_for(seconds{2});
  for (const RouterStatus& router : orders().status().routers) {
    EXPECT_EQ(router.leader, router.session == kOurs);
    ASSERT_TRUE(router.heard.has_value()) << router.session.value();
    EXPECT_LT(*router.heard, seconds{2});
  }
  r2.silent = true;
  loop.run_for(seconds{5});
  for (const RouterStatus& router : orders().status().routers) {
    if (router.session == kOther) {
      EXPECT_GT(*router.heard, seconds{3});
    }
  }
}

}  // namespace
}  // namespace cleave::control
