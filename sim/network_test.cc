#include "sim/network.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/sim_loop.h"

namespace cleave::sim {
namespace {

// Remembers everything; echoes when told to.
class Recorder final : public net::StreamEvents {
 public:
  void on_bytes(std::string_view bytes) override { received.append(bytes); }
  void on_drained() override { ++drained; }
  bool on_end() override {
    ++ended;
    return stays;
  }
  void on_closed(const Error& why) override { closed.push_back(why.message); }

  std::string received;
  int drained = 0;
  int ended = 0;
  bool stays = false;  // when the other sends no more
  std::vector<std::string> closed;
};

// Two processes with one connection between them.
struct Pair {
  explicit Pair(std::uint64_t seed, NetworkOptions options = {}, const Unruly& unruly = {})
      : scheduler(seed),
        network(scheduler, options),
        left(network.add_process("10.0.0.1")),
        right(network.add_process("10.0.0.2")),
        left_loop(network, left),
        right_loop(network, right) {
    network.set_unruly(unruly);
    at_connector.stays = at_acceptor.stays = unruly.half_closed_one_of > 0;
    auto listening = right_loop.listen(
        {"10.0.0.2", 7001}, {.choose = [this]() -> net::Loop& { return right_loop; },
                             .accepted =
                                 [this](net::Loop&, std::unique_ptr<net::Stream> stream) {
                                   acceptor = std::move(stream);
                                   acceptor->start(at_acceptor);
                                 }});
    EXPECT_TRUE(listening.has_value());
    listener = std::move(*listening);
    left_loop.connect({"10.0.0.2", 7001}, milliseconds{100},
                      [this](Result<std::unique_ptr<net::Stream>> result) {
                        ASSERT_TRUE(result.has_value());
                        connector = std::move(*result);
                        connector->start(at_connector);
                      });
    scheduler.run_until(milliseconds{20});
  }

  void run(milliseconds time) { scheduler.run_until(scheduler.now() + time); }

  Scheduler scheduler;
  Network network;
  Process& left;
  Process& right;
  SimLoop left_loop;
  SimLoop right_loop;
  std::unique_ptr<net::Listener> listener;
  std::unique_ptr<net::Stream> connector;
  std::unique_ptr<net::Stream> acceptor;
  Recorder at_connector;
  Recorder at_acceptor;
};

std::string numbered(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += std::to_string(i) + ",";
  return text;
}

TEST(Network, KeepsOrderWhateverTheCuts) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    Pair pair(seed, {.cut_every = 2});
    const std::string text = numbered(100);
    for (std::size_t at = 0; at < text.size(); at += 37) pair.connector->send(text.substr(at, 37));
    pair.run(milliseconds{50});
    ASSERT_EQ(pair.at_acceptor.received, text) << "seed " << seed;
  }
}

TEST(Network, PausedReaderPushesBack) {
  Pair pair(1, {.buffer_bytes = 1'000});
  pair.acceptor->pause_reading();
  pair.connector->send(std::string(5'000, 'x'));
  pair.run(milliseconds{50});
  EXPECT_EQ(pair.connector->unsent(), 4'000U);
  EXPECT_EQ(pair.connector->sent_total(), 1'000U);
  EXPECT_EQ(pair.at_connector.drained, 0);
  pair.acceptor->resume_reading();
  pair.run(milliseconds{50});
  EXPECT_EQ(pair.at_acceptor.received.size(), 5'000U);
  EXPECT_EQ(pair.connector->unsent(), 0U);
  EXPECT_EQ(pair.at_connector.drained, 1);
}

TEST(Network, CloseIsHeardAfterAllBytes) {
  Pair pair(2);
  pair.connector->send("last words");
  pair.connector->close();
  pair.run(milliseconds{50});
  EXPECT_EQ(pair.at_acceptor.received, "last words");
  EXPECT_EQ(pair.at_acceptor.closed.size(), 1U);
  EXPECT_TRUE(pair.at_connector.closed.empty()) << "nothing is said after our own close";
}

TEST(Network, AnUnrulyOneLosesWhatIsAskedOrWhatIsAnswered) {
  int unasked = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Pair pair(seed, {.cut_every = 0}, {.hosts = "10.0.0.", .lost_one_of = 1});
    pair.connector->send("ask");
    pair.run(milliseconds{20});
    if (pair.at_acceptor.received.empty())
      ++unasked;
    else
      pair.acceptor->send("answer");
    pair.run(milliseconds{20});
    EXPECT_EQ(pair.at_connector.received, "") << "seed " << seed;
    EXPECT_EQ(pair.at_connector.closed.size(), 1U) << "seed " << seed;
    EXPECT_EQ(pair.at_acceptor.closed.size(), 1U) << "seed " << seed;
  }
  EXPECT_GT(unasked, 20);
  EXPECT_LT(unasked, 80);
}

TEST(Network, OnlyConnectionsOfTheUnrulyHostsAreUpset) {
  Pair pair(1, {}, {.hosts = "10.0.9.", .lost_one_of = 1, .half_closed_one_of = 1});
  pair.connector->send("ask");
  pair.run(milliseconds{20});
  EXPECT_EQ(pair.at_acceptor.received, "ask");
}

// One end hears that the other sends no more, and may go on; the other does not know.
TEST(Network, AHalfClosedOneGoesOnTheOtherWay) {
  int either[2] = {0, 0};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Pair pair(seed, {}, {.hosts = "10.0.0.", .half_closed_one_of = 1});
    ASSERT_EQ(pair.at_connector.ended + pair.at_acceptor.ended, 1) << "seed " << seed;
    pair.connector->send("ask");
    pair.acceptor->send("answer");
    pair.run(milliseconds{20});
    const bool acceptor_heard = pair.at_acceptor.ended == 1;
    ++either[acceptor_heard ? 1 : 0];
    EXPECT_EQ(pair.at_acceptor.received, acceptor_heard ? "" : "ask") << "seed " << seed;
    EXPECT_EQ(pair.at_connector.received, acceptor_heard ? "answer" : "") << "seed " << seed;
    EXPECT_TRUE(pair.at_connector.closed.empty() && pair.at_acceptor.closed.empty());
  }
  EXPECT_GT(either[0], 5);
  EXPECT_GT(either[1], 5);
}

TEST(Network, WithoutDescriptorsCallersWaitAndNobodyIsCalled) {
  Pair pair(1);
  std::vector<std::string> heard;
  const auto call = [&](SimLoop& from, const net::Address& address) {
    from.connect(address, milliseconds{100}, [&](Result<std::unique_ptr<net::Stream>> result) {
      heard.push_back(result ? "connected" : result.error().message);
    });
  };
  pair.network.exhaust("10.0.0.2", Exhausted::kAccepting, pair.scheduler.now() + milliseconds{50});
  call(pair.left_loop, {"10.0.0.2", 7001});
  pair.run(milliseconds{40});
  EXPECT_TRUE(heard.empty());
  pair.run(milliseconds{30});
  EXPECT_EQ(heard, std::vector<std::string>{"connected"});
  pair.network.exhaust("10.0.0.1", Exhausted::kAll, pair.scheduler.now() + milliseconds{50});
  call(pair.left_loop, {"10.0.0.2", 7001});
  pair.run(milliseconds{10});
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_NE(heard.back().find("too many open files"), std::string::npos) << heard.back();
}

TEST(Network, BrokenAtConnectorStillDeliversWhatWasSent) {
  Pair pair(3);
  pair.connector->send("SET k late");
  const auto numbers = pair.network.connections("10.0.0.1", "10.0.0.2");
  ASSERT_EQ(numbers.size(), 1U);
  pair.network.break_connection(numbers.front(), Break::kAtConnector, milliseconds{400});
  pair.run(milliseconds{1});
  EXPECT_EQ(pair.at_connector.closed.size(), 1U);
  EXPECT_EQ(pair.at_acceptor.received, "");
  pair.run(milliseconds{1'000});
  EXPECT_EQ(pair.at_acceptor.received, "SET k late");
  EXPECT_EQ(pair.at_acceptor.closed.size(), 1U);
}

TEST(Network, BrokenAtAcceptorLosesWhatWasSent) {
  Pair pair(4);
  pair.connector->send("lost");
  pair.network.break_connection(pair.network.connections("", "").front(), Break::kAtAcceptor,
                                milliseconds{10});
  pair.run(milliseconds{100});
  EXPECT_EQ(pair.at_acceptor.received, "");
  EXPECT_EQ(pair.at_connector.closed.size(), 1U);
}

TEST(Network, StalledLinkHoldsOneDirection) {
  Pair pair(5);
  pair.network.stall("10.0.0.1", "10.0.0.2", pair.scheduler.now() + milliseconds{200});
  pair.connector->send("held");
  pair.acceptor->send("free");
  pair.run(milliseconds{100});
  EXPECT_EQ(pair.at_acceptor.received, "");
  EXPECT_EQ(pair.at_connector.received, "free");
  pair.run(milliseconds{200});
  EXPECT_EQ(pair.at_acceptor.received, "held");
}

TEST(Network, CrashedProcessIsSilentAndItsPeerHearsTheEnd) {
  Pair pair(6);
  bool ran = false;
  pair.left_loop.after(milliseconds{5}, [&] { ran = true; });
  pair.connector->send("sent before");
  pair.network.crash(pair.left, Death::kProcess);
  pair.run(milliseconds{100});
  EXPECT_FALSE(ran);
  EXPECT_EQ(pair.at_acceptor.received, "sent before");
  EXPECT_EQ(pair.at_acceptor.closed.size(), 1U);
  EXPECT_TRUE(pair.at_connector.closed.empty());
  pair.network.start(pair.left);
  pair.left_loop.post([&] { ran = true; });
  pair.run(milliseconds{10});
  EXPECT_FALSE(ran) << "a loop of the old life";
}

TEST(Network, ConnectIsRefusedWithoutListenerAndTimesOutBehindAStall) {
  Pair pair(7);
  Code refused{};
  Code silent{};
  pair.left_loop.connect({"10.0.0.2", 1}, milliseconds{50},
                         [&](auto result) { refused = result.error().code; });
  pair.network.stall("10.0.0.1", "10.0.0.9", pair.scheduler.now() + seconds{9});
  pair.left_loop.connect({"10.0.0.9", 1}, milliseconds{50},
                         [&](auto result) { silent = result.error().code; });
  pair.run(milliseconds{100});
  EXPECT_EQ(refused, Code::kUnavailable);
  EXPECT_EQ(silent, Code::kTimeout);
}

TEST(SimLoop, PausedProcessRunsItsEventsInOrderLater) {
  Pair pair(8);
  std::string order;
  pair.left.pause();
  for (const char name : std::string("abcdef"))
    pair.left_loop.post([&order, name] { order += name; });
  pair.left_loop.after(milliseconds{1}, [&] { order += '!'; });
  pair.run(milliseconds{10});
  EXPECT_EQ(order, "");
  pair.left.resume();
  pair.run(milliseconds{10});
  EXPECT_EQ(order, "abcdef!");
}

TEST(SimLoop, CancelledTimerNeverRuns) {
  Pair pair(9);
  int ran = 0;
  const net::TimerId timer = pair.left_loop.after(milliseconds{1}, [&] { ++ran; });
  pair.left_loop.after(milliseconds{2}, [&] { ++ran; });
  pair.left_loop.cancel(timer);
  pair.run(milliseconds{10});
  EXPECT_EQ(ran, 1);
}

class CountedTurnEnd final : public net::TurnEnd {
 public:
  void on_turn_end() override { ++runs; }
  int runs = 0;
};

TEST(SimLoop, TurnEndAskedTwiceRunsOnce) {
  Pair pair(10);
  CountedTurnEnd asked;
  CountedTurnEnd forgotten;
  pair.left_loop.post([&] {
    pair.left_loop.at_turn_end(asked);
    pair.left_loop.at_turn_end(forgotten);
    pair.left_loop.at_turn_end(asked);
    pair.left_loop.forget_turn_end(forgotten);
  });
  pair.run(milliseconds{10});
  EXPECT_EQ(asked.runs, 1);
  EXPECT_EQ(forgotten.runs, 0);
}

std::uint64_t hash_of(std::uint64_t seed) {
  Pair pair(seed);
  for (int i = 0; i < 20; ++i) pair.connector->send(numbered(50));
  pair.run(milliseconds{50});
  return pair.scheduler.trace_hash();
}

TEST(Scheduler, SameSeedSameHash) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) ASSERT_EQ(hash_of(seed), hash_of(seed)) << seed;
  EXPECT_NE(hash_of(1), hash_of(2));
}

}  // namespace
}  // namespace cleave::sim
