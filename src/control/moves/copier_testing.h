// For tests of the copier and the store behind it: two real redis-servers.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis_testing.h"
#include "control/moves/copier.h"

namespace cleave::control {

using backend::OpenGate;
using backend::RawClient;
using backend::run_until;

// Copies from `source_` to `destination_`; `a_` and `b_` ask them.
class Copying : public testing::Test {
 protected:
  std::unique_ptr<backend::RedisStore> connect(const backend::RedisServer& server) {
    return std::make_unique<backend::RedisStore>(*loop_, gate_, Rng{1},
                                                 backend::Pipe::Options{.address = server.address(),
                                                                        .credentials = {},
                                                                        .limits = limits_,
                                                                        .on_state = [](bool) {},
                                                                        .mutations = {}});
  }

  backend::StoreFacts facts(backend::Store& store) {
    std::optional<Result<backend::StoreFacts>> seen;
    store.facts([&](Result<backend::StoreFacts> facts) { seen = std::move(facts); });
    run_until(*loop_, [&] { return seen.has_value(); });
    return **seen;
  }

  Result<migrate::Copied> try_copy(std::vector<std::string> keys) {
    from_ = connect(source_);
    to_ = connect(destination_);
    facts(*from_);
    facts(*to_);
    Copier copier(*loop_, *from_, *to_, throttle_, limits_);
    copier.count_in(made_);
    std::optional<Result<migrate::Copied>> copied;
    copier.copy(std::move(keys), Hurry::kThrottled, [&](auto result) { copied = result; });
    run_until(*loop_, [&] { return copied.has_value(); });
    failed_at_ = copier.failed_at();
    return *copied;
  }

  migrate::Copied copy(std::vector<std::string> keys) {
    const Result<migrate::Copied> copied = try_copy(std::move(keys));
    EXPECT_TRUE(copied.has_value()) << copied.error().message;
    return copied.value_or(migrate::Copied{});
  }

  // The same value at both ends, by the servers' own digest.
  void expect_same(const std::string& key) {
    EXPECT_EQ(a_.ask({"DEBUG", "DIGEST-VALUE", key}), b_.ask({"DEBUG", "DIGEST-VALUE", key}))
        << key;
    EXPECT_EQ(b_.ask({"EXISTS", key}), "1") << key;
  }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  OpenGate gate_{*loop_};
  Limits limits_;
  Throttle throttle_{0};
  backend::RedisServer source_{{"--enable-debug-command", "yes"}};
  backend::RedisServer destination_{{"--enable-debug-command", "yes"}};
  RawClient a_ = source_.client();
  RawClient b_ = destination_.client();
  std::unique_ptr<backend::RedisStore> from_;
  std::unique_ptr<backend::RedisStore> to_;
  std::optional<backend::End> failed_at_;
  std::shared_ptr<CopyCount> made_ = std::make_shared<CopyCount>();
};

}  // namespace cleave::control
