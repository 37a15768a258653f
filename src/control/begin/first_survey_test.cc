#include "control/begin/first_survey.h"

#include <gtest/gtest.h>

#include <optional>

#include "backend/redis_testing.h"
#include "control/strays/surveyor.h"
#include "ring/edits/edits.h"

namespace cleave::control {
namespace {

using backend::RawClient;
using backend::run_until;

// Two real servers, and a ring over them that nobody has begun yet.
class BeforeARing : public testing::Test {
 protected:
  BeforeARing() {
    ring::Creation creation{.pool = "main", .mark = "m", .nodes = {}, .mode = {}, .now = {}};
    for (const backend::RedisServer* server : {&a_, &b_}) {
      ring::Node node;
      node.name = server == &a_ ? "a" : "b";
      node.members = {{net::to_string(server->address()), ""}};
      creation.nodes.push_back(node);
    }
    view_ = *ring::RingView::build(*ring::create(creation));
    // Another ring has marked them: that is what it is begun over.
    for (RawClient* client : {&at_a_, &at_b_}) client->ask({"SET", "cleave:{owner}", "old"});
  }

  void fill(int keys, const std::function<bool(const std::string& key, bool owner_is_a)>& at_a) {
    for (int i = 0; i < keys; ++i) {
      const std::string key = "k" + std::to_string(i);
      const bool owner_is_a = view_->owner(view_->token_of(key)) == NodeId{1};
      (at_a(key, owner_is_a) ? at_a_ : at_b_).ask({"SET", key, "1"});
    }
  }

  Result<void> check() {
    std::optional<Survey> found;
    FirstSurvey survey(
        {.loop = *loop_, .nodes = {}, .credentials = {}, .limits = {}, .session = SessionId{"r1"}},
        view_, [&](const Survey& done) { found = done; });
    survey.start();
    run_until(*loop_, [&] { return found.has_value(); });
    return check_adoption(*found, {NodeId{1}, NodeId{2}}, view_->document());
  }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  backend::RedisServer a_;
  backend::RedisServer b_;
  RawClient at_a_ = a_.client();
  RawClient at_b_ = b_.client();
  ring::RingSnapshot view_;
};

TEST_F(BeforeARing, KeysWhereItWouldLookAreNoDoubt) {
  fill(300, [](const std::string&, bool owner_is_a) { return owner_is_a; });
  const Result<void> fits = check();
  EXPECT_TRUE(fits) << fits.error().message;
}

TEST_F(BeforeARing, KeysThatItWouldNotFindAreCountedAndNamed) {
  fill(300, [](const std::string&, bool) { return true; });
  const Result<void> fits = check();
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, Code::kConflict);
  EXPECT_TRUE(fits.error().message.starts_with("node a: ")) << fits.error().message;
  EXPECT_TRUE(fits.error().message.contains("of 300 keys")) << fits.error().message;
  EXPECT_TRUE(fits.error().message.contains("--force")) << fits.error().message;
}

TEST_F(BeforeARing, KeysInOtherDatabasesAreTold) {
  at_b_.ask({"SELECT", "3"});
  at_b_.ask({"SET", "other", "1"});
  const Result<void> fits = check();
  ASSERT_FALSE(fits);
  EXPECT_TRUE(fits.error().message.contains("database 3 (1 key)")) << fits.error().message;
}

TEST_F(BeforeARing, AServerThatIsAwayIsNotPassedOver) {
  b_.kill();
  const Result<void> fits = check();
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, Code::kUnavailable);
  EXPECT_TRUE(fits.error().message.starts_with("node b: ")) << fits.error().message;
}

}  // namespace
}  // namespace cleave::control
