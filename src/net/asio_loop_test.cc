#include "net/asio_loop.h"

#include <gtest/gtest.h>

#include <thread>

#include "net/net_testing.h"

namespace cleave::net {
namespace {

struct CountingTurnEnd : TurnEnd {
  std::function<void()> hook = [] {};
  int ran = 0;
  void on_turn_end() override {
    ++ran;
    hook();
  }
};

TEST(AsioLoop, StopBeforeRunIsNotForgotten) {
  const auto loop = make_loop();
  loop->stop();
  loop->run();  // returns
  int ran = 0;
  loop->post([&] {
    ++ran;
    loop->stop();
  });
  run_bounded(*loop);
  EXPECT_EQ(ran, 1);
}

TEST(AsioLoop, DestroysCallbacksThatNeverRan) {
  auto loop = make_loop();
  const auto witness = std::make_shared<int>(0);
  TimerId other = loop->after(seconds{60}, [] {});
  struct Owner {
    Loop& loop;
    TimerId timer;
    std::shared_ptr<int> witness;
    ~Owner() { loop.cancel(timer); }
  };
  auto owner = std::make_shared<Owner>(*loop, other, witness);
  loop->post([owner] { FAIL(); });
  loop->after(seconds{1}, [owner] { FAIL(); });
  loop->connect(Address{"127.0.0.1", 1}, milliseconds{100}, [owner](auto) { FAIL(); });
  owner.reset();
  loop.reset();
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(AsioLoop, PostsFromManyThreadsAllRunEachThreadsInOrder) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5'000;
  const auto loop = make_loop();
  std::vector<int> last(kThreads, 0);
  int ran = 0;
  int out_of_order = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int number = 1; number <= kEach; ++number) {
        loop->post([&, thread, number] {
          int& before = last[static_cast<std::size_t>(thread)];
          if (number != before + 1) ++out_of_order;
          before = number;
          if (++ran == kThreads * kEach) loop->stop();
        });
      }
    });
  }
  run_bounded(*loop);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, kThreads * kEach);
  EXPECT_EQ(out_of_order, 0);
}

// What happens-before between threads must hold for posts too: the loop posts, tells a thread,
// the thread posts.
TEST(AsioLoop, PostOrderHoldsAcrossThreads) {
  const auto loop = make_loop();
  std::string order;
  loop->post([&] {
    loop->post([&] { order += 'a'; });
    std::thread([&] {
      loop->post([&] {
        order += 'b';
        loop->stop();
      });
    }).join();
  });
  run_bounded(*loop);
  EXPECT_EQ(order, "ab");
}

TEST(AsioLoop, PostNeverRunsWithinTheCall) {
  const auto loop = make_loop();
  bool inside = false;
  loop->post([&] {
    inside = true;
    loop->post([&] {
      EXPECT_FALSE(inside);
      loop->stop();
    });
    inside = false;
  });
  run_bounded(*loop);
}

TEST(AsioLoopTurnEnd, RunsOnceAfterTheReadyHandlers) {
  const auto loop = make_loop();
  CountingTurnEnd end;
  std::string order;
  end.hook = [&] { order += 'E'; };
  for (int i = 0; i < 3; ++i) {
    loop->post([&] {
      order += 'p';
      loop->at_turn_end(end);
      loop->at_turn_end(end);
    });
  }
  loop->after(milliseconds{20}, [&] { loop->stop(); });
  run_bounded(*loop);
  EXPECT_EQ(order, "pppE");
}

TEST(AsioLoopTurnEnd, AskedForWithinATurnEndRunsAgainInTheNextTurn) {
  const auto loop = make_loop();
  CountingTurnEnd end;
  end.hook = [&] {
    if (end.ran < 3) {
      loop->at_turn_end(end);
    } else {
      loop->stop();
    }
  };
  loop->post([&] { loop->at_turn_end(end); });
  run_bounded(*loop);
  EXPECT_EQ(end.ran, 3);
}

TEST(AsioLoopTurnEnd, OneThatWaitsInTheSameTurnIsNotRunTwice) {
  const auto loop = make_loop();
  CountingTurnEnd first;
  CountingTurnEnd second;
  first.hook = [&] { loop->at_turn_end(second); };
  loop->post([&] {
    loop->at_turn_end(first);
    loop->at_turn_end(second);
  });
  loop->after(milliseconds{20}, [&] { loop->stop(); });
  run_bounded(*loop);
  EXPECT_EQ(first.ran, 1);
  EXPECT_EQ(second.ran, 1);
}

TEST(AsioLoopTurnEnd, ForgottenOnesDoNotRun) {
  const auto loop = make_loop();
  CountingTurnEnd first;
  auto second = std::make_unique<CountingTurnEnd>();
  CountingTurnEnd third;
  third.hook = [&] { loop->stop(); };
  second->hook = [] { FAIL() << "it was forgotten"; };
  first.hook = [&] {  // in the middle of the turn end
    loop->forget_turn_end(*second);
    second.reset();
  };
  CountingTurnEnd never;
  loop->post([&] {
    loop->at_turn_end(never);
    loop->at_turn_end(first);
    loop->at_turn_end(*second);
    loop->at_turn_end(third);
    loop->forget_turn_end(never);
  });
  run_bounded(*loop);
  EXPECT_EQ(never.ran, 0);
  EXPECT_EQ(first.ran, 1);
  EXPECT_EQ(third.ran, 1);
}

TEST(AsioLoopTimers, RunInOrderAndNotBeforeTheirTime) {
  const auto loop = make_loop();
  std::string order;
  const Instant begun = loop->now();
  loop->after(milliseconds{30}, [&] {
    order += 'c';
    EXPECT_GE(loop->now() - begun, milliseconds{30});
    loop->stop();
  });
  loop->after(milliseconds{10}, [&] { order += 'a'; });  // earlier than the one armed
  const TimerId cancelled = loop->after(milliseconds{5}, [] { FAIL(); });
  loop->after(milliseconds{20}, [&] { order += 'b'; });
  loop->after(milliseconds{-5}, [&] { order += '0'; });
  loop->after(nanoseconds::max(), [] { FAIL(); });
  loop->cancel(cancelled);
  loop->cancel(cancelled);
  run_bounded(*loop);
  EXPECT_EQ(order, "0abc");
}

TEST(AsioLoopTimers, ACallbackMayCancelTheNext) {
  const auto loop = make_loop();
  TimerId next;
  loop->after(milliseconds{1}, [&] { loop->cancel(next); });
  next = loop->after(milliseconds{1}, [] { FAIL(); });
  loop->after(milliseconds{10}, [&] { loop->stop(); });
  run_bounded(*loop);
}

TEST(AsioLoopTimers, ZeroDelayDoesNotStarveTheSockets) {
  const auto loop = make_loop();
  StreamPair pair = make_pair_on(*loop);
  Recorder client;
  Recorder server;
  bool spinning = true;
  std::function<void()> spin = [&] {
    if (spinning) loop->after(nanoseconds{0}, spin);
  };
  server.bytes_hook = [&](std::string_view) {
    spinning = false;
    loop->stop();
  };
  pair.client->start(client);
  pair.server->start(server);
  spin();
  pair.client->send("x");
  run_bounded(*loop);
  EXPECT_EQ(server.got, "x");
}

}  // namespace
}  // namespace cleave::net
