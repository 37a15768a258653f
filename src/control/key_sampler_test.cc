// The sampler on a real redis-server.
#include "control/key_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/redis_testing.h"
#include "ring/testing.h"

namespace cleave::control {
namespace {

using backend::run_until;

class Sampling : public testing::Test {
 protected:
  void ask_until(std::size_t samples) {
    run_until(*loop_, [&] { return store_->usable(); });
    run_until(*loop_, [&] {
      if (of_.size() >= samples) return true;
      sampler_.ask(NodeId{1}, store_, view_);
      of_ = sampler_.of(NodeId{1}, *view_);
      return false;
    });
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
  KeySampler sampler_;
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
  ask_until(1'000);
  ASSERT_TRUE(std::ranges::is_sorted(of_, {}, &balance::KeySample::token));
  std::size_t large_ones = 0;
  for (const balance::KeySample& sample : of_) {
    ASSERT_TRUE(is_large.contains(sample.token));
    EXPECT_EQ(sample.bytes > 10'000, is_large[sample.token]);
    large_ones += is_large[sample.token] ? 1U : 0U;
  }
  EXPECT_NEAR(static_cast<double>(large_ones) / static_cast<double>(of_.size()), 0.25, 0.1);
}

TEST_F(Sampling, KeepsTheNewestAndForgetsWhoLeft) {
  for (int i = 0; i < 50; ++i) client_.ask({"SET", "key:" + std::to_string(i), "x"});
  std::size_t most = 0;
  ask_until(900);
  for (int round = 0; round < 60; ++round) sampler_.ask(NodeId{1}, store_, view_);
  run_until(*loop_, [&] { return store_->unfinished() == 0; });
  most = sampler_.of(NodeId{1}, *view_).size();
  EXPECT_LE(most, KeySampler::kKept);
  EXPECT_GT(most, 500U);
  sampler_.forget(NodeId{1});
  EXPECT_TRUE(sampler_.of(NodeId{1}, *view_).empty());
}

TEST_F(Sampling, AnEmptyServerHasNoSamples) {
  run_until(*loop_, [&] { return store_->usable(); });
  sampler_.ask(NodeId{1}, store_, view_);
  run_until(*loop_, [&] { return store_->unfinished() == 0; });
  EXPECT_TRUE(sampler_.of(NodeId{1}, *view_).empty());
}

}  // namespace
}  // namespace cleave::control
