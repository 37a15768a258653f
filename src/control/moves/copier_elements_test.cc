// Elements over a whole copy (protocol rule 27), between two real redis-servers.
#include <gtest/gtest.h>

#include "control/moves/copier_testing.h"

namespace cleave::control {
namespace {

using Names = std::vector<std::string>;

class CopyingElements : public Copying {
 protected:
  CopyingElements() { limits_.big_value_bytes = 10'000; }

  void fill(int elements = 3'000) {
    for (int i = 0; i < elements; ++i) {
      const std::string n = std::to_string(i);
      a_.ask({"HSET", "hash", "f" + n, "value" + n});
      a_.ask({"SADD", "set", "m" + n});
      a_.ask({"ZADD", "zset", n + ".25", "m" + n});
    }
  }

  // A copier that lives on, as in a move.
  migrate::Copied run(migrate::CopyKeys order) {
    if (copier_ == nullptr) {
      from_ = connect(source_);
      to_ = connect(destination_);
      facts(*from_);
      facts(*to_);
      copier_ = std::make_unique<Copier>(*loop_, *from_, *to_, throttle_, limits_);
    }
    std::optional<Result<migrate::Copied>> copied;
    copier_->copy(std::move(order), [&](auto result) { copied = result; });
    run_until(*loop_, [&] { return copied.has_value(); });
    EXPECT_TRUE(copied && *copied);
    return copied && *copied ? **copied : migrate::Copied{};
  }
  migrate::Copied whole(Names keys) { return run({.keys = {}, .pieces = std::move(keys)}); }
  migrate::Copied elements(const std::string& key, Names names) {
    return run({.keys = {}, .elements = {{.key = key, .elements = std::move(names)}}});
  }

  std::unique_ptr<Copier> copier_;
};

TEST_F(CopyingElements, AreWrittenOverAndRemovedAsTheSourceHasThem) {
  fill();
  EXPECT_EQ(whole({"hash", "set", "zset"}).keys, 3U);
  a_.ask({"HSET", "hash", "f1", "changed", "new", "n"});
  a_.ask({"HINCRBY", "hash", "count", "7"});
  a_.ask({"HDEL", "hash", "f2"});
  a_.ask({"SADD", "set", "new"});
  a_.ask({"SREM", "set", "m2"});
  a_.ask({"ZADD", "zset", "-inf", "m1", "1e300", "new"});
  a_.ask({"ZREM", "zset", "m2"});
  EXPECT_TRUE(elements("hash", {"f1", "new", "count", "f2", "never"}).pieces.empty());
  EXPECT_TRUE(elements("set", {"new", "m2", "never"}).pieces.empty());
  EXPECT_TRUE(elements("zset", {"m1", "new", "m2", "never"}).pieces.empty());
  for (const char* key : {"hash", "set", "zset"}) expect_same(key);
  EXPECT_EQ(b_.ask({"DBSIZE"}), "3") << "no hidden key";
}

TEST_F(CopyingElements, ManyGoInPieces) {
  fill(9'000);
  whole({"hash"});
  Names all;
  for (int i = 0; i < 9'000; ++i) {
    const std::string n = std::to_string(i);
    i % 3 == 0 ? a_.ask({"HDEL", "hash", "f" + n})
               : a_.ask({"HSET", "hash", "f" + n, std::string(50, 'y')});
    all.push_back("f" + n);
  }
  const migrate::Copied copied = elements("hash", all);
  EXPECT_TRUE(copied.pieces.empty());
  EXPECT_GT(copied.bytes, 6'000U * 50U);
  expect_same("hash");
}

TEST_F(CopyingElements, WithoutAWholeCopyTheKeyIsLookedAt) {
  fill();
  a_.ask({"HSET", "small", "f", "v"});
  EXPECT_EQ(elements("hash", {"f1"}).pieces, Names{"hash"});
  EXPECT_EQ(b_.ask({"EXISTS", "hash"}), "0");
  EXPECT_TRUE(elements("small", {"f"}).pieces.empty());
  expect_same("small");
}

TEST_F(CopyingElements, KeepTheTimeOfTheirKey) {
  fill();
  for (const char* key : {"hash", "set", "zset"}) a_.ask({"PEXPIREAT", key, "4102444800000"});
  whole({"hash", "set", "zset"});
  a_.ask({"HSET", "hash", "f1", "changed"});
  elements("hash", {"f1"});
  elements("set", {"m1"});
  for (const char* key : {"hash", "set", "zset"}) {
    expect_same(key);
    EXPECT_NEAR(std::stod(b_.ask({"PEXPIRETIME", key})), 4102444800000.0, 50.0);
  }
}

// Rule 27 (d): the key has vanished and come again, and only its new element was marked.
TEST_F(CopyingElements, OfAKeyThatIsAnotherOneAreNotMixedWithTheOld) {
  struct Case {
    const char* name;
    std::function<void()> vanish;
    std::function<void()> again;
  };
  for (const Case& one : {
           Case{"its time came", [&] { a_.ask({"PEXPIRE", "hash", "1"}); },
                [&] { a_.ask({"HSET", "hash", "x", "1"}); }},
           Case{"another type", [&] { a_.ask({"DEL", "hash"}); },
                [&] { a_.ask({"SADD", "hash", "x"}); }},
           Case{"gone", [&] { a_.ask({"DEL", "hash"}); }, [] {}},
       }) {
    SCOPED_TRACE(one.name);
    a_.ask({"FLUSHALL"});
    fill();
    a_.ask({"PEXPIREAT", "hash", "4102444800000"});
    whole({"hash"});
    one.vanish();
    std::this_thread::sleep_for(milliseconds{5});
    one.again();
    elements("hash", {"x"});
    EXPECT_EQ(a_.ask({"DEBUG", "DIGEST-VALUE", "hash"}), b_.ask({"DEBUG", "DIGEST-VALUE", "hash"}));
    EXPECT_EQ(a_.ask({"PTTL", "hash"}), b_.ask({"PTTL", "hash"}));
  }
}

// The copy is gone by its time when elements are written: they must not make it anew without one.
TEST_F(CopyingElements, BehindItsTimeNothingStays) {
  fill();
  a_.ask({"PEXPIRE", "hash", "2500"});
  whole({"hash"});
  b_.ask({"PEXPIRE", "hash", "1"});  // as by a clock that is ahead
  std::this_thread::sleep_for(milliseconds{5});
  elements("hash", {"f1"});
  std::this_thread::sleep_for(milliseconds{2'500});
  EXPECT_EQ(a_.ask({"EXISTS", "hash"}), "0");
  EXPECT_EQ(b_.ask({"EXISTS", "hash"}), "0");
}

TEST_F(CopyingElements, AllRemovedIsAKeyThatIsGone) {
  Names all;
  for (int i = 0; i < 600; ++i) {
    all.push_back("member-" + std::to_string(i));
    a_.ask({"SADD", "set", all.back()});
  }
  whole({"set"});
  for (const std::string& member : all) a_.ask({"SREM", "set", member});
  elements("set", all);
  EXPECT_EQ(b_.ask({"DBSIZE"}), "0");
}

TEST_F(CopyingElements, OneThatIsTooLargeKeepsItsKeyBehindAndNamesTheLimit) {
  limits_.element_bytes_max = 100'000;
  fill();
  whole({"hash"});
  a_.ask({"HSET", "hash", "large", std::string(200'000, 'x')});
  const migrate::Copied copied = elements("hash", {"large"});
  ASSERT_EQ(copied.unmovable.size(), 1U);
  EXPECT_EQ(copied.unmovable[0].reason,
            "it has an element of 200000 bytes, more than limits.element_bytes_max, 100000");
}

}  // namespace
}  // namespace cleave::control
