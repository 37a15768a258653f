// How the clocks of servers are compared (protocol, "Expiry") when ours is wrong.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "backend/redis_store.h"
#include "sim/model/server.h"

namespace cleave::sim {
namespace {

constexpr std::int64_t kSlackMs = 6;  // round trips and rounding

class OpenGate final : public backend::Gate {
 public:
  const SessionId& session() const override { return session_; }
  void confirm(std::function<void(Result<void>)> done) override { done({}); }

 private:
  SessionId session_{"r1"};
};

class Clocks : public testing::Test {
 protected:
  void TearDown() override { scheduler_.clear(); }  // events hold what belongs to the loop

  std::int64_t clock_of(const net::Address& address) {
    backend::RedisStore store(
        loop_, gate_, Rng(7),
        {.address = address, .credentials = {}, .limits = {}, .on_state = [](bool) {}});
    std::optional<Result<backend::StoreIdentity>> seen;
    store.identify([&](Result<backend::StoreIdentity> identity) { seen = std::move(identity); });
    while (!seen) scheduler_.step();
    return (*seen)->clock_ms;
  }

  Scheduler scheduler_{1};
  Network network_{scheduler_, {}};
  Process& process_ = network_.add_process("10.2.0.1");
  SimLoop loop_{network_, process_};
  OpenGate gate_;
  ModelServer left_{scheduler_, network_, {.address = {"10.1.0.1", 6379}, .password = {}}};
  ModelServer right_{
      scheduler_, network_, {.address = {"10.1.0.2", 6379}, .password = {}, .clock_skew_ms = 400}};
};

TEST_F(Clocks, DifferByWhatTheServersDiffer) {
  const std::int64_t left = clock_of(left_.options().address);
  EXPECT_LE(std::abs(clock_of(right_.options().address) - left - 400), kSlackMs);
}

TEST_F(Clocks, AJumpOfOurWallClockBetweenTheQuestionsBendsNothing) {
  const std::int64_t left = clock_of(left_.options().address);
  process_.set_wall_skew(milliseconds{400});
  EXPECT_LE(std::abs(clock_of(right_.options().address) - left - 400), kSlackMs);
}

}  // namespace
}  // namespace cleave::sim
