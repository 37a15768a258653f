// A person's orders about the ring and what lies on its servers.
#include <gtest/gtest.h>

#include "control/controller_testing.h"

namespace cleave::control {
namespace {

// ---- the ring -----------------------------------------------------------------------------------

TEST_F(ControllerTest, ABoundaryIsLaidWhereThereIsNone) {
  lead();
  const ring::TokenRange range = owned_by(kA).at(0);
  expect_error(answer([&](auto done) { orders().ranges().cut({.at = range.last}, done); }),
               Code::kConflict, "there is a boundary at that token already");
  const Token middle{range.first.value() + (range.last.value() - range.first.value()) / 2};
  EXPECT_TRUE(answer([&](auto done) {
    orders().ranges().cut({.at = middle, .reason = "a person wants it"}, done);
  }));
  const ring::Document after = document();
  EXPECT_TRUE(std::ranges::any_of(after.cuts,
                                  [&](const ring::Cut& cut) { return cut.range.last == middle; }));
  EXPECT_EQ(told("cut").size(), 1U);
  EXPECT_TRUE(answer(
      [&](auto done) { orders().ranges().merge({ring::kFirstToken, ring::kLastToken}, done); }));
  expect_error(answer([&](auto done) {
                 orders().ranges().merge({ring::kFirstToken, ring::kLastToken}, done);
               }),
               Code::kConflict, "");
}

TEST_F(ControllerTest, NodesComeAndGoWithReasonsAgainstIt) {
  lead();
  ring::Node node;
  node.name = "d";
  node.members = {{.address = "10.0.0.4:6379", .rack = ""}};
  const auto added = answer<NodeId>([&](auto done) { orders().nodes().add_node(node, done); });
  ASSERT_TRUE(added);
  EXPECT_EQ(*added, NodeId{4});
  expect_error(answer<NodeId>([&](auto done) { orders().nodes().add_node(node, done); }),
               Code::kInvalid, "two nodes named 'd'");
  expect_error(answer([&](auto done) { orders().nodes().drain_node(NodeId{9}, done); }),
               Code::kConflict, "");
  EXPECT_TRUE(answer([&](auto done) { orders().nodes().drain_node(*added, done); }));
  EXPECT_TRUE(answer([&](auto done) { orders().nodes().undrain_node(*added, done); }));
  expect_error(answer([&](auto done) { orders().nodes().undrain_node(*added, done); }),
               Code::kConflict, "");
  expect_error(answer([&](auto done) { orders().nodes().set_weight(kA, 0, done); }), Code::kInvalid,
               "weight");
  EXPECT_TRUE(answer([&](auto done) { orders().nodes().set_weight(kA, 2, done); }));
  EXPECT_EQ(document().nodes[0].weight, 2U);
}

TEST_F(ControllerTest, ANodeIsForgottenOnlyWhenNobodyLosesAKey) {
  lead();
  expect_error(answer([&](auto done) { orders().nodes().remove_node(kC, Force::kNo, done); }),
               Code::kConflict, "");
  ring::Node node;
  node.name = "d";
  node.members = {{.address = "10.0.0.4:6379", .rack = ""}};
  backend::VirtualRedis d("d");
  loop.place({.host = "10.0.0.4", .port = 6379}, d);
  const auto added = answer<NodeId>([&](auto done) { orders().nodes().add_node(node, done); });
  EXPECT_TRUE(answer([&](auto done) { orders().nodes().drain_node(*added, done); }));
  loop.run_for(seconds{2});
  d.values["left"] = "behind";
  const auto remove = [&](Force force) {
    return answer<void>([&](auto done) { orders().nodes().remove_node(*added, force, done); },
                        seconds{10});
  };
  expect_error(remove(Force::kNo), Code::kConflict, "1 keys are left at node 'd'");
  d.down = true;
  d.break_connections();
  expect_error(remove(Force::kNo), Code::kConflict, "could not be looked at");
  d.down = false;
  d.values.clear();
  loop.run_for(seconds{3});
  EXPECT_TRUE(remove(Force::kNo));
  EXPECT_EQ(document().nodes.size(), 3U);
  controller_.reset();
  loop.run_for(seconds{1});
}

TEST_F(ControllerTest, ByForceANodeIsForgottenUnlooked) {
  lead();
  ring::Node node;
  node.name = "d";
  node.members = {{.address = "10.0.0.4:6379", .rack = ""}};
  const auto added = answer<NodeId>([&](auto done) { orders().nodes().add_node(node, done); });
  EXPECT_TRUE(answer([&](auto done) { orders().nodes().drain_node(*added, done); }));
  EXPECT_TRUE(answer([&](auto done) { orders().nodes().remove_node(*added, Force::kYes, done); }));
  EXPECT_EQ(document().nodes.size(), 3U);
}

TEST_F(ControllerTest, WhatIsNotKeptCannotBeGivenUp) {
  lead();
  for (const auto how :
       {MoveOrders::GiveUp::kClean, MoveOrders::GiveUp::kCleanAll, MoveOrders::GiveUp::kForget}) {
    expect_error(answer([&](auto done) { orders().moves().give_up(MoveId{1}, how, done); }),
                 Code::kConflict, "no leftover of that move is kept");
  }
}

TEST_F(ControllerTest, WhatIsKeptIsForgottenOrCleanedByOrder) {
  lead();
  for (const auto how :
       {MoveOrders::GiveUp::kForget, MoveOrders::GiveUp::kClean, MoveOrders::GiveUp::kCleanAll}) {
    change([this](const ring::Document& now) -> Result<ring::Document> {
      ring::Document with = now;
      with.leftovers.push_back({.move = MoveId{1},
                                .node = kA,
                                .ranges = owned_by(kB),
                                .since = {},
                                .holder = kB,
                                .incarnation = {"b-run", "b-repl"},
                                .state = ring::LeftoverState::kKept,
                                .why = "b lost its data"});
      with.epoch = Epoch{now.epoch.value() + 1};
      return with;
    });
    loop.run_for(milliseconds{10});
    const std::vector<std::string> keys = put_keys(kB, 4, kA);
    b.values[keys[0]] = "the owner has it";
    EXPECT_TRUE(answer([&](auto done) { orders().moves().give_up(MoveId{1}, how, done); }));
    ASSERT_TRUE(loop.run_until([this] { return document().leftovers.empty(); }));
    const auto left = std::ranges::count_if(
        keys, [this](const std::string& key) { return a.values.contains(key); });
    const std::size_t stay = how == MoveOrders::GiveUp::kForget ? 4 : 3;
    EXPECT_EQ(left, how == MoveOrders::GiveUp::kCleanAll ? 0 : static_cast<std::int64_t>(stay));
    for (const std::string& key : keys) a.values.erase(key), b.values.erase(key);
  }
}

TEST_F(ControllerTest, AnEventThatWasNotAnnouncedIsNotForgotten) {
  lead();
  expect_error(answer([&](auto done) { orders().ranges().forget("sale", done); }), Code::kConflict,
               "sale");
}

TEST_F(ControllerTest, ApprovalNeedsAPlanAndACoordinator) {
  lead();
  const auto approve = [this] {
    return answer<std::uint64_t>([&](auto done) { orders().moves().approve("abc", done); });
  };
  EXPECT_TRUE(answer([&](auto done) { orders().pool().set_mode(ring::Mode::kApprove, done); }));
  loop.run_for(milliseconds{10});
  expect_error(approve(), Code::kConflict, "there is nothing to approve");
  EXPECT_TRUE(answer([&](auto done) { orders().pool().set_mode(ring::Mode::kObserve, done); }));
  loop.run_for(milliseconds{10});
  expect_error(approve(), Code::kConflict, "the mode is observe");
  coordinator.away = true;
  loop.run_for(seconds{3});
  expect_error(approve(), Code::kUnavailable, "coordinator:");
}

// Right after a change its heat is not known: it is waited for, and no longer.
TEST_F(ControllerTest, WithoutHeatNothingIsRehearsed) {
  others_are_there(false);
  r2.silent = r1.silent = true;
  make();
  ASSERT_TRUE(loop.run_until([this] { return orders().status().leader; }));
  const Instant asked = loop.now();
  const auto presplit = answer<Presplit>([&](auto done) { orders().ranges().presplit({}, done); },
                                         kHeatPatience + milliseconds{500});
  expect_error(presplit, Code::kUnavailable, "heat");
  EXPECT_GE(loop.now() - asked, kHeatPatience);
}

}  // namespace
}  // namespace cleave::control
