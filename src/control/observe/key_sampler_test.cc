// The sampler on a real redis-server.
#include "control/observe/key_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/redis_testing.h"
#include "ring/edits/ring_testing.h"

namespace cleave::control {
namespace {

using backend::run_until;

class Sampling : public testing::Test {
 protected:
  void ask(std::size_t pages) {
    run_until(*loop_, [&] { return store_->usable(); });
    sampler_.ask(NodeId{1}, store_, view_, pages);
    run_until(*loop_, [&] { return store_->unfinished() == 0; });
    of_ = sampler_.of(NodeId{1}, *view_);
  }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  backend::OpenGate gate_{*loop_};
  backend::RedisServer server_;
  backend::RawClient client_ = server_.client();
  std::shared_ptr<backend::RedisStore> store_ =
      std::make_shared<backend::RedisStore>(*loop_, gate_, Rng{1},
                                            backend::Pipe::Options{.address = server_.address(),
                                                                   .credentials = {},
                                                                   .limits = {},
                                                                   .on_state = [](bool) {},
                                                                   .mutations = {}});
  ring::RingSnapshot view_ = ring::testing::view_of(ring::testing::make_document({1, 1}));
  KeySampler sampler_{*loop_};
  std::vector<balance::KeySample> of_;
};

// Half of the keys are of another node: what moved away counts no more.
TEST_F(Sampling, TellsTokensAndSizesOfTheNodesOwnKeysOnly) {
  const std::string large(10'000, 'x');
  std::map<Token, bool> is_large;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "key:" + std::to_string(i);
    const bool big = i % 4 == 0;
    client_.ask({"SET", key, big ? large : "x"});
    if (view_->owner(view_->token_of(key)) == NodeId{1}) is_large[view_->token_of(key)] = big;
  }
  client_.ask({"SET", "cleave:{owner}", large});
  ask(3);
  ASSERT_TRUE(std::ranges::is_sorted(of_));
  EXPECT_EQ(of_.size(), is_large.size());  // each once
  for (const balance::KeySample& sample : of_) {
    ASSERT_TRUE(is_large.contains(sample.token));
    EXPECT_EQ(sample.bytes > 10'000, is_large[sample.token]);
    EXPECT_EQ(sample.weight_ppm, 1'000'000U);
  }
}

TEST_F(Sampling, GoesOnPageByPageAndForgetsWhoLeft) {
  for (int i = 0; i < 3'000; ++i) client_.ask({"SET", "key:" + std::to_string(i), "x"});
  ask(1);
  const std::size_t first = of_.size();
  EXPECT_GT(first, 60U);
  EXPECT_LT(first, 300U);
  ask(4);
  EXPECT_GT(of_.size(), 4 * first);
  ask(20);
  EXPECT_NEAR(static_cast<double>(of_.size()), 1'500, 300);
  sampler_.forget(NodeId{1});
  EXPECT_TRUE(sampler_.of(NodeId{1}, *view_).empty());
}

TEST_F(Sampling, AnEmptyServerHasNoSamples) {
  ask(2);
  EXPECT_TRUE(of_.empty());
  EXPECT_TRUE(sampler_.answers(NodeId{1}));
}

TEST_F(Sampling, AServerThatForbidsItDoesNotAnswer) {
  client_.ask({"SET", "key", "x"});
  client_.ask({"ACL", "SETUSER", "default", "-memory"});
  for (int round = 0; round < 8; ++round) ask(1);
  EXPECT_FALSE(sampler_.answers(NodeId{1}));
  client_.ask({"ACL", "SETUSER", "default", "+memory"});
  ask(1);
  EXPECT_TRUE(sampler_.answers(NodeId{1}));
}

}  // namespace
}  // namespace cleave::control
