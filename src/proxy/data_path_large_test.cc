// Requests too large to share a connection (proxy/servers/lanes.h), against real servers.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "proxy/data_path_testing.h"
#include "proxy/servers/lanes.h"

namespace cleave::proxy {
namespace {

constexpr std::size_t kLarge = 2'000'000;

// A bystander's counter, while somebody else sends what the server refuses.
class LargeRequests : public testing::Test {
 protected:
  void set(std::size_t server, std::string_view name, std::string_view value) {
    ASSERT_EQ(world_.servers[server]->client().ask({"CONFIG", "SET", name, value}), "OK");
  }
  // Each reply to `request`, sent ten times, while INCRs of the same node are counted.
  std::set<std::string> errors_of(const std::string& request) {
    const std::string counter = world_.key_of(0);
    std::atomic<bool> over = false;
    std::atomic<int> acknowledged = 0;
    std::thread bystander([&] {
      RawClient client = world_.client();
      while (!over) {
        const wire::Reply reply = client.call({"INCR", counter});
        EXPECT_EQ(reply.type, wire::Reply::Type::kInteger) << RawClient::text(reply);
        ++acknowledged;
      }
    });
    std::set<std::string> errors;
    for (int i = 0; i < 10; ++i) {
      RawClient client = world_.client();
      client.send(request);
      errors.insert(RawClient::text(client.read()));
      EXPECT_EQ(client.ask({"PING"}), "PONG");
    }
    over = true;
    bystander.join();
    EXPECT_EQ(world_.stored(0, counter), std::to_string(acknowledged));
    return errors;
  }
  std::string large_set() { return wire::command({"SET", other_, std::string(kLarge, 'x')}); }

  DataPathWorld world_;
  std::string other_ = world_.key_of(0, 1'000);
};

TEST_F(LargeRequests, AreStored) {
  RawClient client = world_.client();
  const std::string value(kLarge, 'x');
  EXPECT_EQ(client.ask({"SET", other_, value}), "OK");
  EXPECT_EQ(client.ask({"GET", other_}), value);
  EXPECT_EQ(client.ask({"STRLEN", other_}), std::to_string(kLarge));
}

TEST_F(LargeRequests, WhatIsTooLargeHurtsItsSenderAlone) {
  set(0, "proto-max-bulk-len", "1mb");
  const std::set<std::string> errors = errors_of(large_set());
  ASSERT_EQ(errors.size(), 1U) << testing::PrintToString(errors);
  EXPECT_NE(errors.begin()->find("at most 1048576 bytes in one argument (its proto-max-bulk-len)"),
            std::string::npos)
      << *errors.begin();
}

TEST_F(LargeRequests, SoDoesWhatTheServerWouldCloseTheConnectionFor) {
  set(0, "client-query-buffer-limit", "1mb");
  const std::set<std::string> errors = errors_of(large_set());
  ASSERT_EQ(errors.size(), 1U) << testing::PrintToString(errors);
  EXPECT_NE(errors.begin()->find("client-query-buffer-limit"), std::string::npos);
}

TEST_F(LargeRequests, AServerThatDoesNotTellItsLimitsRefusesAlone) {
  set(0, "proto-max-bulk-len", "1mb");
  ASSERT_EQ(world_.servers[0]->client().ask({"ACL", "SETUSER", "default", "-config"}), "OK");
  const std::set<std::string> errors = errors_of(large_set());
  ASSERT_EQ(errors.size(), 1U) << testing::PrintToString(errors);
  EXPECT_EQ(*errors.begin(), "-ERR Protocol error: invalid bulk length");
}

TEST_F(LargeRequests, ManyArgumentsGoAlone) {
  std::vector<std::string> args{"MSET"};
  for (int i = 0; i < 100'000; ++i) {
    args.push_back("{" + other_ + "}" + std::to_string(i));
    args.emplace_back("v");
  }
  std::string bytes;
  wire::append_command(bytes, std::vector<std::string_view>(args.begin(), args.end()));
  ASSERT_GT(bytes.size(), kSharedBytesMax);
  EXPECT_EQ(errors_of(bytes), std::set<std::string>{"OK"});
}

// More than the router takes at all: the client reads why, though it was still sending.
TEST_F(LargeRequests, ASenderOfTooManyArgumentsLearnsWhy) {
  std::string bytes = "*1048579\r\n$4\r\nMSET\r\n";
  for (int i = 0; i < 1'048'578; ++i) bytes += "$1\r\nx\r\n";
  for (int i = 0; i < 5; ++i) {
    RawClient client = world_.client();
    EXPECT_TRUE(client.send(bytes));
    EXPECT_EQ(RawClient::text(client.read()), "-ERR Protocol error: invalid multibulk length");
    EXPECT_TRUE(client.closed_by_peer());
  }
}

// Both ways: the large one does not pass what came before it, nor is it passed.
TEST_F(LargeRequests, KeepTheirPlaceAmongTheClientsOwn) {
  const std::string large(kLarge, 'x');
  RawClient client = world_.client();
  for (int round = 0; round < 10; ++round) {
    client.send(wire::command({"SET", other_, "a"}) + wire::command({"APPEND", other_, "b"}) +
                wire::command({"SET", other_, large}) + wire::command({"APPEND", other_, "c"}) +
                wire::command({"STRLEN", other_}) + wire::command({"SET", other_, large}) +
                wire::command({"DEL", other_}) + wire::command({"GET", other_}));
    EXPECT_EQ(RawClient::text(client.read()), "OK");
    EXPECT_EQ(RawClient::text(client.read()), "2");
    EXPECT_EQ(RawClient::text(client.read()), "OK");
    EXPECT_EQ(RawClient::text(client.read()), std::to_string(kLarge + 1));
    EXPECT_EQ(RawClient::text(client.read()), std::to_string(kLarge + 1));
    EXPECT_EQ(RawClient::text(client.read()), "OK");
    EXPECT_EQ(RawClient::text(client.read()), "1");
    EXPECT_EQ(RawClient::text(client.read()), "(nil)");
  }
}

TEST_F(LargeRequests, TheirConnectionsCarryTheSessionAndAreFew) {
  std::vector<RawClient> clients;
  for (int i = 0; i < 12; ++i) clients.push_back(world_.client());
  for (RawClient& client : clients) client.send(large_set());
  for (RawClient& client : clients) EXPECT_EQ(RawClient::text(client.read()), "OK");
  const std::string list = world_.servers[0]->client().ask({"CLIENT", "LIST"});
  std::size_t named = 0;
  for (std::size_t at = 0; (at = list.find("name=cleave:test ", at)) != std::string::npos; ++at) {
    ++named;
  }
  EXPECT_GE(named, 3U) << list;  // the prober's, the shared one, at least one more
  EXPECT_LE(named, 2U + 4U) << list;
}

// Rules 10 and 11: a fence waits for it, and its key is noted when it finishes.
TEST_F(LargeRequests, AFenceWaitsForThem) {
  const MoveId move = world_.begin_move(other_, 1);
  world_.await_copying(move, world_.phase_epoch(move)).get();
  RawClient client = world_.client();
  ASSERT_EQ(client.ask({"SET", other_, std::string(kLarge, 'y')}), "OK");  // opens the connection
  EXPECT_EQ(world_.take(move, world_.phase_epoch(move), 1).get()->keys.size(), 1U);
  world_.servers[0]->freeze();
  client.send(large_set());
  std::this_thread::sleep_for(milliseconds{100});
  world_.fence(move);
  auto fenced = world_.await_fenced(move, world_.phase_epoch(move));
  EXPECT_EQ(fenced.wait_for(milliseconds{150}), std::future_status::timeout);
  world_.servers[0]->thaw();
  const Result<peer::FencedAck> ack = fenced.get();
  ASSERT_TRUE(ack.has_value());
  EXPECT_EQ(ack->last.keys, std::vector<std::string>{other_});
  EXPECT_EQ(ack->incarnations.at(DataPathWorld::node(0)).size(), 1U);
}

}  // namespace
}  // namespace cleave::proxy
