// The copier and the store behind it, between two real redis-servers.
#include "control/copier.h"

#include <gtest/gtest.h>

#include <optional>

#include "backend/redis_testing.h"

namespace cleave::control {
namespace {

using backend::OpenGate;
using backend::RawClient;
using backend::run_until;

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

  migrate::Copied copy(std::vector<std::string> keys) {
    from_ = connect(source_);
    to_ = connect(destination_);
    facts(*from_);
    facts(*to_);
    Copier copier(*loop_, *from_, *to_, throttle_, limits_);
    std::optional<Result<migrate::Copied>> copied;
    copier.copy(std::move(keys), Hurry::kThrottled, [&](auto result) { copied = result; });
    run_until(*loop_, [&] { return copied.has_value(); });
    EXPECT_TRUE(copied->has_value()) << copied->error().message;
    return copied->has_value() ? **copied : migrate::Copied{};
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
};

TEST_F(Copying, KeepsValueExpiryAndAge) {
  a_.ask({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  a_.ask({"SET", "plain", std::string("\0\r\n$5\r\n\xff", 8)});
  a_.ask({"SET", "mortal", "x"});
  a_.ask({"PEXPIREAT", "mortal", "4102444800123"});
  a_.ask({"RESTORE", "old", "0", std::string(a_.call({"DUMP", "plain"}).text), "IDLETIME", "77"});
  EXPECT_EQ(copy({"plain", "mortal", "old"}).keys, 3U);
  expect_same("plain");
  EXPECT_EQ(b_.ask({"PEXPIRETIME", "plain"}), "-1");
  EXPECT_EQ(b_.ask({"PEXPIRETIME", "mortal"}), "4102444800123");
  EXPECT_GE(std::stoi(b_.ask({"OBJECT", "IDLETIME", "old"})), 77);
}

// Ages are asked for where the server evicts by them; with "noeviction" they would cost for
// nothing.
TEST_F(Copying, AsksOnlyForTheAgeByWhichTheServerEvicts) {
  struct Case {
    std::string policy;
    std::string asked;  // the counter of INFO commandstats
  };
  for (const Case& one :
       {Case{"allkeys-lfu", "cmdstat_object|freq:calls=1"},
        Case{"volatile-lru", "cmdstat_object|idletime:calls=1"}, Case{"noeviction", ""}}) {
    a_.ask({"CONFIG", "SET", "maxmemory-policy", one.policy});
    a_.ask({"CONFIG", "RESETSTAT"});
    a_.ask({"SET", "k", "v"});
    EXPECT_EQ(copy({"k"}).keys, 1U);
    const std::string stats = a_.ask({"INFO", "commandstats"});
    EXPECT_EQ(stats.find("cmdstat_object") != std::string::npos, !one.asked.empty()) << stats;
    EXPECT_NE(stats.find(one.asked), std::string::npos) << stats;
    expect_same("k");
  }
}

TEST_F(Copying, AnAbsentKeyIsRemovedAtTheDestination) {
  b_.ask({"SET", "ghost", "from an earlier life"});
  copy({"ghost"});
  EXPECT_EQ(b_.ask({"EXISTS", "ghost"}), "0");
}

TEST_F(Copying, OverwritesWhatIsThere) {
  a_.ask({"RPUSH", "k", "new"});
  b_.ask({"SET", "k", "old"});
  copy({"k"});
  expect_same("k");
}

TEST_F(Copying, BigValuesOfEveryKindGoInPieces) {
  limits_.big_value_bytes = 10'000;
  std::string text(3'000'000, 'x');
  text[1'500'000] = '\0';
  a_.ask({"SET", "string", text});
  for (int i = 0; i < 5'000; ++i) {
    const std::string n = std::to_string(i);
    a_.ask({"RPUSH", "list", "element" + n});
    a_.ask({"SADD", "set", "member" + n});
    a_.ask({"HSET", "hash", "field" + n, "value" + n});
    a_.ask({"ZADD", "zset", std::to_string(i) + ".25", "member" + n});
  }
  a_.ask({"PEXPIREAT", "hash", "4102444800123"});
  const migrate::Copied copied = copy({"string", "list", "set", "hash", "zset"});
  EXPECT_EQ(copied.keys, 5U);
  EXPECT_TRUE(copied.unmovable.empty());
  for (const char* key : {"string", "list", "set", "hash", "zset"}) expect_same(key);
  const std::int64_t expires = std::stoll(b_.ask({"PEXPIRETIME", "hash"}));
  EXPECT_NEAR(static_cast<double>(expires), 4102444800123.0, 5.0);
  EXPECT_EQ(b_.ask({"DBSIZE"}), "5") << "no hidden key is left";
}

TEST_F(Copying, WhatCannotBeMovedIsNamedAndLeft) {
  limits_.big_value_bytes = 10'000;
  limits_.value_bytes_max = 2'000'000;
  a_.ask({"SET", "huge", std::string(3'000'000, 'x')});
  for (int i = 0; i < 1'000; ++i) a_.ask({"XADD", "stream", "*", "f", std::string(100, 'v')});
  a_.ask({"SET", "small", "x"});
  const migrate::Copied copied = copy({"huge", "stream", "small"});
  ASSERT_EQ(copied.unmovable.size(), 2U);
  EXPECT_EQ(copied.unmovable[0].key, "huge");
  EXPECT_EQ(copied.unmovable[1].key, "stream");
  EXPECT_EQ(b_.ask({"KEYS", "*"}), "[small]");
}

TEST_F(Copying, AFullDestinationIsNamedByItsOwnWords) {
  a_.ask({"SET", "k", std::string(1'000, 'x')});
  b_.ask({"CONFIG", "SET", "maxmemory", "1"});
  const migrate::Copied copied = copy({"k"});
  ASSERT_EQ(copied.unmovable.size(), 1U);
  EXPECT_NE(copied.unmovable[0].reason.find("OOM"), std::string::npos);
}

TEST_F(Copying, HoldsItsBudget) {
  throttle_ = Throttle(1'000'000);
  std::vector<std::string> keys;
  Rng rng(1);
  for (int i = 0; i < 150; ++i) {
    keys.push_back("k" + std::to_string(i));
    std::string value;  // random: DUMP compresses
    while (value.size() < 10'000) value += static_cast<char>(rng.next());
    a_.ask({"SET", keys.back(), value});
  }
  limits_.copy_batch_keys = 10;
  const Instant began = loop_->now();
  copy(keys);
  // 1.5 MB at 1 MB/s, of which a quarter of a second was saved up.
  EXPECT_GT(loop_->now() - began, milliseconds{900});
}

TEST_F(Copying, AMarkerIsWrittenOnceAndNeverOver) {
  from_ = connect(source_);
  std::optional<Result<void>> mine;
  from_->mark("mine", [&](Result<void> result) { mine = result; });
  run_until(*loop_, [&] { return mine.has_value(); });
  EXPECT_TRUE(mine->has_value());
  std::optional<Result<void>> other;
  from_->mark("other", [&](Result<void> result) { other = result; });
  run_until(*loop_, [&] { return other.has_value(); });
  ASSERT_FALSE(other->has_value());
  EXPECT_EQ(other->error().code, Code::kConflict);
  EXPECT_EQ(facts(*from_).identity.mark, "mine");
  EXPECT_EQ(facts(*from_).keys, 0U) << "the marker is not counted";
}

TEST_F(Copying, AListingHasEveryKeyOnce) {
  for (int i = 0; i < 5'000; ++i) a_.ask({"SET", "k" + std::to_string(i), "v"});
  from_ = connect(source_);
  std::set<std::string> seen;
  std::optional<std::string> next = "";
  while (next) {
    std::optional<backend::Page> page;
    from_->list(
        *next, [](std::string_view key) { return !key.ends_with('7'); },
        [&](Result<backend::Page> result) { page = *result; });
    run_until(*loop_, [&] { return page.has_value(); });
    seen.insert(page->keys.begin(), page->keys.end());
    if (page->next.empty()) break;
    next = page->next;
  }
  EXPECT_EQ(seen.size(), 4'500U);
}

}  // namespace
}  // namespace cleave::control
