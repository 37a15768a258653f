// A router's control side as a whole over scripted servers, routers and coordinator.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/controller.h"
#include "control/world_testing.h"

namespace cleave::control {

// r1 is the one under test; r2 is another router of the pool, which lives as long as the test
// wants.
class ControllerTest : public testing::Test, protected ScriptedWorld {
 protected:
  // r2 has joined, and leads where told so.
  void others_are_there(bool lead) {
    ring::Document document = *ring::create(creation());
    document = *ring::join(document, {.session = kOther});
    if (lead) document = *ring::lead(document, kOther);
    document.epoch = Epoch{1};
    write(document);
    renew_other();
  }
  void renew_other() {
    if (other_lives_) store->keep_alive(kOther, loop.now() + seconds{3});
    loop.after(milliseconds{500}, [this] { renew_other(); });
  }

  Controller& make() {
    controller_ = std::make_unique<Controller>(Controller::Options{
        .loop = loop,
        .store = access,
        .directory = directory,
        .document = {.session = kOurs,
                     .publish = [](const ring::RingSnapshot&) {},
                     .removed = [this](const Error& why) { removed_ = why.message; }},
        .begin = {.creation = creation()},
        .servers = {},
        .plan = {.enabled = false},
        .tell = {
            .log = [](const std::string&) {},
            .decided = [this](const DecisionRecord& decision) { decided_.push_back(decision); }},
        .limits = {},
        .seed = 3});
    controller_->start();
    return *controller_;
  }
  Controller& control() { return *controller_; }
  Operator& orders() { return controller_->orders(); }

  void lead() {
    others_are_there(false);
    make();
    ASSERT_TRUE(loop.run_until([this] { return orders().status().leader; }));
    ASSERT_TRUE(loop.run_until([this] {
      const auto nodes = orders().status().nodes;
      return std::ranges::all_of(nodes, &NodeFacts::reachable);
    }));
  }
  void follow() {
    others_are_there(true);
    make();
    ASSERT_TRUE(loop.run_until([this] { return orders().status().view != nullptr; }));
    loop.run_for(seconds{1});
    ASSERT_FALSE(orders().status().leader);
  }
  // It cannot join: the coordinator does not answer.
  void be_alone() {
    others_are_there(true);
    coordinator.away = true;
    make();
    loop.run_for(seconds{1});
  }

  // Each order is answered once, later, and within its patience.
  template <class T>
  Result<T> answer(const std::function<void(Done<T>)>& order,
                   milliseconds patience = kOrderPatience) {
    const auto said = std::make_shared<std::vector<Result<T>>>();
    const Instant asked = loop.now();
    order([said](const Result<T>& result) {
      EXPECT_TRUE(said->empty()) << "answered twice";
      said->push_back(result);
    });
    EXPECT_TRUE(said->empty()) << "not within the call";
    EXPECT_TRUE(loop.run_until([&] { return !said->empty(); }));
    EXPECT_LE(loop.now() - asked, patience + milliseconds{100});
    return said->front();
  }
  using Ordered = std::function<void(Done<void>)>;
  Result<void> answer(const Ordered& order) { return answer<void>(order); }

  ring::MoveRequest request(NodeId source, NodeId destination) {
    return {.ranges = owned_by(source),
            .source = source,
            .destination = destination,
            .reason = "a person wants it",
            .now = {}};
  }
  Result<MoveId> move(NodeId source, NodeId destination) {
    return answer<MoveId>(
        [&](auto done) { orders().moves().move(request(source, destination), done); });
  }
  Result<void> abort(MoveId id) {
    return answer([&](auto done) { orders().moves().abort(id, done); });
  }
  Result<std::uint64_t> abort_all(MoveOrders::Then then = MoveOrders::Then::kGoOn) {
    return answer<std::uint64_t>([&](auto done) { orders().moves().abort_all(then, done); });
  }
  Result<void> freeze(bool frozen) {
    return answer([&](auto done) { orders().pool().freeze(frozen, done); });
  }

  template <class T>
  static void expect_error(const Result<T>& result, Code code, const std::string& words) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
  }
  std::vector<DecisionRecord> told(const std::string& kind) const {
    std::vector<DecisionRecord> all;
    for (const DecisionRecord& each : decided_)
      if (each.kind == kind) all.push_back(each);
    return all;
  }

  bool other_lives_ = true;
  std::vector<DecisionRecord> decided_;
  std::string removed_;
  std::unique_ptr<Controller> controller_;
};

}  // namespace cleave::control
