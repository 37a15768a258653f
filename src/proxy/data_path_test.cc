// The router as its clients see it, in front of real servers.
#include "proxy/data_path.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "proxy/data_path_testing.h"

namespace cleave::proxy {
namespace {

using std::string_view_literals::operator""sv;

class NoKeeper final : public FenceKeeper {
  void abort_held_move(MoveId, Epoch) override {}
};

// A router that still waits for the coordinator is asked for its status all the same, and by a
// leader that has seen it join before it has seen that itself.
TEST(DataPath, AnswersQuestionsBeforeItsStart) {
  const std::unique_ptr<net::AsioLoop> loop = net::make_loop();
  OpenGate gate(*loop);
  NoKeeper keeper;
  FixedCounter counter;
  DataPath router({.control = *loop,
                   .workers = {loop.get()},
                   .listen = {},
                   .gate = gate,
                   .fence_keeper = keeper,
                   .key_counter = counter,
                   .credentials = {},
                   .client_password = {},
                   .limits = {},
                   .seed = 1});
  EXPECT_TRUE(router.addresses().empty());
  EXPECT_TRUE(router.health().empty());
  int answers = 0;
  router.stats([&](const RouterStats& stats) { answers += stats.requests == 0 ? 1 : 0; });
  router.take_heat({}, [&](const Result<std::vector<heat::Report>>& reports) {
    answers += reports && reports->empty() ? 1 : 0;
    loop->stop();
  });
  loop->after(seconds{10}, [&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(answers, 2);
}

TEST(DataPath, ForwardsEachKeyToItsOwner) {
  DataPathWorld world;
  RawClient client = world.client();
  std::set<std::size_t> owners;
  for (int i = 0; i < 100; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_EQ(client.ask({"SET", key, "v" + key}), "OK");
    owners.insert(world.owner(key));
    ASSERT_EQ(world.stored(world.owner(key), key), "v" + key);
    ASSERT_EQ(client.ask({"GET", key}), "v" + key);
  }
  EXPECT_EQ(owners.size(), 3U);
}

TEST(DataPath, AnswersAPipelineInOrder) {
  DataPathWorld world({.workers = 2});
  RawClient client = world.client();
  std::string bytes;
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = "k" + std::to_string(i);
    bytes += wire::command({"SET", key, std::to_string(i)});
    bytes += wire::command({"GET", key});
    if (i % 7 == 0) bytes += wire::command({"PING"});
  }
  std::thread sender([&] { client.send(bytes); });
  for (int i = 0; i < 5'000; ++i) {
    ASSERT_EQ(RawClient::text(client.read()), "OK");
    ASSERT_EQ(RawClient::text(client.read()), std::to_string(i));
    if (i % 7 == 0) {
      ASSERT_EQ(RawClient::text(client.read()), "PONG");
    }
  }
  sender.join();
}

// cases.md 13: with several workers and nodes, two commands on one key never change places.
TEST(DataPath, KeepsTheOrderOfOneKeysCommands) {
  DataPathWorld world({.workers = 2});
  RawClient client = world.client();
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) {
    bytes += wire::command({"ZADD", "t", "1", "m"});
    bytes += wire::command({"ZREMRANGEBYSCORE", "t", "1", "1"});
  }
  std::thread sender([&] { client.send(bytes); });
  for (int i = 0; i < 2'000; ++i) ASSERT_EQ(RawClient::text(client.read()), "1");
  sender.join();
  EXPECT_EQ(client.ask({"EXISTS", "t"}), "0");
}

// cases.md 5 and 3: binary, empty and protocol-like values, on several nodes.
TEST(DataPath, SplitsMgetAndMsetWithAnyBytes) {
  DataPathWorld world;
  RawClient client = world.client();
  const std::vector<std::string> values{std::string("\0\r\n$5\r\n*1\r\n\xff", 13), "", "\r\n",
                                        "-ERR x\r\n", std::string(100'000, '*')};
  std::vector<std::string_view> set{"MSET"};
  std::vector<std::string_view> get{"MGET"};
  std::vector<std::string> keys;
  for (int i = 0; i < 50; ++i) keys.push_back("bin" + std::to_string(i));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    set.push_back(keys[i]);
    set.push_back(values[i % values.size()]);
    get.push_back(keys[i]);
    if (i % 3 == 0) get.push_back("missing");
  }
  std::string bytes;
  wire::append_command(bytes, set);
  wire::append_command(bytes, get);
  client.send(bytes);
  EXPECT_EQ(RawClient::text(client.read()), "OK");
  const wire::Reply got = client.read();
  ASSERT_EQ(got.elements.size(), get.size() - 1);
  std::size_t place = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(got.elements[place++].text, values[i % values.size()]);
    if (i % 3 == 0) {
      ASSERT_EQ(got.elements[place++].type, wire::Reply::Type::kNull);
    }
  }
}

TEST(DataPath, AddsUpWhatIsCountedPerNode) {
  DataPathWorld world;
  RawClient client = world.client();
  for (const auto& server : world.servers) {
    server->client().ask({"SET", "cleave:{owner}", "mark-1"});
  }
  for (int i = 0; i < 30; ++i) client.ask({"SET", "k" + std::to_string(i), "v"});
  EXPECT_EQ(client.ask({"DBSIZE"}), "30");
  EXPECT_EQ(client.ask({"EXISTS", "k1", "k2", "k3", "k1", "none"}), "4");
  EXPECT_EQ(client.ask({"TOUCH", "k1", "k2", "none"}), "2");
  EXPECT_EQ(client.ask({"DEL", "k1", "k2", "k3", "k4", "none"}), "4");
  EXPECT_EQ(client.ask({"UNLINK", "k5", "k6"}), "2");
  EXPECT_EQ(client.ask({"DBSIZE"}), "24");
}

TEST(DataPath, FlushallLeavesWhatThePoolKnowsItsServersBy) {
  DataPathWorld world;
  RawClient client = world.client();
  for (const auto& server : world.servers) {
    server->client().ask({"SET", "cleave:{owner}", "mark-1"});
    server->client().ask({"SET", "cleave:{ring}", "note"});
    RawClient elsewhere = server->client();
    elsewhere.ask({"SELECT", "1"});
    elsewhere.ask({"SET", "not", "the pool's"});
  }
  for (int i = 0; i < 30; ++i) client.ask({"SET", "k" + std::to_string(i), "v"});
  EXPECT_EQ(client.ask({"FLUSHALL"}), "OK");
  EXPECT_EQ(client.ask({"DBSIZE"}), "0");
  for (std::size_t i = 0; i < world.servers.size(); ++i) {
    EXPECT_EQ(world.stored(i, "cleave:{owner}"), "mark-1");
    EXPECT_EQ(world.stored(i, "cleave:{ring}"), "note");
    RawClient elsewhere = world.servers[i]->client();
    elsewhere.ask({"SELECT", "1"});
    EXPECT_EQ(elsewhere.ask({"GET", "not"}), "the pool's");
  }
  EXPECT_EQ(client.ask({"FLUSHDB", "ASYNC"}), "OK");
  EXPECT_EQ(client.ask({"FLUSHDB", "NOW"}), "-ERR syntax error");
}

// Within MULTI such a server takes nothing at all, and a SET it takes only in a script.
TEST(DataPath, FlushallAndDbsizeWorkAtAServerOverItsMaxmemory) {
  DataPathWorld world;
  RawClient client = world.client();
  for (const auto& server : world.servers) {
    server->client().ask({"SET", "cleave:{owner}", "mark-1"});
  }
  for (int i = 0; i < 30; ++i) client.ask({"SET", "k" + std::to_string(i), "v"});
  world.servers[1]->client().ask({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(client.ask({"SET", world.key_of(1), "v"}).starts_with("-OOM"));
  EXPECT_EQ(client.ask({"DBSIZE"}), "30");
  EXPECT_EQ(client.ask({"FLUSHALL"}), "OK");
  EXPECT_EQ(client.ask({"DBSIZE"}), "0");
  EXPECT_EQ(world.stored(1, "cleave:{owner}"), "mark-1");
}

TEST(DataPath, AFlushThatOneNodeRefusesSaysWhichWereFlushed) {
  DataPathWorld world;
  RawClient client = world.client();
  const std::string a = world.key_of(0);
  const std::string b = world.key_of(1);
  client.ask({"MSET", a, "v", b, "v"});
  world.servers[1]->client().ask({"ACL", "SETUSER", "default", "-eval"});
  const std::string told = client.ask({"FLUSHALL"});
  // In the order in which they answered.
  EXPECT_TRUE(told.starts_with("-ERR cleave: only a part was flushed: node ")) << told;
  EXPECT_LT(told.find("node a ("), told.find("not, or")) << told;
  EXPECT_TRUE(told.contains("not, or not for certain: node b (")) << told;
  EXPECT_TRUE(told.contains("NOPERM")) << told;
  EXPECT_EQ(client.ask({"GET", a}), "(nil)");
  EXPECT_EQ(client.ask({"GET", b}), "v");
}

TEST(DataPath, AFlushDoesNotBeginWhileANodeIsAReplica) {
  DataPathWorld world;
  RawClient client = world.client();
  const std::string a = world.key_of(0);
  client.ask({"SET", a, "v"});
  const std::string port = std::to_string(world.servers[0]->address().port);
  world.servers[1]->client().ask({"REPLICAOF", "127.0.0.1", port});
  ASSERT_TRUE(eventually([&] {
    client.ask({"SET", a, "v"});
    return client.ask({"FLUSHALL"}).starts_with("-ERR cleave: nothing was flushed: node b");
  }));
  client.ask({"SET", a, "v"});
  EXPECT_TRUE(client.ask({"FLUSHALL"}).contains("is a replica"));
  EXPECT_EQ(client.ask({"GET", a}), "v");
}

TEST(DataPath, AFlushThatOneNodeCannotTakeReachesNone) {
  DataPathWorld world;
  RawClient client = world.client();
  const std::string a = world.key_of(0);
  client.ask({"SET", a, "v"});
  world.servers[1]->kill();
  ASSERT_TRUE(eventually([&] {
    return client.ask({"FLUSHALL"}).starts_with("-ERR cleave: nothing was flushed: node b");
  }));
  client.ask({"SET", a, "v"});
  EXPECT_TRUE(client.ask({"FLUSHALL"}).starts_with("-ERR cleave: nothing was flushed: node b"));
  EXPECT_EQ(client.ask({"GET", a}), "v");
}

// As a client library sends a transaction: in one piece, without looking.
TEST(DataPath, NothingOfARefusedTransactionIsExecuted) {
  DataPathWorld world;
  RawClient client = world.client();
  client.send(wire::command({"MULTI"}) + wire::command({"SET", "x", "1"}) +
              wire::command({"INCR", "x"}) + wire::command({"EXEC"}) + wire::command({"GET", "x"}));
  EXPECT_TRUE(RawClient::text(client.read()).starts_with("-ERR 'multi' is not supported"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(RawClient::text(client.read()).starts_with("-ERR cleave: not executed")) << i;
  }
  EXPECT_TRUE(RawClient::text(client.read()).starts_with("-EXECABORT"));
  EXPECT_EQ(RawClient::text(client.read()), "(nil)");
}

TEST(DataPath, AClientThatSpeaksHttpIsClosedBeforeItsBodyRuns) {
  DataPathWorld world;
  RawClient evil = world.client();
  evil.send("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET pwned yes\r\n");
  EXPECT_TRUE(evil.closed_by_peer());
  RawClient other = world.client();
  other.send("GET / HTTP/1.1\r\nhost: x\r\n\r\nSET pwned yes\r\n");
  EXPECT_TRUE(other.closed_by_peer());
  EXPECT_EQ(world.client().ask({"GET", "pwned"}), "(nil)");
  const RouterStats stats = world.stats();
  EXPECT_EQ(stats.shed_by_cause[static_cast<std::size_t>(ShedCause::kHttp)], 2U);
  EXPECT_EQ(stats.clients_shed, 2U);
  EXPECT_NE(stats.last_shed.find("HTTP"), std::string::npos) << stats.last_shed;
}

TEST(DataPath, AClientThatSendsNoMoreGetsItsReplies) {
  DataPathWorld world;
  world.client().ask({"SET", "k", "v"});
  for (int round = 0; round < 20; ++round) {
    RawClient client = world.client();
    for (int i = 0; i < 50; ++i) client.send(wire::command({"GET", "k"}));
    client.send(wire::command({"MGET", "k", "q", "z"}) + "GET k\r\nPING\r\n*1\r\n$4\r\nPI");
    client.half_close();
    for (int i = 0; i < 50; ++i) ASSERT_EQ(RawClient::text(client.read()), "v") << round;
    ASSERT_EQ(RawClient::text(client.read()), "[v (nil) (nil)]");
    ASSERT_EQ(RawClient::text(client.read()), "v");
    ASSERT_EQ(RawClient::text(client.read()), "PONG");
    ASSERT_TRUE(client.closed_by_peer());
  }
}

TEST(DataPath, AClientHasSmallLimitsBeforeItsPassword) {
  DataPathWorld world({.password = "secret"});
  const std::string bulk = "*2\r\n$4\r\nAUTH\r\n$16385\r\n";
  for (const auto& [bytes, error] :
       {std::pair{std::string("*11\r\n"), "-ERR Protocol error: unauthenticated multibulk length"},
        std::pair{bulk, "-ERR Protocol error: unauthenticated bulk length"}}) {
    RawClient client = world.client();
    client.send(bytes);
    EXPECT_EQ(RawClient::text(client.read()), error);
    EXPECT_TRUE(client.closed_by_peer());
  }
  RawClient client = world.client();
  const std::string large(100'000, 'x');
  client.send(wire::command({"AUTH", "secret"}) + wire::command({"SET", "k", large}));
  EXPECT_EQ(RawClient::text(client.read()), "OK");
  EXPECT_EQ(RawClient::text(client.read()), "OK");
}

TEST(DataPath, WhatOneMgetGathersIsBounded) {
  Limits limits;
  limits.fan_out_bytes_max = 16'000;
  DataPathWorld world({.limits = limits});
  RawClient client = world.client();
  const std::string value(6'000, 'x');
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 3; ++i) keys.push_back(world.key_of(i));
  for (const std::string& key : keys) client.ask({"SET", key, value});
  EXPECT_TRUE(client.ask({"MGET", keys[0], keys[1], keys[2]})
                  .starts_with("-ERR cleave: the replies of several servers"));
  for (int i = 0; i < 5; ++i) {  // the memory of the refused one is given back
    EXPECT_EQ(client.ask({"MGET", keys[0], keys[1]}), "[" + value + " " + value + "]");
  }
  std::vector<std::string_view> many{"MGET"};  // no room for their places: no server is asked
  std::vector<std::string> missing;
  for (int i = 0; i < 1'500; ++i) missing.push_back("missing" + std::to_string(i));
  many.insert(many.end(), missing.begin(), missing.end());
  std::string bytes;
  wire::append_command(bytes, many);
  client.send(bytes);
  EXPECT_TRUE(RawClient::text(client.read()).starts_with("-ERR cleave: the replies of several"));
  many.front() = "EXISTS";  // keeps no values
  bytes.clear();
  wire::append_command(bytes, many);
  client.send(bytes);
  EXPECT_EQ(RawClient::text(client.read()), "0");
}

TEST(DataPath, ASplitThatOneNodeRefusesIsThatError) {
  DataPathWorld world;
  RawClient client = world.client();
  const std::string a = world.key_of(0);
  const std::string b = world.key_of(1);
  world.servers[1]->kill();
  ASSERT_TRUE(
      eventually([&] { return client.ask({"GET", b}).starts_with("-ERR cleave: node b"); }));
  const std::string error = client.ask({"MSET", a, "1", b, "2"});
  EXPECT_TRUE(error.starts_with("-ERR cleave: node b (127.0.0.1:")) << error;
  EXPECT_EQ(world.stored(0, a), "1");
}

TEST(DataPath, MultiKeyCommandsNeedOneTag) {
  DataPathWorld world;
  RawClient client = world.client();
  EXPECT_EQ(client.ask({"SET", "{t}1", "v"}), "OK");
  EXPECT_EQ(client.ask({"RENAME", "{t}1", "{t}2"}), "OK");
  EXPECT_EQ(client.ask({"GET", "{t}2"}), "v");
  EXPECT_TRUE(client.ask({"RENAME", world.key_of(0), world.key_of(1)}).starts_with("-CROSSSLOT"));
}

TEST(DataPath, AnswersForItself) {
  DataPathWorld world;
  RawClient client = world.client();
  EXPECT_EQ(client.ask({"PING"}), "PONG");
  EXPECT_EQ(client.ask({"PING", "hi"}), "hi");
  EXPECT_EQ(client.ask({"ECHO", "x"}), "x");
  EXPECT_EQ(client.ask({"SELECT", "0"}), "OK");
  EXPECT_TRUE(client.ask({"SELECT", "1"}).starts_with("-"));
  EXPECT_EQ(client.ask({"CLIENT", "SETNAME", "me"}), "OK");
  EXPECT_EQ(client.ask({"CLIENT", "GETNAME"}), "me");
  EXPECT_NE(client.ask({"CLIENT", "LIST"}).find("name=me"), std::string::npos);
  EXPECT_EQ(client.ask({"CLIENT", "SETINFO", "LIB-NAME", "x"}), "OK");
  EXPECT_TRUE(client.ask({"HELLO", "3"}).starts_with("-NOPROTO"));
  EXPECT_NE(client.ask({"HELLO", "2", "SETNAME", "you"}).find("redis"), std::string::npos);
  EXPECT_EQ(client.ask({"CLIENT", "GETNAME"}), "you");
  EXPECT_GT(std::stoi(client.ask({"COMMAND", "COUNT"})), 200);
  EXPECT_EQ(client.ask({"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"}), "[a b]");
  EXPECT_EQ(client.call({"COMMAND", "INFO", "get", "nope"}).elements.size(), 2U);
  EXPECT_GT(client.call({"COMMAND"}).elements.size(), 200U);
  EXPECT_NE(client.ask({"INFO"}).find("redis_version:"), std::string::npos);
  EXPECT_EQ(client.ask({"INFO", "clients"}).find("redis_version:"), std::string::npos);
  EXPECT_EQ(client.ask({"RESET"}), "RESET");
  EXPECT_TRUE(client.ask({"KEYS", "*"}).starts_with("-ERR"));
  EXPECT_TRUE(client.ask({"GET", "cleave:{owner}"}).starts_with("-ERR"));
  EXPECT_EQ(client.ask({"QUIT"}), "OK");
  EXPECT_TRUE(client.closed_by_peer());
}

TEST(DataPath, AsksForThePassword) {
  DataPathWorld world({.password = "secret"});
  RawClient client = world.client();
  EXPECT_TRUE(client.ask({"GET", "k"}).starts_with("-NOAUTH"));
  EXPECT_TRUE(client.ask({"AUTH", "wrong"}).starts_with("-WRONGPASS"));
  EXPECT_TRUE(client.ask({"GET", "k"}).starts_with("-NOAUTH"));
  EXPECT_EQ(client.ask({"AUTH", "default", "secret"}), "OK");
  EXPECT_EQ(client.ask({"GET", "k"}), "(nil)");
  RawClient other = world.client();
  const std::string hello = other.ask({"HELLO", "2", "AUTH", "default", "secret"});
  EXPECT_NE(hello.find("redis"), std::string::npos) << hello;
  EXPECT_EQ(other.ask({"GET", "k"}), "(nil)");
}

// cases.md 1: frames that are silence.
TEST(DataPath, EmptyFramesGetNoReply) {
  DataPathWorld world;
  RawClient client = world.client();
  client.ask({"SET", "k", "v"});
  client.send("*0\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*-1\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING\r\n");
  EXPECT_EQ(client.read_raw(), "$1\r\nv\r\n");
  EXPECT_EQ(client.read_raw(), "$1\r\nv\r\n");
  EXPECT_EQ(client.read_raw(), "+PONG\r\n");
}

TEST(DataPath, InlineCommandsWork) {
  DataPathWorld world;
  RawClient client = world.client();
  client.send("SET inline \"a b\"\r\nGET inline\r\nMSET x 1 y 2 z 3\r\n");
  EXPECT_EQ(client.read_raw(), "+OK\r\n");
  EXPECT_EQ(client.read_raw(), "$3\r\na b\r\n");
  EXPECT_EQ(client.read_raw(), "+OK\r\n");
  EXPECT_EQ(client.ask({"GET", "y"}), "2");
}

TEST(DataPath, MalformedInputEndsThatClientOnly) {
  DataPathWorld world;
  RawClient other = world.client();
  for (const auto& [bytes, error] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"*1\r\n+PING\r\n"sv, "-ERR Protocol error: expected '$', got '+'\r\n"},
           {"*x\r\n"sv, "-ERR Protocol error: invalid multibulk length\r\n"},
           {"*1\r\n$-5\r\n"sv, "-ERR Protocol error: invalid bulk length\r\n"},
           {"GET \"open\r\n"sv, "-ERR Protocol error: unbalanced quotes in request\r\n"}}) {
    RawClient client = world.client();
    client.send(wire::command({"SET", "before", "v"}) + std::string(bytes) +
                wire::command({"PING"}));
    EXPECT_EQ(client.read_raw(), "+OK\r\n");
    EXPECT_EQ(client.read_raw(), error);
    EXPECT_TRUE(client.closed_by_peer());
    EXPECT_EQ(other.ask({"GET", "before"}), "v");
  }
  EXPECT_EQ(world.stats().clients_shed, 4U);
}

// cases.md B1: a long key in pieces goes where it goes in one.
TEST(DataPath, ARequestInPiecesIsTheSameRequest) {
  DataPathWorld world;
  RawClient client = world.client();
  const std::string key(2'000, 'k');
  ASSERT_EQ(client.ask({"SET", key, "v"}), "OK");
  const std::string bytes = wire::command({"GET", key});
  for (std::size_t i = 0; i < bytes.size(); i += 500) {
    client.send(std::string_view(bytes).substr(i, 500));
    std::this_thread::sleep_for(milliseconds{5});
  }
  EXPECT_EQ(RawClient::text(client.read()), "v");
}

// cases.md 15: an error is one reply like any other.
TEST(DataPath, GoesOnAfterErrors) {
  DataPathWorld world;
  RawClient client = world.client();
  EXPECT_TRUE(client.ask({"BLPOP", "a", "b", "0"}).starts_with("-"));
  EXPECT_EQ(client.ask({"MGET", "a", "b"}), "[(nil) (nil)]");
  EXPECT_TRUE(client.ask({"NOSUCHCOMMAND"}).starts_with("-ERR unknown command"));
  client.ask({"SET", "s", "x"});
  EXPECT_TRUE(client.ask({"LPUSH", "s", "x"}).starts_with("-WRONGTYPE"));
  EXPECT_EQ(client.ask({"GET", "s"}), "x");
}

TEST(DataPath, CountsHeatOfTheViewsRanges) {
  DataPathWorld world;
  RawClient client = world.client();
  for (int i = 0; i < 100; ++i) client.ask({"SET", "hot", "v"});
  for (int i = 0; i < 50; ++i) client.ask({"GET", "hot"});
  std::uint64_t requests = 0;
  std::uint64_t writes = 0;
  std::uint64_t weight = 0;
  for (const heat::Report& report : world.heat()) {
    EXPECT_EQ(report.epoch, world.document.epoch);
    for (const heat::RangeSum& sum : report.sums) {
      EXPECT_TRUE(sum.range.contains(world.token("hot")));
      requests += sum.requests;
      writes += sum.writes;
      weight += sum.weight_ns;
    }
  }
  EXPECT_EQ(requests, 150U);
  EXPECT_EQ(writes, 100U);
  EXPECT_GT(weight, 150U * 8'000U);
}

std::uint64_t weight_of(const std::vector<heat::Report>& reports) {
  std::uint64_t weight = 0;
  for (const heat::Report& report : reports) {
    for (const heat::RangeSum& sum : report.sums) weight += sum.weight_ns;
  }
  return weight;
}

// From the question that told the prices on: what was counted by then had the old ones.
TEST(DataPath, WeighsRequestsByTheServersPrices) {
  DataPathWorld world;
  RawClient client = world.client();
  const heat::CommandPrices prices{{"get", 1'000'000}, {"object|freq", 1}};
  client.ask({"GET", "k"});
  EXPECT_LT(weight_of(world.heat(prices)), 10'000U);
  client.ask({"GET", "k"});
  const std::uint64_t priced = weight_of(world.heat());
  EXPECT_GE(priced, 1'000'000U);
  EXPECT_LT(priced, 1'001'000U);
  client.ask({"GET", "k"});
  EXPECT_LT(weight_of(world.heat()), 10'000U) << "no prices: the default";
}

TEST(DataPath, WeighsACommandWithoutAPriceByTheDefault) {
  DataPathWorld world;
  RawClient client = world.client();
  world.heat({{"get", 1'000'000}});
  client.ask({"SET", "k", "v"});
  const std::uint64_t weight = weight_of(world.heat());
  EXPECT_GE(weight, heat::kCommandNsDefault);
  EXPECT_LT(weight, heat::kCommandNsDefault + 1'000);
}

TEST(DataPath, AnOlderViewIsPassedOver) {
  DataPathWorld world;
  const std::string key = world.key_of(0);
  const ring::Document before = world.document;
  const MoveId move = world.begin_move(key, 1);
  world.fence(move);
  world.commit(move);
  world.publish(before);
  EXPECT_EQ(world.client().ask({"SET", key, "v"}), "OK");
  EXPECT_EQ(world.stored(1, key), "v");
  EXPECT_EQ(world.stored(0, key), "(nil)");
}

TEST(DataPath, StoppingTellsEveryClientWhy) {
  DataPathWorld world;
  RawClient client = world.client();
  client.ask({"PING"});
  world.stop(Error{Code::kConflict, "session tester was removed"});
  EXPECT_EQ(client.read_raw(), "-ERR cleave: session tester was removed\r\n");
  EXPECT_TRUE(client.closed_by_peer());
  EXPECT_FALSE(world.client().connected());
}

TEST(DataPath, ManyClientsOnSeveralWorkers) {
  DataPathWorld world({.workers = 2});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      RawClient client = world.client();
      for (int i = 0; i < 500; ++i) {
        const std::string key = "c" + std::to_string(t) + ":" + std::to_string(i);
        if (client.ask({"SET", key, key}) != "OK") ++wrong;
        if (client.ask({"GET", key}) != key) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const RouterStats stats = world.stats();
  EXPECT_EQ(stats.requests, 8'000U);
  EXPECT_EQ(stats.errors, 0U);
  EXPECT_EQ(stats.clients_total, 8U);
}

}  // namespace
}  // namespace cleave::proxy
