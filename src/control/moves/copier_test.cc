// The copier and the store behind it, between two real redis-servers.
#include "control/moves/copier.h"

#include <gtest/gtest.h>

#include <optional>

#include "backend/redis_testing.h"
#include "control/moves/copier_testing.h"

namespace cleave::control {
namespace {

using backend::OpenGate;
using backend::RawClient;
using backend::run_until;

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

// So that DBSIZE less the copies is what it was before.
TEST_F(Copying, CountsTheKeysThatThereAreMore) {
  limits_.big_value_bytes = 10'000;
  b_.ask({"SET", "other", "x"});
  a_.ask({"SET", "small", "x"});
  a_.ask({"SET", "big", std::string(100'000, 'x')});
  copy({"small", "big", "absent"});
  EXPECT_EQ(made_->keys, 2);
  copy({"small", "big", "absent"});
  EXPECT_EQ(made_->keys, 2) << "copied again";
  a_.ask({"DEL", "small", "big"});
  copy({"small", "big"});
  EXPECT_EQ(made_->keys, 0);
  EXPECT_EQ(b_.ask({"DBSIZE"}), "1");
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
  limits_.value_bytes_max = 2'000'000;
  a_.ask({"SET", "huge", std::string(3'000'000, 'x')});
  a_.ask({"SET", "small", "x"});
  const migrate::Copied copied = copy({"huge", "small"});
  ASSERT_EQ(copied.unmovable.size(), 1U);
  EXPECT_EQ(copied.unmovable[0].key, "huge");
  EXPECT_EQ(b_.ask({"KEYS", "*"}), "[small]");
}

// XINFO STREAM FULL without what tells of the copying itself.
std::string described(const wire::Reply& reply) {
  std::string text;
  for (std::size_t i = 0; i < reply.elements.size(); ++i) {
    const std::string& name = reply.elements[i].text;
    const bool passed =
        name.starts_with("radix-tree-") || name == "seen-time" || name == "active-time";
    if (passed && ++i > 0) continue;
    const wire::Reply& each = reply.elements[i];
    text += each.elements.empty() ? RawClient::text(each) + " " : "[" + described(each) + "] ";
  }
  return text;
}

TEST_F(Copying, BigStreamsGoInPiecesWithGroupsAndWhatIsPending) {
  limits_.big_value_bytes = 10'000;
  // 5-1, 5-2, ... so that ids need both their parts.
  for (int i = 1; i <= 6'000; ++i)
    a_.ask({"XADD", "s", "5-" + std::to_string(i), "n", std::to_string(i), "f", "value"});
  a_.ask({"XGROUP", "CREATE", "s", "all", "0"});
  a_.ask({"XGROUP", "CREATE", "s", "some", "5-100"});
  a_.ask({"XGROUP", "CREATECONSUMER", "s", "all", "idle"});
  a_.ask({"XREADGROUP", "GROUP", "all", "one", "COUNT", "350", "STREAMS", "s", ">"});
  a_.ask({"XREADGROUP", "GROUP", "all", "two", "COUNT", "50", "STREAMS", "s", ">"});
  a_.ask({"XREADGROUP", "GROUP", "some", "one", "COUNT", "5", "STREAMS", "s", ">"});
  a_.ask({"XACK", "s", "all", "5-3", "5-300"});
  a_.ask({"XCLAIM", "s", "all", "two", "0", "5-7", "5-8"});
  // Pending and deleted: first, in between, and what follows the last.
  a_.ask({"XDEL", "s", "5-1", "5-2", "5-120", "5-399", "5-5000"});
  a_.ask({"XADD", "s", "7-1", "n", "last"});
  a_.ask({"XREADGROUP", "GROUP", "all", "late", "COUNT", "9999", "STREAMS", "s", ">"});
  a_.ask({"XDEL", "s", "7-1"});
  a_.ask({"PEXPIREAT", "s", "4102444800123"});
  const migrate::Copied copied = copy({"s"});
  EXPECT_EQ(copied.keys, 1U);
  EXPECT_TRUE(copied.unmovable.empty());
  const auto full = [](RawClient& client) {
    return described(client.call({"XINFO", "STREAM", "s", "FULL", "COUNT", "0"}));
  };
  EXPECT_EQ(full(a_), full(b_));
  EXPECT_EQ(a_.ask({"XINFO", "GROUPS", "s"}), b_.ask({"XINFO", "GROUPS", "s"}));
  expect_same("s");
  EXPECT_NEAR(static_cast<double>(std::stoll(b_.ask({"PEXPIRETIME", "s"}))), 4102444800123.0, 5.0);
  EXPECT_EQ(b_.ask({"DBSIZE"}), "1");
}

// Everything read and deleted: groups alone.
TEST_F(Copying, AStreamWithoutEntriesKeepsItsGroups) {
  limits_.big_value_bytes = 100;
  for (int i = 1; i <= 50; ++i) a_.ask({"XADD", "s", std::to_string(i) + "-0", "f", "v"});
  a_.ask({"XGROUP", "CREATE", "s", "g", "0"});
  a_.ask({"XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"});
  a_.ask({"XTRIM", "s", "MAXLEN", "0"});
  EXPECT_TRUE(copy({"s"}).unmovable.empty());
  EXPECT_EQ(described(a_.call({"XINFO", "STREAM", "s", "FULL"})),
            described(b_.call({"XINFO", "STREAM", "s", "FULL"})));
}

// Of the server, and of no key: nothing is left behind for it.
TEST_F(Copying, WhatAServerSaysOfItselfEndsTheCopyWithItsWords) {
  a_.ask({"SET", "k", std::string(1'000, 'x')});
  const auto expect_refused = [&](backend::End end, const std::string& words) {
    const Result<migrate::Copied> copied = try_copy({"k"});
    ASSERT_FALSE(copied.has_value()) << words;
    EXPECT_NE(copied.error().message.find(words), std::string::npos) << copied.error().message;
    EXPECT_EQ(failed_at_, end) << words;
  };
  b_.ask({"CONFIG", "SET", "maxmemory", "1"});
  expect_refused(backend::End::kDestination, "OOM");
  limits_.big_value_bytes = 100;
  expect_refused(backend::End::kDestination, "OOM");
  limits_ = {};
  b_.ask({"CONFIG", "SET", "maxmemory", "0"});
  b_.ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
  expect_refused(backend::End::kDestination, "NOREPLICAS");
  b_.ask({"CONFIG", "SET", "min-replicas-to-write", "0"});
  b_.ask({"ACL", "SETUSER", "default", "-restore"});
  expect_refused(backend::End::kDestination, "NOPERM");
  b_.ask({"ACL", "SETUSER", "default", "+restore"});
  a_.ask({"ACL", "SETUSER", "default", "-dump"});
  expect_refused(backend::End::kSource, "NOPERM");
  a_.ask({"ACL", "SETUSER", "default", "+dump", "-memory"});
  expect_refused(backend::End::kSource, "NOPERM");
  a_.ask({"ACL", "SETUSER", "default", "+memory"});
  EXPECT_EQ(copy({"k"}).keys, 1U);
}

// The sizes of the first few elements say nothing of the one that counts.
TEST_F(Copying, AnElementThatIsTooLargeKeepsItsKeyBehindUnread) {
  limits_.element_bytes_max = 1'000'000;
  limits_.big_value_bytes = 2'000'000;
  for (int i = 0; i < 4'000; ++i) {
    const std::string n = std::to_string(i);
    a_.ask({"HSET", "hash", "f" + n, "v"});
    a_.ask({"SADD", "set", "m" + n});
    a_.ask({"RPUSH", "list", "e" + n});
  }
  const std::string large(3'000'000, 'x');
  a_.ask({"HSET", "hash", "large", large});
  a_.ask({"SADD", "set", large});
  a_.ask({"RPUSH", "list", large});
  a_.ask({"CONFIG", "RESETSTAT"});
  const migrate::Copied copied = copy({"hash", "set", "list"});
  ASSERT_EQ(copied.unmovable.size(), 3U);
  for (const migrate::Unmovable& each : copied.unmovable)
    EXPECT_NE(each.reason.find("element of 3000000 bytes"), std::string::npos) << each.reason;
  const std::string stats = a_.ask({"INFO", "commandstats"});
  EXPECT_EQ(stats.find("cmdstat_hmget"), std::string::npos) << "no field is read";
  EXPECT_EQ(b_.ask({"DBSIZE"}), "0");
}

// Met among the first, it makes all others seem as large.
TEST_F(Copying, OneLargeElementMakesNoValueTooLarge) {
  limits_.value_bytes_max = 20'000'000;
  limits_.big_value_bytes = 2'000'000;
  a_.ask({"ZADD", "zset", "0", std::string(3'000'000, 'x')});
  for (int i = 1; i < 5'000; ++i)
    a_.ask({"ZADD", "zset", std::to_string(i), "m" + std::to_string(i)});
  EXPECT_TRUE(copy({"zset"}).unmovable.empty());
  expect_same("zset");
}

TEST_F(Copying, PiecesAreBoundedInBytes) {
  limits_.big_value_bytes = 10'000;
  const std::string large(400'000, 'x');
  for (int i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    a_.ask({"RPUSH", "list", n + large});
    a_.ask({"HSET", "hash", "f" + n, n + large});
    a_.ask({"SADD", "set", n + large});
  }
  a_.ask({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(copy({"list", "hash", "set"}).big.size(), 3U) << "20 MB each: not for a fence";
  for (const char* key : {"list", "hash", "set"}) expect_same(key);
  const std::string stats = a_.ask({"INFO", "commandstats"});
  for (const char* read :
       {"cmdstat_lrange:calls=", "cmdstat_hmget:calls=", "cmdstat_sscan:calls="}) {
    const std::size_t at = stats.find(read);
    ASSERT_NE(at, std::string::npos) << read;
    // 20 MB in pieces of about 1 MiB; SCAN gives what it has in a bucket.
    EXPECT_GE(std::stoi(stats.substr(at + std::string_view(read).size())), 10) << read;
  }
}

// A longer argument would cost the connection, and with it the move, each time.
TEST_F(Copying, WhatTheDestinationTakesInNoOneArgumentGoesInPieces) {
  b_.ask({"CONFIG", "SET", "proto-max-bulk-len", "1mb"});
  Rng rng(1);
  std::string value;  // random: DUMP compresses
  while (value.size() < 3'000'000) value += static_cast<char>(rng.next());
  a_.ask({"SET", "string", value});
  a_.ask({"RPUSH", "list", value.substr(0, 900'000), value.substr(900'000, 900'000)});
  a_.ask({"RPUSH", "element", value.substr(0, 1'500'000)});
  const migrate::Copied copied = copy({"string", "list", "element"});
  expect_same("list");
  ASSERT_EQ(copied.unmovable.size(), 2U);
  EXPECT_EQ(copied.unmovable[0].key, "string") << "no string there may be as long";
  EXPECT_EQ(copied.unmovable[1].key, "element");
  EXPECT_EQ(b_.ask({"DBSIZE"}), "1");
}

// RENAME over it, or RESTORE REPLACE, would free it before it answers.
TEST_F(Copying, AFormerCopyIsUnlinkedFirst) {
  limits_.big_value_bytes = 10'000;
  a_.ask({"SET", "k", std::string(100'000, 'x')});
  from_ = connect(source_);
  to_ = connect(destination_);
  facts(*from_);
  Copier copier(*loop_, *from_, *to_, throttle_, limits_);
  int copies = 0;
  const auto again = [&] {
    const int before = copies;
    copier.copy({"k"}, Hurry::kThrottled, [&](const auto& copied) {
      EXPECT_TRUE(copied.has_value());
      ++copies;
    });
    run_until(*loop_, [&] { return copies > before; });
    expect_same("k");
  };
  const auto unlinks = [&] {
    const std::string stats = b_.ask({"INFO", "commandstats"});
    const std::string_view name = "cmdstat_unlink:calls=";
    const std::size_t at = stats.find(name);
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + name.size()));
  };
  again();
  b_.ask({"CONFIG", "RESETSTAT"});
  again();
  EXPECT_EQ(unlinks(), 2) << "the hidden key, and the copy of the round before";
  b_.ask({"CONFIG", "RESETSTAT"});
  a_.ask({"SET", "k", "small"});
  again();
  EXPECT_EQ(unlinks(), 1);
  again();
  EXPECT_EQ(unlinks(), 1) << "a small one over a small one";
}

// Whatever it became, that is what is copied.
TEST_F(Copying, ABigValueThatChangesInItsCopyIsCopiedAsItIsThen) {
  limits_.big_value_bytes = 10'000;
  throttle_ = Throttle(8'000'000);
  struct Case {
    const char* name;
    std::function<void()> change;
  };
  const auto fill = [&] {
    a_.ask({"DEL", "k"});
    for (int i = 0; i < 40; ++i)
      a_.ask({"RPUSH", "k", std::string(200'000, 'a'), std::string(200'000, 'b')});
  };
  for (const Case& one : {
           Case{"another type",
                [&] {
                  a_.ask({"DEL", "k"});
                  a_.ask({"SET", "k", "small"});
                }},
           Case{"gone", [&] { a_.ask({"DEL", "k"}); }},
           Case{"expired", [&] { a_.ask({"PEXPIRE", "k", "1"}); }},
           Case{"small",
                [&] {
                  a_.ask({"DEL", "k"});
                  a_.ask({"HSET", "k", "f", "v"});
                }},
       }) {
    SCOPED_TRACE(one.name);
    fill();
    loop_->after(milliseconds{700}, one.change);
    const migrate::Copied copied = copy({"k"});
    EXPECT_TRUE(copied.unmovable.empty());
    EXPECT_EQ(a_.ask({"DEBUG", "DIGEST-VALUE", "k"}), b_.ask({"DEBUG", "DIGEST-VALUE", "k"}));
    EXPECT_EQ(a_.ask({"EXISTS", "k"}), b_.ask({"EXISTS", "k"}));
    EXPECT_EQ(b_.ask({"EXISTS", "cleave:{move}:k"}), "0");
  }
}

TEST_F(Copying, ABigValueWhoseTimeComesInItsCopyIsGoneAtBothEnds) {
  limits_.big_value_bytes = 10'000;
  throttle_ = Throttle(8'000'000);
  for (int i = 0; i < 40; ++i) a_.ask({"RPUSH", "k", std::string(200'000, 'a')});
  a_.ask({"PEXPIRE", "k", "500"});
  EXPECT_TRUE(copy({"k"}).unmovable.empty());
  EXPECT_EQ(b_.ask({"DBSIZE"}), "0");
}

TEST_F(Copying, ProgressShowsWhileABigValueIsCopied) {
  limits_.big_value_bytes = 10'000;
  throttle_ = Throttle(8'000'000);
  for (int i = 0; i < 40; ++i) a_.ask({"RPUSH", "k", std::string(200'000, 'a')});
  from_ = connect(source_);
  to_ = connect(destination_);
  facts(*from_);
  Copier copier(*loop_, *from_, *to_, throttle_, limits_);
  bool ended = false;
  copier.copy({"k"}, Hurry::kThrottled, [&](const auto&) { ended = true; });
  run_until(*loop_, [&] { return copier.under_way().bytes > 2'000'000; });
  EXPECT_FALSE(ended);
  run_until(*loop_, [&] { return ended; });
  EXPECT_EQ(copier.under_way().bytes, 0U);
}

// One command of 150 ms beside the question is no clock that is wrong by 75 ms.
TEST_F(Copying, ASlowCommandIsNoClockThatDiffers) {
  from_ = connect(source_);
  facts(*from_);
  const auto clock = [&] {
    std::optional<Result<backend::StoreIdentity>> seen;
    from_->identify([&](auto identity) { seen = std::move(identity); });
    run_until(*loop_, [&] { return seen.has_value(); });
    return (*seen)->clock_ms;
  };
  const std::int64_t at_rest = clock();
  a_.send(wire::command({"DEBUG", "SLEEP", "0.2"}));
  std::this_thread::sleep_for(milliseconds{20});
  EXPECT_NEAR(static_cast<double>(clock()), static_cast<double>(at_rest), 12.0);
  a_.read();
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
