// Servers that die or fall silent, clients that do not read: the others go on.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "proxy/data_path.h"
#include "proxy/data_path_testing.h"

namespace cleave::proxy {
namespace {

// A sanitizer's shadow memory says nothing about ours.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

std::size_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  status >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

Limits quick() {
  Limits limits;
  limits.request_timeout = milliseconds{150};
  limits.pipe_stuck_max = milliseconds{600};
  limits.probe_interval = milliseconds{40};
  return limits;
}

// cases.md 17 and 11.
TEST(RouterFaults, ASilentNodeTimesOutAloneAndComesBackWithoutStaleReplies) {
  DataPathWorld world({.limits = quick()});
  RawClient client = world.client();
  const std::string silent = world.key_of(0);
  const std::string alive = world.key_of(1);
  client.ask({"SET", silent, "value"});
  client.ask({"SET", alive, "alive"});
  world.servers[0]->freeze();
  const auto before = std::chrono::steady_clock::now();
  const std::string error = client.ask({"GET", silent});
  EXPECT_TRUE(error.starts_with("-ERR cleave: node a (127.0.0.1:")) << error;
  EXPECT_NE(error.find("no reply within 150 ms"), std::string::npos) << error;
  EXPECT_LT(std::chrono::steady_clock::now() - before, milliseconds{600});
  EXPECT_EQ(client.ask({"GET", alive}), "alive");
  ASSERT_TRUE(eventually([&] { return !world.health().front().up; }));
  const auto asked = std::chrono::steady_clock::now();
  EXPECT_TRUE(client.ask({"GET", silent}).find("is down") != std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, milliseconds{100}) << "known to be down";

  world.servers[0]->thaw();
  ASSERT_TRUE(eventually([&] { return client.ask({"GET", silent}) == "value"; }));
  for (int i = 0; i < 100; ++i) {
    const std::string text = std::to_string(i);
    ASSERT_EQ(client.ask({"SET", silent, text}), "OK");
    ASSERT_EQ(client.ask({"GET", silent}), text);
  }
}

TEST(RouterFaults, ADeadNodeFailsFastAndRecoversByItself) {
  DataPathWorld world({.limits = quick()});
  RawClient client = world.client();
  const std::string dead = world.key_of(0);
  const std::string alive = world.key_of(1);
  client.ask({"SET", alive, "v"});
  world.servers[0]->kill();
  ASSERT_TRUE(eventually([&] { return client.ask({"SET", dead, "x"}).starts_with("-"); }));
  std::string error;
  ASSERT_TRUE(eventually([&] {
    error = client.ask({"SET", dead, "x"});
    return error.find("refused") != std::string::npos;
  })) << error;
  EXPECT_NE(error.find("node a (127.0.0.1:"), std::string::npos) << error;
  EXPECT_NE(error.find("is down: "), std::string::npos) << error;
  EXPECT_EQ(client.ask({"GET", alive}), "v");
  world.servers[0]->start();
  ASSERT_TRUE(eventually([&] { return client.ask({"SET", dead, "x"}) == "OK"; }));
}

// cases.md 19.
TEST(RouterFaults, ReadsSurviveABrokenConnection) {
  DataPathWorld world;
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  client.ask({"SET", key, "v"});
  RawClient admin = world.servers[0]->client();
  for (int i = 0; i < 4; ++i) {
    admin.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    ASSERT_EQ(client.ask({"GET", key}), "v");
  }
}

// Sent again, it might see what its client wrote after it.
TEST(RouterFaults, AReadIsNotSentAgainBehindAWriteOfItsClient) {
  DataPathWorld world;
  const std::string key = world.key_of(0);
  const std::string other = world.key_of(1);
  world.client().ask({"SET", key, "v"});
  // The server is busy, then ends all connections: what came to it meanwhile is lost with them.
  const std::string busy_then_kill =
      wire::command({"EVAL",
                     "local function now() local t = redis.call('TIME') "
                     "return t[1] * 1000 + t[2] / 1000 end "
                     "local till = now() + 300 while now() < till do end",
                     "0"}) +
      wire::command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  const auto read_in_vain = [&](const std::string& next) {
    EXPECT_EQ(world.client().ask({"GET", key}), "v");
    RawClient admin = world.servers[0]->client();
    admin.send(busy_then_kill);
    RawClient client = world.client();
    client.send(wire::command({"GET", key}) + next);
    std::string got = RawClient::text(client.read());
    EXPECT_FALSE(RawClient::text(client.read()).starts_with("-"));
    return got;
  };
  EXPECT_EQ(read_in_vain(wire::command({"GET", other})), "v");
  // On a machine with much else to do the read may come when the server is not busy any more, or
  // before the router has connected again.
  std::string got;
  ASSERT_TRUE(eventually([&] {
    got = read_in_vain(wire::command({"SET", other, "1"}));
    return got != "v" && !got.ends_with("the command was not sent");
  }));
  EXPECT_TRUE(got.starts_with("-ERR cleave: node a (127.0.0.1:")) << got;
}

// cases.md 23.
TEST(RouterFaults, AClientThatNeverReadsIsShedAndNobodyElseSuffers) {
  Limits limits;
  limits.client_unsent_bytes_max = std::size_t{2} << 20U;
  limits.client_unsent_bytes_hard = std::size_t{16} << 20U;
  limits.client_stalled_max = milliseconds{500};
  DataPathWorld world({.limits = limits});
  RawClient other = world.client();
  ASSERT_EQ(other.ask({"SET", "big", std::string(1'000'000, 'x')}), "OK");
  other.ask({"SET", "small", "v"});
  const std::size_t before = resident_bytes();
  RawClient greedy(world.port, 4'096);
  std::thread sender([&] {
    for (int i = 0; i < 1'000; ++i) {
      std::string bytes;
      for (int n = 0; n < 100; ++n) bytes += wire::command({"GET", "big"});
      if (!greedy.send(bytes)) return;
    }
  });
  std::size_t most = 0;
  milliseconds slowest{0};
  EXPECT_TRUE(eventually([&] {
    const auto asked = std::chrono::steady_clock::now();
    EXPECT_EQ(other.ask({"GET", "small"}), "v");
    slowest = std::max(slowest, std::chrono::duration_cast<milliseconds>(
                                    std::chrono::steady_clock::now() - asked));
    most = std::max(most, resident_bytes());
    return world.stats().clients_shed == 1;
  }));
  sender.join();
  if (!kSanitized) {
    EXPECT_LT(most - before, std::size_t{160} << 20U);
    EXPECT_LT(slowest, milliseconds{1'000});
    EXPECT_TRUE(eventually([&] { return resident_bytes() < before + (std::size_t{48} << 20U); }))
        << "memory is given back";
  }
  EXPECT_NE(world.stats().last_shed.find("did not read"), std::string::npos);
}

TEST(RouterFaults, AClientThatPausesGetsEverythingInTheEnd) {
  Limits limits;
  limits.client_unsent_bytes_max = std::size_t{1} << 20U;
  DataPathWorld world({.limits = limits});
  RawClient client(world.port, 4'096);
  const std::string value(100'000, 'x');
  client.ask({"SET", "big", value});
  std::thread sender([&] {
    for (int i = 0; i < 500; ++i) client.send(wire::command({"GET", "big"}));
  });
  std::this_thread::sleep_for(milliseconds{300});
  for (int i = 0; i < 500; ++i) ASSERT_EQ(client.read().text.size(), value.size());
  sender.join();
  EXPECT_EQ(client.ask({"PING"}), "PONG");
}

TEST(RouterFaults, OneReplyMayBeLargerThanTheBoundOfAClient) {
  Limits limits;
  limits.client_unsent_bytes_max = std::size_t{256} << 10U;
  limits.client_unsent_bytes_hard = std::size_t{1} << 20U;
  DataPathWorld world({.limits = limits});
  RawClient client = world.client();
  const std::string value(5'000'000, 'x');
  ASSERT_EQ(client.ask({"SET", "big", value}), "OK");
  client.send(wire::command({"GET", "big"}));
  std::this_thread::sleep_for(milliseconds{100});
  ASSERT_EQ(client.read().text.size(), value.size());
  // From here on the router knows how large they are and asks for one after the other.
  for (int i = 0; i < 3; ++i) client.send(wire::command({"GET", "big"}));
  std::this_thread::sleep_for(milliseconds{100});
  for (int i = 0; i < 3; ++i) ASSERT_EQ(client.read().text.size(), value.size());
}

TEST(RouterFaults, ClientsThatLeaveWithRequestsUnderWayHurtNobody) {
  DataPathWorld world({.workers = 2, .limits = quick()});
  RawClient other = world.client();
  for (int i = 0; i < 200; ++i) {
    RawClient client = world.client();
    std::string bytes;
    for (int n = 0; n < 50; ++n) {
      bytes += wire::command({"MSET", "a" + std::to_string(n), "1", "b" + std::to_string(n), "2"});
      bytes += wire::command({"MGET", "a" + std::to_string(n), "b" + std::to_string(n)});
      bytes += wire::command({"INCR", "c"});
    }
    client.send(bytes);
    if (i % 2 == 0) client.read();
    client.close();
    ASSERT_EQ(other.ask({"PING"}), "PONG");
  }
  ASSERT_TRUE(eventually([&] { return world.stats().clients == 1; }));
  EXPECT_EQ(other.ask({"SET", "x", "1"}), "OK");
}

TEST(RouterFaults, AThousandIdleClientsFitIntoLittleMemory) {
  DataPathWorld world;
  const std::size_t before = resident_bytes();
  std::vector<RawClient> clients;
  for (int i = 0; i < 1'000; ++i) {
    clients.push_back(world.client());
    ASSERT_EQ(clients.back().ask({"PING"}), "PONG");
  }
  EXPECT_EQ(world.stats().clients, 1'000U);
  // Both ends live in this process; what the test's own clients keep is small.
  if (!kSanitized) {
    EXPECT_LT(resident_bytes() - before, std::size_t{32} << 20U);
  }
}

TEST(RouterFaults, TooManyClientsAreToldSo) {
  Limits limits;
  limits.clients_max = 2;
  DataPathWorld world({.limits = limits});
  RawClient first = world.client();
  RawClient second = world.client();
  EXPECT_EQ(first.ask({"PING"}), "PONG");
  EXPECT_EQ(second.ask({"PING"}), "PONG");
  RawClient third = world.client();
  EXPECT_EQ(third.read_raw(), "-ERR max number of clients reached\r\n");
  EXPECT_TRUE(third.closed_by_peer());
}

TEST(RouterFaults, HealthSaysWhoIsUp) {
  DataPathWorld world({.limits = quick()});
  ASSERT_TRUE(eventually([&] {
    const std::vector<NodeHealth> health = world.health();
    return health.size() == 3 && health[0].up && health[1].up && health[2].up;
  }));
  EXPECT_TRUE(world.health()[0].identity.primary);
  world.servers[1]->kill();
  ASSERT_TRUE(eventually([&] { return !world.health()[1].up; }));
  EXPECT_NE(world.health()[1].error.find("refused"), std::string::npos);
}

}  // namespace
}  // namespace cleave::proxy
