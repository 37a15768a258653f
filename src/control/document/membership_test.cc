// A session's place in the document, and each way of not getting or of losing it.
#include "control/document/membership.h"

#include <gtest/gtest.h>

#include "control/world_testing.h"

namespace cleave::control {
namespace {

class MembershipTest : public testing::Test, protected ScriptedWorld {
 protected:
  // The document as others have made it, before this session comes.
  void others_are_there() {
    ring::Document document = *ring::create(creation());
    document = *ring::join(document, {.session = kOther});
    document.epoch = Epoch{1};
    write(document);
  }

  Membership& member() {
    if (membership_ == nullptr) {
      membership_ = std::make_unique<Membership>(
          loop, writer_,
          Membership::Options{
              .session = kOurs,
              .peer_address = "10.0.1.1:7380",
              .creation = creation_,
              .may_create = may_create_,
              .publish = [this](const ring::RingSnapshot& view) { published_.push_back(view); },
              .removed = [this](const Error& why) { removed_.push_back(why.message); },
              .log = [this](const std::string& line) { log_.push_back(line); }});
    }
    return *membership_;
  }

  void join() {
    member().join([this] { ++joined_; });
  }
  void join_and_run() {
    join();
    ASSERT_TRUE(loop.run_until([this] { return joined_ > 0; }));
  }

  Result<void> confirm() {
    std::optional<Result<void>> answer;
    member().confirm([&](Result<void> said) { answer = said; });
    EXPECT_TRUE(loop.run_until([&] { return answer.has_value(); }));
    return *answer;
  }

  ring::Creation creation_ = creation();
  std::function<void(std::function<void(Result<void>)>)> may_create_;
  std::vector<ring::RingSnapshot> published_;
  std::vector<std::string> removed_;
  std::vector<std::string> log_;
  int joined_ = 0;
  std::unique_ptr<Membership> membership_;
  DocumentWriter writer_{loop,
                         access,
                         [this](const SharedDocument& seen) {
                           if (membership_ != nullptr) membership_->follow(seen);
                         },
                         {}};
};

// ---- joining ------------------------------------------------------------------------------------

TEST_F(MembershipTest, WhereThereIsNoDocumentItIsMadeAndJoined) {
  join_and_run();
  ASSERT_EQ(published_.size(), 1U) << "the first view is that of our own join";
  EXPECT_EQ(published_[0]->epoch(), Epoch{2});
  const ring::Router* shown = ring::find_router(document(), kOurs);
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->peer, "10.0.1.1:7380");
  EXPECT_TRUE(member().is_member());
  loop.run_for(seconds{5});
  EXPECT_EQ(joined_, 1);
}

TEST_F(MembershipTest, ADocumentThatIsThereIsJoinedAsItIs) {
  others_are_there();
  may_create_ = [](const auto&) { FAIL() << "nobody needs to be asked"; };
  join_and_run();
  EXPECT_TRUE(ring::has_router(document(), kOther));
  EXPECT_EQ(document().epoch, Epoch{2});
}

TEST_F(MembershipTest, BeforeTheJoinItIsNoMemberAndPublishesNothing) {
  EXPECT_FALSE(member().is_member());
  EXPECT_EQ(member().view(), nullptr);
  member().follow(std::make_shared<const ring::Document>(first_document()));
  EXPECT_TRUE(published_.empty());
  EXPECT_TRUE(removed_.empty());
}

TEST_F(MembershipTest, WhileNoneMayBeMadeItWaitsAndSaysWhyOnce) {
  Result<void> may = fail(Code::kConflict, "servers belong to another ring: 3 of them");
  int asked = 0;
  may_create_ = [&](const auto& done) {
    ++asked;
    loop.post([done, may] { done(may); });
  };
  join();
  loop.run_for(seconds{4});
  EXPECT_EQ(joined_, 0);
  EXPECT_GT(asked, 2);
  EXPECT_EQ(member().held(), "servers belong to another ring: 3 of them");
  may = fail(Code::kConflict, "servers belong to another ring: 2 of them");
  loop.run_for(seconds{2});
  EXPECT_EQ(log_.size(), 1U) << "the numbers in it change all the time";
  EXPECT_EQ(member().held(), "servers belong to another ring: 2 of them");
  may = fail(Code::kUnavailable, "a server does not answer");
  loop.run_for(seconds{2});
  EXPECT_EQ(log_.size(), 2U) << "another reason is told";
  EXPECT_EQ(store->read().epoch, Epoch{});
  may = {};
  ASSERT_TRUE(loop.run_until([this] { return joined_ > 0; }));
  EXPECT_EQ(member().held(), "");
}

// Its marks are on the servers before its document is read here.
TEST_F(MembershipTest, ARouterThatMadeTheRingMeanwhileIsNoReasonToWait) {
  may_create_ = [this](const auto& done) {
    if (store->read().epoch == Epoch{}) others_are_there();
    loop.post([done] { done(fail(Code::kConflict, "servers belong to a ring")); });
  };
  join_and_run();
  EXPECT_TRUE(log_.empty()) << log_[0];
  EXPECT_EQ(member().held(), "");
  EXPECT_TRUE(ring::has_router(document(), kOther));
}

TEST_F(MembershipTest, ALostRaceToMakeItIsNoError) {
  coordinator.before_write = [this] { others_are_there(); };
  join_and_run();
  EXPECT_TRUE(ring::has_router(document(), kOther));
  EXPECT_TRUE(log_.empty());
}

TEST_F(MembershipTest, WhatTheCoordinatorRefusesIsTriedAgain) {
  coordinator.next_writes = {coord::Faults::Loss::kRefused, coord::Faults::Loss::kRefused};
  join_and_run();
  EXPECT_EQ(log_.size(), 2U);
  EXPECT_NE(log_[0].find("cannot create the ring document yet"), std::string::npos);
  EXPECT_TRUE(removed_.empty());
}

TEST_F(MembershipTest, AJoinWhoseAnswerIsLostIsOneJoin) {
  others_are_there();
  coordinator.next_writes = {coord::Faults::Loss::kReply};
  join_and_run();
  EXPECT_EQ(document().epoch, Epoch{2});
  EXPECT_TRUE(removed_.empty());
}

TEST_F(MembershipTest, ACoordinatorThatIsAwayIsWaitedFor) {
  others_are_there();
  coordinator.away = true;
  join();
  loop.run_for(seconds{30});
  EXPECT_EQ(joined_, 0);
  EXPECT_TRUE(removed_.empty());
  coordinator.away = false;
  EXPECT_TRUE(loop.run_until([this] { return joined_ == 1; }));
}

TEST_F(MembershipTest, ASessionThatIsThereAlreadyCannotJoin) {
  write(first_document());
  join();
  ASSERT_TRUE(loop.run_until([this] { return !removed_.empty(); }));
  EXPECT_NE(removed_[0].find("cannot join the ring document"), std::string::npos) << removed_[0];
  EXPECT_FALSE(member().is_member());
  EXPECT_EQ(joined_, 0);
}

TEST_F(MembershipTest, ARingThatCannotBeMadeStopsTheProcess) {
  creation_.nodes.clear();
  join();
  ASSERT_TRUE(loop.run_until([this] { return !removed_.empty(); }));
  EXPECT_NE(removed_[0].find("cannot create the ring"), std::string::npos) << removed_[0];
  EXPECT_EQ(store->read().epoch, Epoch{});
}

TEST_F(MembershipTest, WhatIsUnderWayWhenItGoesHarmsNobody) {
  join();
  membership_.reset();
  loop.run_for(seconds{5});
  EXPECT_EQ(joined_, 0);
  EXPECT_TRUE(published_.empty());
}

// ---- following ----------------------------------------------------------------------------------

TEST_F(MembershipTest, EveryLaterDocumentIsPublishedAndNoOlderOne) {
  others_are_there();
  join_and_run();
  const ring::Document before = document();
  change([](const ring::Document& now) { return ring::set_frozen(now, true); });
  loop.run_for(milliseconds{10});
  ASSERT_EQ(published_.size(), 2U);
  EXPECT_EQ(published_[1]->epoch(), Epoch{3});
  member().follow(std::make_shared<const ring::Document>(before));
  member().follow(std::make_shared<const ring::Document>(document()));
  EXPECT_EQ(published_.size(), 2U) << "views only go forward (rule 9)";
  EXPECT_EQ(member().view()->epoch(), Epoch{3});
}

TEST_F(MembershipTest, WhoIsRemovedIsToldOnceAndSeesNothingAfterwards) {
  others_are_there();
  join_and_run();
  change([](const ring::Document& now) { return ring::remove_router(now, kOurs); });
  loop.run_for(milliseconds{10});
  ASSERT_EQ(removed_.size(), 1U);
  EXPECT_NE(removed_[0].find("session r1 was removed"), std::string::npos) << removed_[0];
  EXPECT_FALSE(member().is_member());
  change([](const ring::Document& now) { return ring::set_frozen(now, true); });
  loop.run_for(milliseconds{10});
  EXPECT_EQ(removed_.size(), 1U);
  EXPECT_EQ(published_.size(), 1U);
}

// ---- the gate (rule 5) --------------------------------------------------------------------------

TEST_F(MembershipTest, AConnectionIsConfirmedByAViewAtLeastAsNewAsTheRead) {
  others_are_there();
  join_and_run();
  change([](const ring::Document& now) { return ring::set_frozen(now, true); });
  EXPECT_TRUE(confirm());
  EXPECT_TRUE(member().view()->document().frozen);
}

TEST_F(MembershipTest, WhileTheCoordinatorIsAwayNothingIsConfirmed) {
  others_are_there();
  join_and_run();
  coordinator.away = true;
  EXPECT_EQ(confirm().error().code, Code::kUnavailable);
  coordinator.away = false;
  EXPECT_TRUE(confirm());
}

TEST_F(MembershipTest, ARemovedSessionIsNeverConfirmedAgain) {
  others_are_there();
  join_and_run();
  change([](const ring::Document& now) { return ring::remove_router(now, kOurs); });
  EXPECT_EQ(confirm().error().code, Code::kConflict) << "the read itself shows it";
  EXPECT_EQ(removed_.size(), 1U);
  // Should its name come back, it is another's.
  change([](const ring::Document& now) { return ring::join(now, {.session = kOurs}); });
  EXPECT_EQ(confirm().error().code, Code::kConflict);
}

TEST_F(MembershipTest, BeforeTheJoinNothingIsConfirmed) {
  others_are_there();
  EXPECT_EQ(confirm().error().code, Code::kConflict);
}

// ---- leaving ------------------------------------------------------------------------------------

TEST_F(MembershipTest, WhoLeavesIsNotToldOfIt) {
  others_are_there();
  join_and_run();
  std::optional<Result<SharedDocument>> left;
  member().leave([&](Result<SharedDocument> document) { left = std::move(document); });
  EXPECT_FALSE(member().is_member()) << "from this moment on";
  ASSERT_TRUE(loop.run_until([&] { return left.has_value(); }));
  EXPECT_TRUE(left->has_value());
  EXPECT_FALSE(ring::has_router(document(), kOurs));
  EXPECT_TRUE(removed_.empty());
  EXPECT_EQ(confirm().error().code, Code::kConflict);
}

TEST_F(MembershipTest, WhoWasRemovedAlreadyHasLeft) {
  others_are_there();
  join_and_run();
  change([](const ring::Document& now) { return ring::remove_router(now, kOurs); });
  change([](const ring::Document& now) { return ring::set_frozen(now, true); });
  std::optional<Result<SharedDocument>> left;
  member().leave([&](Result<SharedDocument> document) { left = std::move(document); });
  ASSERT_TRUE(loop.run_until([&] { return left.has_value(); }));
  EXPECT_EQ(left->error().code, Code::kConflict);
}

}  // namespace
}  // namespace cleave::control
