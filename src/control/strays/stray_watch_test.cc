// The watch over pages of keys that the test makes up; tests/integration/strays_test.py has real
// servers.
#include "control/strays/stray_watch.h"

#include <gtest/gtest.h>

#include <optional>

#include "ring/edits/ring_testing.h"

namespace cleave::control {
namespace {

constexpr NodeId kNode{1};
constexpr std::chrono::hours kDay{24};

// Virtual time, timers and nothing else.
class Timers final : public net::Loop {
 public:
  Instant now() const override { return now_; }
  UnixMillis wall_now() const override {
    return UnixMillis{1'700'000'000'000 + std::chrono::duration_cast<milliseconds>(now_).count()};
  }
  void post(Callback callback) override { after(nanoseconds{0}, std::move(callback)); }
  void at_turn_end(net::TurnEnd&) override {}
  void forget_turn_end(net::TurnEnd&) override {}
  net::TimerId after(nanoseconds delay, Callback callback) override {
    timers_.emplace(now_ + delay, std::move(callback));
    return net::TimerId{1};
  }
  void cancel(net::TimerId) override {}
  void connect(const net::Address&, milliseconds, Connected) override {}
  Result<std::unique_ptr<net::Listener>> listen(const net::Address&, Acceptor) override {
    return fail(Code::kUnavailable, "nobody listens here");
  }

  void run(nanoseconds time) {
    const Instant end = now_ + time;
    while (!timers_.empty() && timers_.begin()->first <= end) {
      auto first = timers_.extract(timers_.begin());
      now_ = first.key();
      first.mapped()();
    }
    now_ = end;
  }
  void jump(nanoseconds time) {
    std::multimap<Instant, Callback> later;
    for (auto& [at, callback] : timers_) later.emplace(at + time, std::move(callback));
    timers_ = std::move(later);
    now_ += time;
  }

 private:
  Instant now_{seconds{1}};
  std::multimap<Instant, Callback> timers_;
};

// A pool of two nodes, of which the first holds keys in pages of a hundred; the second is away.
class Strays : public testing::Test {
 protected:
  Strays() { lead(); }

  // A new term, of this router or another.
  void lead() {
    watch_.emplace(StrayWatch::Options{
        .loop = loop_,
        .list =
            [this](NodeId node, const std::string& cursor, StrayWatch::Listed listed) {
              if (node != kNode) return false;
              loop_.post([this, cursor, listed = std::move(listed)] { listed(page(cursor)); });
              return true;
            },
        .view = [this] { return ring::testing::view_of(document_); },
        .decided = [this](const DecisionRecord& decision) { told_.push_back(decision.reason); },
        .does_not_fit = [this] { ++misfits_; }});
  }

  backend::Page page(const std::string& cursor) const {
    constexpr std::size_t kPage = 100;
    const std::size_t from = cursor.empty() ? 0 : std::stoul(cursor);
    const std::size_t to = std::min(from + kPage, keys_.size());
    backend::Page page;
    page.keys.assign(keys_.begin() + static_cast<std::ptrdiff_t>(from),
                     keys_.begin() + static_cast<std::ptrdiff_t>(to));
    if (to < keys_.size()) page.next = std::to_string(to);
    return page;
  }

  // Keys that lie at the first node, and that the ring gives to the owner.
  void hold(std::size_t count, NodeId owner) {
    const ring::RingSnapshot view = ring::testing::view_of(document_);
    for (std::size_t made = 0; made < count;) {
      std::string key = "key:" + std::to_string(next_++);
      if (view->owner(view->token_of(key)) != owner) continue;
      keys_.push_back(std::move(key));
      ++made;
    }
  }
  void hold_strays(std::size_t count) { hold(count, NodeId{2}); }

  // Long enough for more than a whole walk.
  void walk() { loop_.run(seconds{10} + seconds{2 * (keys_.size() / 100)}); }
  StrayFacts facts() const { return watch_->facts(kNode); }

  Timers loop_;
  ring::Document document_ = ring::testing::make_document({1, 1});
  std::vector<std::string> keys_;
  int next_ = 0;
  std::vector<std::string> told_;
  int misfits_ = 0;
  std::optional<StrayWatch> watch_;
};

TEST_F(Strays, TellsStraysWhenTheyAppearAndWhenTheyAreGone) {
  hold(300, kNode);
  walk();
  EXPECT_TRUE(facts().known);
  EXPECT_FALSE(watch_->new_strays());
  EXPECT_TRUE(told_.empty());
  hold_strays(2);
  walk();
  EXPECT_EQ(facts().count.strays, 2U);
  EXPECT_TRUE(facts().since_exact);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].starts_with("2 of 302 keys (0.66 %) are not where the ring looks"));
  keys_.resize(300);
  walk();
  EXPECT_EQ(facts().count.strays, 0U);
  EXPECT_EQ(facts().since, UnixMillis{});
  EXPECT_FALSE(watch_->new_strays());
  ASSERT_EQ(told_.size(), 2U);
}

// Made-up keys that all exist grow no more, and are lost with a move all the same.
TEST_F(Strays, StraysThatNobodyAcceptedHoldHoweverOldTheyAre) {
  hold(100, kNode);
  walk();
  hold_strays(60);
  walk();
  EXPECT_TRUE(watch_->new_strays());
  const UnixMillis grew = facts().grew;
  loop_.jump(8 * kDay);
  walk();
  EXPECT_TRUE(watch_->new_strays());
  EXPECT_EQ(facts().grew, grew);
}

TEST_F(Strays, ANewLeaderGoesOnWithThem) {
  hold_strays(60);
  walk();
  lead();
  EXPECT_FALSE(watch_->new_strays());  // it has not looked yet
  walk();
  EXPECT_TRUE(watch_->new_strays());
  EXPECT_FALSE(facts().since_exact);
}

TEST_F(Strays, WhatAPersonAcceptedHoldsNothingUnderAnyLeader) {
  hold_strays(60);
  walk();
  document_ = *ring::accept_strays(document_, {{.node = kNode, .strays = 60}});
  watch_->accepted_now(kNode, 60);
  EXPECT_FALSE(watch_->new_strays());
  walk();
  EXPECT_FALSE(watch_->new_strays());
  EXPECT_EQ(facts().grew, UnixMillis{});
  lead();
  walk();
  EXPECT_FALSE(watch_->new_strays());
  EXPECT_EQ(facts().accepted, 60U);
  hold_strays(1);
  walk();
  EXPECT_TRUE(watch_->new_strays());
}

// What was accepted and is gone may not hide as many new ones.
TEST_F(Strays, AcceptedStraysThatWentLeaveNoRoomForNewOnes) {
  document_ = *ring::accept_strays(document_, {{.node = kNode, .strays = 60}});
  hold_strays(60);
  walk();
  keys_.resize(10);
  walk();
  EXPECT_FALSE(watch_->new_strays());
  hold_strays(5);
  walk();
  EXPECT_TRUE(watch_->new_strays());
}

TEST_F(Strays, TellsOnceThatTheRingDoesNotFit) {
  hold(2'000, kNode);
  hold_strays(1);
  walk();
  EXPECT_EQ(misfits_, 0);
  hold_strays(50);
  walk();
  walk();
  EXPECT_EQ(misfits_, 1);
}

// The first walk may be over before there are keys; the next has its keys and not the old ones.
TEST_F(Strays, CountsTheStraysOfAWalkUnderWayAmongItsOwnKeys) {
  walk();
  EXPECT_TRUE(facts().count.whole);
  hold_strays(600);
  loop_.run(milliseconds{2'500});
  ASSERT_FALSE(told_.empty());
  EXPECT_GE(facts().count.keys, facts().count.strays);
  EXPECT_TRUE(told_[0].contains(" keys (100.00 %)")) << told_[0];
}

}  // namespace
}  // namespace cleave::control
