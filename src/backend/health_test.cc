// The prober against real servers.
#include "backend/health.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backend/redis_testing.h"

namespace cleave::backend {
namespace {

class HealthTest : public testing::Test {
 protected:
  void open(std::uint16_t port) {
    Limits limits;
    limits.probe_interval = milliseconds{20};
    prober = std::make_unique<Prober>(
        *loop, Rng(1),
        Prober::Options{.address = {.host = "127.0.0.1", .port = port},
                        .credentials = {},
                        .session = SessionId{"s1"},
                        .limits = limits,
                        .on_change = [this](const Health& health) { told.push_back(health); }});
  }
  void run(const std::function<bool()>& done) { run_until(*loop, done); }

  std::unique_ptr<net::AsioLoop> loop = net::make_loop();
  std::vector<Health> told;
  std::unique_ptr<Prober> prober;
};

TEST_F(HealthTest, SaysUpWithTheFirstPong) {
  RedisServer redis;
  open(redis.port());
  EXPECT_FALSE(prober->health().up);
  run([&] { return prober->health().up; });
  EXPECT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].error.empty());
  EXPECT_TRUE(told[0].identity.primary);
  EXPECT_EQ(told[0].identity.version.front(), '7');
}

TEST_F(HealthTest, SaysDownAfterSomeFailuresInARowAndUpAgain) {
  RedisServer redis;
  open(redis.port());
  run([&] { return prober->health().up; });
  redis.freeze();
  run([&] { return !prober->health().up; });
  EXPECT_EQ(told.size(), 2U);
  EXPECT_NE(told[1].error.find("no reply within"), std::string::npos) << told[1].error;
  redis.thaw();
  run([&] { return prober->health().up; });
  EXPECT_EQ(told.size(), 3U);
}

TEST_F(HealthTest, OneLostProbeIsNoFailureOfTheNode) {
  RedisServer redis;
  open(redis.port());
  run([&] { return prober->health().up; });
  redis.client().ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  run([&] { return prober->pipe().stats().reconnects == 2; });
  const std::uint64_t replies = prober->pipe().stats().replies;
  run([&] { return prober->pipe().stats().replies > replies + 3; });
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(HealthTest, ARestartIsAChange) {
  RedisServer redis;
  open(redis.port());
  run([&] { return prober->health().up; });
  redis.kill();
  redis.start();
  run([&] { return prober->health().identity.incarnation != told[0].identity.incarnation; });
  EXPECT_TRUE(prober->health().up);
}

// Promotion leaves the connections open (model/results.md, fact 6): only asking again shows it.
TEST_F(HealthTest, AChangeOfRoleOnTheSameConnectionIsSeen) {
  RedisServer redis;
  open(redis.port());
  run([&] { return prober->health().up; });
  const Incarnation before = prober->health().identity.incarnation;
  RawClient admin = redis.client();
  ASSERT_EQ(admin.ask({"REPLICAOF", "127.0.0.1", "1"}), "OK");
  run([&] { return !prober->health().identity.primary; });
  ASSERT_EQ(admin.ask({"REPLICAOF", "NO", "ONE"}), "OK");
  run([&] { return prober->health().identity.primary; });
  EXPECT_EQ(prober->health().identity.incarnation.run_id, before.run_id);
  EXPECT_NE(prober->health().identity.incarnation.replication_id, before.replication_id);
  EXPECT_EQ(prober->pipe().stats().reconnects, 1U);
}

}  // namespace
}  // namespace cleave::backend
