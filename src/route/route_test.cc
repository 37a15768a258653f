#include "route/route.h"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.h"
#include "route/testdata_test.h"

namespace cleave::route {
namespace {

ring::RingSnapshot view_of_two() {
  ring::Document document;
  document.epoch = Epoch{1};
  document.pool = "main";
  document.mark = "m";
  document.nodes = {
      {.id = NodeId{1}, .name = "a", .members = {{.address = "127.0.0.1:7001", .rack = ""}}},
      {.id = NodeId{2}, .name = "b", .members = {{.address = "127.0.0.1:7002", .rack = ""}}}};
  document.next_node = NodeId{3};
  auto view = ring::RingView::build(std::move(document));
  EXPECT_TRUE(view.has_value()) << view.error().message;
  return *view;
}

class Route : public testing::Test {
 protected:
  Decision route(std::string_view line) { return route(words(line)); }
  Decision route(const std::vector<std::string_view>& args) {
    Decision decision;
    router_.route(args, *view_, decision);
    return decision;
  }
  std::string refusal(std::string_view line) {
    const Decision decision = route(line);
    EXPECT_EQ(decision.action, Action::kRefuse) << line;
    EXPECT_FALSE(decision.writes) << line;
    return decision.refusal;
  }

  const CommandTable table_ = table_of(recorded_reply());
  const ring::RingSnapshot view_ = view_of_two();
  const CommandRouter router_{table_, Limits{}};
};

TEST_F(Route, ForwardsByTheTokenOfTheKey) {
  const Decision decision = route("SET k v");
  EXPECT_EQ(decision.action, Action::kForward);
  EXPECT_TRUE(decision.writes);
  ASSERT_EQ(decision.keys.size(), 1U);
  EXPECT_EQ(decision.keys[0].position, 1U);
  EXPECT_EQ(decision.keys[0].token, view_->token_of("k"));
  EXPECT_EQ(decision.spec->name, "set");
  EXPECT_FALSE(route("get k").writes);
}

TEST_F(Route, ForwardsWhatHasOneTokenOnly) {
  for (const char* line : {"get a",
                           "mget {a}1 {a}2",
                           "mset {a}1 x {a}2 y",
                           "del a",
                           "del a a",
                           "rename {a}1 {a}2",
                           "sinterstore {a}1 {a}2 {a}3",
                           "msetnx {a}1 x {a}2 y",
                           "eval s 1 a",
                           "eval s 2 {a}1 {a}2 b",
                           "evalsha_ro s 1 a",
                           "fcall f 1 a",
                           "object freq a",
                           "memory usage a",
                           "xread STREAMS a 0",
                           "xreadgroup GROUP g block STREAMS a >",
                           "sort a BY nosort GET #",
                           "copy {a}1 {a}2 REPLACE",
                           "copy {a}db db{a}",
                           "restore a 0 v",
                           "dump a",
                           "hscan a 0",
                           "zunionstore {a}1 2 {a}2 {a}3",
                           "pfcount {a}1 {a}2",
                           "georadius {a}1 1 2 3 m STORE {a}2",
                           "bitop AND {a}1 {a}2",
                           "xgroup create a g $",
                           "lcs {a}1 {a}2",
                           "getex a PERSIST"}) {
    const Decision decision = route(line);
    EXPECT_EQ(decision.action, Action::kForward) << line << ": " << decision.refusal;
    EXPECT_FALSE(decision.keys.empty()) << line;
  }
}

TEST_F(Route, SplitsTheSixThatCanBeSplit) {
  struct Case {
    std::string_view line;
    Merge merge;
    std::uint32_t args_per_key;
    bool writes;
  };
  for (const Case& test : std::vector<Case>{{"mget a b c", Merge::kArrayInOrder, 1, false},
                                            {"mset a 1 b 2", Merge::kAllOk, 2, true},
                                            {"del a b", Merge::kSumIntegers, 1, true},
                                            {"unlink a b", Merge::kSumIntegers, 1, true},
                                            {"exists a b", Merge::kSumIntegers, 1, false},
                                            {"touch a b", Merge::kSumIntegers, 1, false}}) {
    const Decision decision = route(test.line);
    EXPECT_EQ(decision.action, Action::kSplit) << test.line;
    EXPECT_EQ(decision.merge, test.merge) << test.line;
    EXPECT_EQ(decision.args_per_key, test.args_per_key) << test.line;
    EXPECT_EQ(decision.writes, test.writes) << test.line;
    EXPECT_EQ(decision.keys[1].position, 1 + test.args_per_key) << test.line;
    EXPECT_EQ(decision.keys[1].token, view_->token_of("b")) << test.line;
  }
}

TEST_F(Route, AsksEverybody) {
  EXPECT_EQ(route("dbsize").action, Action::kEverywhere);
  EXPECT_EQ(route("dbsize").merge, Merge::kSumIntegers);
  for (const char* line : {"flushall", "FLUSHDB ASYNC"}) {
    EXPECT_EQ(route(line).action, Action::kEverywhere) << line;
    EXPECT_EQ(route(line).merge, Merge::kAllOk) << line;
    EXPECT_TRUE(route(line).writes) << line;
  }
}

TEST_F(Route, AnswersItself) {
  struct Case {
    std::string_view line;
    std::string_view own;
  };
  for (const Case& test : std::vector<Case>{{"PING", "ping"},
                                            {"ping hi", "ping"},
                                            {"echo hi", "echo"},
                                            {"select 0", "select"},
                                            {"select 3", "select"},
                                            {"quit", "quit"},
                                            {"command", "command"},
                                            {"command docs", "command"},
                                            {"command foo", "command"},
                                            {"info", "info"},
                                            {"info server", "info"},
                                            {"client setname x", "client"},
                                            {"CLIENT GETNAME", "client"},
                                            {"client kill x", "client"},
                                            {"client setinfo lib-name x", "client"},
                                            {"hello", "hello"},
                                            {"hello 2 AUTH a b", "hello"},
                                            {"reset", "reset"},
                                            {"time", "time"},
                                            {"auth p", "auth"}}) {
    const Decision decision = route(test.line);
    ASSERT_EQ(decision.action, Action::kLocal) << test.line << ": " << decision.refusal;
    EXPECT_EQ(kOwnNames[decision.spec->handling.answer], test.own) << test.line;
  }
  EXPECT_EQ(refusal("echo"), "ERR wrong number of arguments for 'echo' command");
}

// Every text here was read off redis-server 7.0.15.
TEST_F(Route, RefusesInRedissWordsWhatRedisRefuses) {
  struct Case {
    std::string_view line;
    std::string_view refusal;
  };
  for (const Case& test : std::vector<Case>{
           {"foo a b", "ERR unknown command 'foo', with args beginning with: 'a' 'b' "},
           {"FOO", "ERR unknown command 'FOO', with args beginning with: "},
           {"GET", "ERR wrong number of arguments for 'get' command"},
           {"get a b", "ERR wrong number of arguments for 'get' command"},
           {"mset a 1 b", "ERR wrong number of arguments for 'mset' command"},
           {"mget", "ERR wrong number of arguments for 'mget' command"},
           {"config get", "ERR wrong number of arguments for 'config|get' command"},
           {"object", "ERR wrong number of arguments for 'object' command"},
           {"object foo x", "ERR unknown subcommand 'foo'. Try OBJECT HELP."},
           {"eval s x", "ERR value is not an integer or out of range"},
           {"eval s -1", "ERR Number of keys can't be negative"},
           {"eval s 5 a", "ERR Number of keys can't be greater than number of args"},
           {"zunion 0 a", "ERR at least 1 input key is needed for 'zunion' command"},
       }) {
    EXPECT_EQ(refusal(test.line), test.refusal) << test.line;
  }
}

TEST_F(Route, ShowsOfAnUnknownCommandWhatRedisShows) {
  const std::string x100(100, 'x');
  const std::string y100(100, 'y');
  const std::string f200(200, 'f');
  EXPECT_EQ(route({f200, x100, y100, "z"}).refusal, "ERR unknown command '" + f200.substr(0, 128) +
                                                        "', with args beginning with: '" + x100 +
                                                        "' '" + y100.substr(0, 25) + "' ");
  EXPECT_EQ(route({std::string_view("foo\0bar", 7), std::string_view("a\0b", 3)}).refusal,
            "ERR unknown command 'foo', with args beginning with: 'a' ");
}

TEST_F(Route, RefusesWithTheNameAndTheReason) {
  struct Case {
    std::string_view line;
    std::string_view refusal;
  };
  for (const Case& test : std::vector<Case>{
           {"keys *",
            "ERR 'keys' is not supported: it would have to walk the keys of every server"},
           {"scan 0",
            "ERR 'scan' is not supported: it would have to walk the keys of every server"},
           {"blpop a 0",
            "ERR 'blpop' is not supported: while it waits it would stop every client "
            "that shares the connection"},
           {"xread BLOCK 5 STREAMS a 0",
            "ERR 'xread' with BLOCK is not supported: while it waits it "
            "would stop every client that shares the connection"},
           {"subscribe c",
            "ERR 'subscribe' is not supported: messages do not pass through the router"},
           {"publish c m",
            "ERR 'publish' is not supported: messages do not pass through the router"},
           {"config set a b",
            "ERR 'config|set' is not supported: it is for the operator of one "
            "server; connect to that server itself"},
           {"eval s 0",
            "ERR 'eval' without declared keys is not supported: the keys say which server "
            "it runs on"},
           {"move a 1", "ERR 'move' is not supported: there is only database 0"},
           {"copy {a}1 {a}2 DB 1", "ERR 'copy' with DB is not supported: there is only database 0"},
           {"migrate h 1 a 0 9",
            "ERR 'migrate' is not supported: it would move keys past the router"},
           {"sort a BY w_*",
            "ERR 'sort' is not supported: BY and GET patterns read keys that may be "
            "on other servers"},
           {"lolwut",
            "ERR 'lolwut' is not supported: it names no key, so no server can be chosen for "
            "it"},
           {"rename a b",
            "CROSSSLOT Keys in request don't hash to the same token: 'rename' runs on one "
            "server, so all its keys need one {hash tag}"},
           {"msetnx a 1 b 2",
            "CROSSSLOT Keys in request don't hash to the same token: 'msetnx' runs on "
            "one server, so all its keys need one {hash tag}"},
           {"get cleave:{owner}", "ERR keys beginning with 'cleave:{' are the router's own"},
           {"del a cleave:{owner}", "ERR keys beginning with 'cleave:{' are the router's own"},
       }) {
    EXPECT_EQ(refusal(test.line), test.refusal) << test.line;
  }
}

TEST_F(Route, RefusesEveryCommandOfTheseKinds) {
  for (const char* line : {"watch a",
                           "unwatch",
                           "randomkey",
                           "debug sleep 1",
                           "shutdown",
                           "replicaof no one",
                           "save",
                           "bgsave",
                           "monitor",
                           "wait 0 0",
                           "swapdb 0 1",
                           "acl list",
                           "script load x",
                           "function list",
                           "slowlog get",
                           "latency doctor",
                           "module list",
                           "role",
                           "psync a 1",
                           "cluster info",
                           "readonly",
                           "asking",
                           "memory doctor",
                           "object help",
                           "psubscribe a",
                           "unsubscribe",
                           "ssubscribe a",
                           "spublish a b",
                           "pubsub channels",
                           "brpoplpush a b 0",
                           "blmpop 0 1 a LEFT",
                           "bzpopmin a 0",
                           "bzmpop 0 1 a MIN",
                           "xreadgroup BLOCK 0 GROUP g c STREAMS a >",
                           "evalsha s 0",
                           "fcall_ro f 0",
                           "lastsave",
                           "failover",
                           "pfselftest"}) {
    EXPECT_TRUE(refusal(line).starts_with("ERR '")) << line << ": " << refusal(line);
  }
}

TEST_F(Route, RefusesAKeyThatIsTooLong) {
  Limits limits;
  limits.key_bytes_max = 3;
  Decision decision;
  CommandRouter(table_, limits).route(words("get abcd"), *view_, decision);
  EXPECT_EQ(decision.refusal, "ERR a key of 4 bytes is longer than the 3 that the router takes");
  CommandRouter(table_, limits).route(words("get abc"), *view_, decision);
  EXPECT_EQ(decision.action, Action::kForward);
  EXPECT_EQ(decision.refusal, "");
}

TEST_F(Route, DecidesAlikeByAnOlderTable) {
  const CommandTable old_table = table_of(old_reply());
  const CommandRouter old_router(old_table, Limits{});
  for (const char* line :
       {"get a", "mset a 1 b 2", "object freq a", "xgroup create a g $", "zunion 1 a",
        "memory usage a", "eval s 1 a", "eval s 0", "blpop a 0", "config get x", "client id",
        "keys *", "sort a BY x_*", "xread BLOCK 1 STREAMS a 0"}) {
    Decision decision;
    old_router.route(words(line), *view_, decision);
    const Decision now = route(line);
    EXPECT_EQ(decision.action, now.action) << line << ": " << decision.refusal;
    EXPECT_EQ(decision.writes, now.writes) << line;
    EXPECT_EQ(decision.keys.size(), now.keys.size()) << line;
  }
}

// Any command with any arguments: a decision that keeps its promises.
TEST_F(Route, PropertyEveryDecisionIsWhole) {
  constexpr std::array<std::string_view, 18> kWords{
      "a",     "b",     "{a}1",  "{a}2", "1",   "2", "0", "-1",         "STREAMS",
      "STORE", "BLOCK", "GROUP", "BY",   "GET", "*", "",  "cleave:{x}", "DB"};
  std::array<std::size_t, 5> seen{};
  for (std::uint64_t seed = 1; seed <= 50'000; ++seed) {
    Rng rng(seed);
    const CommandSpec& command = table_.commands()[rng.below(table_.size())];
    std::vector<std::string_view> args{command.name};
    if (!command.subcommands.empty()) {
      const CommandSpec& sub = command.subcommands[rng.below(command.subcommands.size())];
      args.push_back(std::string_view(sub.name).substr(command.name.size() + 1));
    }
    for (std::uint64_t left = rng.below(8); left > 0; --left) {
      args.push_back(kWords[rng.below(kWords.size())]);
    }
    const Decision decision = route(args);
    ++seen[static_cast<std::size_t>(decision.action)];
    ASSERT_EQ(decision.action == Action::kRefuse, !decision.refusal.empty()) << "seed " << seed;
    const bool keyed = decision.action == Action::kForward || decision.action == Action::kSplit;
    ASSERT_EQ(keyed, !decision.keys.empty()) << "seed " << seed;
    for (const KeyPlace& key : decision.keys) {
      ASSERT_LT(key.position, args.size()) << "seed " << seed;
      ASSERT_EQ(key.token, view_->token_of(args[key.position])) << "seed " << seed;
      ASSERT_FALSE(args[key.position].starts_with(kReservedPrefix)) << "seed " << seed;
      if (decision.action == Action::kForward) {
        ASSERT_EQ(key.token, decision.keys[0].token) << "seed " << seed;
      }
    }
  }
  for (const std::size_t count : seen) EXPECT_GT(count, 50U);
}

}  // namespace
}  // namespace cleave::route
