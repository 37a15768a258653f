#include "sim/model/server.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/model/command.h"

namespace cleave::sim {
namespace {

// One connection with a name; collects the replies.
class Caller final : public net::StreamEvents {
 public:
  Caller(Network& network, SimLoop& loop, Scheduler& scheduler, const std::string& name) {
    (void)network;
    loop.connect({"10.0.0.9", 6379}, milliseconds{100}, [this](auto result) {
      ASSERT_TRUE(result.has_value());
      stream = std::move(*result);
      stream->start(*this);
    });
    scheduler.run_until(scheduler.now() + milliseconds{20});
    send({"CLIENT", "SETNAME", name});
    send({"CLIENT", "ID"});
    scheduler.run_until(scheduler.now() + milliseconds{20});
    const std::size_t colon = received.rfind(':');
    id = received.substr(colon + 1, received.size() - colon - 3);
    received.clear();
  }

  void on_bytes(std::string_view bytes) override { received.append(bytes); }
  void on_closed(const Error& /*why*/) override { closed = true; }
  void send(std::initializer_list<std::string_view> args) { stream->send(wire::command(args)); }

  std::unique_ptr<net::Stream> stream;
  std::string received;
  std::string id;
  bool closed = false;
};

struct TwoCallers {
  explicit TwoCallers(std::uint64_t seed, bool durable = true)
      : scheduler(seed),
        network(scheduler, {.spike_every = 0}),
        server(scheduler, network,
               {.address = {"10.0.0.9", 6379}, .password = {}, .durable = durable, .seed = seed}),
        process(network.add_process("10.0.0.1")),
        loop(network, process),
        first(network, loop, scheduler, "cleave:first"),
        second(network, loop, scheduler, "cleave:second") {}

  void run(milliseconds time) { scheduler.run_until(scheduler.now() + time); }
  bool has(std::string_view key) { return server.current().peek(key) != nullptr; }

  Scheduler scheduler;
  Network network;
  ModelServer server;
  Process& process;
  SimLoop loop;
  Caller first;
  Caller second;
};

TEST(ModelServer, RunsPipelinedCommandsInOrder) {
  TwoCallers calls(1);
  for (int i = 0; i < 50; ++i) calls.first.send({"RPUSH", "list", std::to_string(i)});
  calls.first.send({"LRANGE", "list", "48", "-1"});
  calls.run(milliseconds{50});
  EXPECT_TRUE(calls.first.received.ends_with("*2\r\n$2\r\n48\r\n$2\r\n49\r\n"));
}

TEST(ModelServer, WriteOfABrokenConnectionRunsLater) {
  TwoCallers calls(2);
  calls.first.send({"SET", "k", "late"});
  const auto all = calls.network.connections("10.0.0.1", "10.0.0.9");
  calls.network.break_connection(all.front(), Break::kAtConnector, seconds{60});
  calls.run(milliseconds{5});
  EXPECT_TRUE(calls.first.closed);
  EXPECT_FALSE(calls.has("k"));
  EXPECT_EQ(calls.server.clients(), 2U) << "the server does not know yet";
  calls.run(seconds{120});
  EXPECT_TRUE(calls.has("k"));
  EXPECT_EQ(calls.server.clients(), 1U);
}

TEST(ModelServer, NothingOfAKilledConnectionRunsAfterTheKillsReply) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    TwoCallers calls(seed);
    for (int i = 0; i < 20; ++i) calls.first.send({"INCR", "n"});
    if (seed % 2 == 0) {
      const auto all = calls.network.connections("10.0.0.1", "10.0.0.9");
      calls.network.break_connection(all.front(), Break::kAtConnector, milliseconds{50});
    }
    calls.second.send({"CLIENT", "KILL", "ID", calls.first.id});
    while (!calls.second.received.ends_with('\n')) ASSERT_TRUE(calls.scheduler.step());
    ASSERT_EQ(calls.second.received, ":1\r\n") << "seed " << seed;
    const auto before = calls.server.commands_run();
    calls.run(milliseconds{500});
    ASSERT_EQ(calls.server.commands_run(), before) << "seed " << seed;
  }
}

TEST(ModelServer, ListsNamesAndKillsUnknownIdsWithZero) {
  TwoCallers calls(3);
  calls.first.send({"CLIENT", "LIST"});
  calls.first.send({"CLIENT", "KILL", "ID", "777"});
  calls.run(milliseconds{20});
  EXPECT_NE(calls.first.received.find("name=cleave:second"), std::string::npos);
  EXPECT_TRUE(calls.first.received.ends_with(":0\r\n"));
}

TEST(ModelServer, RestartIsANewIncarnationWithItsKeys) {
  TwoCallers calls(4);
  calls.first.send({"SET", "k", "v"});
  calls.first.send({"INFO", "server"});
  calls.run(milliseconds{20});
  const std::string before = calls.first.received;
  calls.server.crash(Death::kProcess);
  calls.run(milliseconds{20});
  EXPECT_TRUE(calls.first.closed);
  EXPECT_TRUE(calls.server.start(100).empty()) << "a durable server loses nothing";
  EXPECT_TRUE(calls.has("k"));
  Caller again(calls.network, calls.loop, calls.scheduler, "again");
  again.send({"INFO", "server"});
  calls.run(milliseconds{20});
  EXPECT_NE(before.substr(before.find("run_id")),
            again.received.substr(again.received.find("run_id")));
}

TEST(ModelServer, FailoverLosesTheNewestChanges) {
  TwoCallers calls(5, /*durable=*/false);
  calls.server.keys().sync();
  for (const char* value : {"1", "2", "3"}) calls.first.send({"SET", "k", value});
  calls.run(milliseconds{20});
  // The random sync may have run; what is unsynced can be lost.
  const std::size_t unsynced = calls.server.keys().unsynced();
  ASSERT_GE(unsynced, 1U);
  EXPECT_EQ(calls.server.failover(1, ModelServer::Connections::kBreak), std::set<std::string>{"k"});
  EXPECT_EQ(std::get<std::string>(calls.server.current().peek("k")->value), "2");
  calls.run(milliseconds{20});
  EXPECT_TRUE(calls.first.closed);
}

TEST(ModelServer, KeysExpireByItsOwnClock) {
  TwoCallers calls(6);
  calls.first.send({"SET", "k", "v", "PX", "100"});
  calls.run(milliseconds{50});
  EXPECT_TRUE(calls.has("k"));
  calls.run(milliseconds{120});
  EXPECT_FALSE(calls.has("k"));
}

TEST(ModelServer, ProtocolErrorIsAnsweredAndClosed) {
  TwoCallers calls(7);
  calls.first.stream->send("*1\r\n$x\r\n");
  calls.run(milliseconds{20});
  EXPECT_EQ(calls.first.received, "-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(calls.first.closed);
  calls.second.send({"PING"});
  calls.run(milliseconds{20});
  EXPECT_EQ(calls.second.received, "+PONG\r\n");
}

// SCAN's guarantee, whatever is added and removed meanwhile.
TEST(Keyspace, ScanReturnsEveryKeyThatStays) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    Keyspace keys(seed);
    std::set<std::string> staying;
    for (int i = 0; i < 50; ++i) {
      const std::string key = "stay" + std::to_string(i);
      keys.put(key, {.value = std::string("v")});
      staying.insert(key);
    }
    std::uint64_t cursor = 0;
    do {
      const ScanPage page = keys.scan(cursor, 1 + rng.below(7));
      for (const std::string& key : page.keys) staying.erase(key);
      cursor = page.next;
      for (int i = 0; i < 5; ++i) {
        const std::string key = "go" + std::to_string(rng.below(30));
        if (rng.chance(1, 2))
          keys.put(key, {.value = std::string("v")});
        else
          keys.erase(key);
      }
    } while (cursor != 0);
    ASSERT_TRUE(staying.empty()) << "seed " << seed << " misses " << *staying.begin();
  }
}

TEST(Value, DumpedIsRestoredAndDamagedIsRefused) {
  const Value values[] = {std::string("text"), ListValue{"a", "", "b"}, HashValue{{"f", "v"}},
                          SetValue{"m"}, ZsetValue{{"m", -1.5}}};
  for (const Value& value : values) {
    std::string payload = dump(value);
    ASSERT_TRUE(undump(payload).has_value());
    EXPECT_EQ(*undump(payload), value);
    for (std::size_t i = 0; i < payload.size(); ++i) {
      payload[i] = static_cast<char>(payload[i] ^ 1);
      EXPECT_FALSE(undump(payload).has_value()) << type_name(value) << " byte " << i;
      payload[i] = static_cast<char>(payload[i] ^ 1);
    }
    EXPECT_FALSE(undump(payload.substr(1)).has_value());
  }
}

}  // namespace
}  // namespace cleave::sim
