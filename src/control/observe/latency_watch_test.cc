// Against a real redis-server: what a client would wait is what is measured.
#include "control/observe/latency_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/redis_testing.h"

namespace cleave::control {
namespace {

constexpr NodeId kNode{1};

class Watching : public testing::Test {
 protected:
  Watching() { watch_.follow(kNode, server_.address()); }

  // What is measured until something is.
  ServerPace measure() {
    std::vector<ServerPace> seen;
    backend::run_until(*loop_, [&] {
      seen = watch_.end_second({kNode});
      return !seen.empty();
    });
    return seen.empty() ? ServerPace{} : seen.front();
  }

  backend::RedisServer server_;
  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  LatencyWatch watch_{
      {.loop = *loop_, .credentials = {}, .session = SessionId{"watch"}, .limits = {}, .seed = 1}};
};

TEST_F(Watching, SeesAServerThatMakesItsClientsWait) {
  EXPECT_GT(measure().p99, nanoseconds{0});
  backend::RawClient client = server_.client();
  client.ask({"CLIENT", "PAUSE", "300", "ALL"});
  const auto slow = [&] { return measure().p99 > milliseconds{50}; };
  bool seen = false;
  for (int i = 0; i < 1'000'000 && !seen; ++i) seen = slow();
  EXPECT_TRUE(seen);
}

TEST_F(Watching, SaysNothingOfServersThatNoMoveTouches) {
  EXPECT_GT(measure().p99, nanoseconds{0});
  EXPECT_TRUE(watch_.end_second({}).empty());
  watch_.forget(kNode);
  EXPECT_TRUE(watch_.end_second({kNode}).empty());
}

}  // namespace
}  // namespace cleave::control
