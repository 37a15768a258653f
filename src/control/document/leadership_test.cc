#include "control/document/leadership.h"

#include <gtest/gtest.h>

#include "backend/redis_testing.h"
#include "coord/memory/memory_register.h"
#include "ring/edits/edits.h"

namespace cleave::control {
namespace {

using backend::run_until;

constexpr milliseconds kLease{300};
const SessionId kFirst{"r1"};
const SessionId kSecond{"r2"};

// A coordinator that can be away.
class Outage final : public coord::Faults {
 public:
  Fate fate(Call /*call*/) override {
    return {.there = {}, .back = {}, .loss = away ? Loss::kRefused : Loss::kNone};
  }
  bool away = false;
};

// Router r1 leads; r2 is a member whose lease the test renews, or does not.
class LeadershipTest : public ::testing::Test {
 protected:
  LeadershipTest() {
    ring::Node node;
    node.name = "a";
    node.members = {{.address = "127.0.0.1:7001", .rack = ""}};
    ring::Document document =
        *ring::create({.pool = "main", .mark = "m", .nodes = {node}, .mode = {}, .now = {}});
    for (const SessionId& session : {kFirst, kSecond})
      document = *ring::join(document, {.session = session});
    document.epoch = Epoch{1};
    EXPECT_TRUE(store_->compare_and_set(Epoch{}, ring::to_text(document)));
    renew_other();
    leadership_.start();
    leadership_.joined();
    writer_.read([](const auto&) {});
    run_until(*loop_, [&] { return leadership_.leads(); });
  }
  ~LeadershipTest() override { leadership_.stop(); }

  void renew_other() {
    if (renews_other_ && !outage_.away) store_->keep_alive(kSecond, loop_->now() + kLease);
    loop_->after(kLease / 4, [this] { renew_other(); });
  }

  void pass(milliseconds time) {
    const Instant end = loop_->now() + time;
    run_until(*loop_, [&] { return loop_->now() >= end; });
  }

  bool other_is_member() {
    return ring::has_router(*ring::parse_document(store_->read().text), kSecond);
  }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  std::shared_ptr<coord::MemoryStore> store_ = std::make_shared<coord::MemoryStore>();
  Outage outage_;
  bool renews_other_ = true;
  coord::MemoryRegister access_{*loop_, store_, &outage_};
  DocumentWriter writer_{
      *loop_, access_, [this](const SharedDocument& seen) { leadership_.follow(seen); }, {}};
  Leadership leadership_{*loop_,
                         access_,
                         writer_,
                         {.session = kFirst,
                          .lease = kLease,
                          .leads = [](const SharedDocument&) {},
                          .lost = [] {},
                          .log = [](const std::string&) {}}};
};

TEST_F(LeadershipTest, AMemberWhoseLeaseIsGoneIsRemoved) {
  pass(kLease * 3);
  EXPECT_TRUE(other_is_member());
  renews_other_ = false;
  pass(kLease * 3);
  EXPECT_FALSE(other_is_member());
}

// All leases ran out while the coordinator was away. The leader is back first.
TEST_F(LeadershipTest, WhoIsBackFirstAfterAnOutageGivesTheOthersTime) {
  outage_.away = true;
  pass(kLease * 2);
  renews_other_ = false;
  outage_.away = false;
  pass(kLease * 3 / 4);
  renews_other_ = true;
  pass(kLease * 3);
  EXPECT_TRUE(other_is_member());
  renews_other_ = false;
  pass(kLease * 3);
  EXPECT_FALSE(other_is_member()) << "but it does judge again";
}

}  // namespace
}  // namespace cleave::control
