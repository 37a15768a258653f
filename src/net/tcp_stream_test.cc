// Streams over real loopback sockets.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "net/net_testing.h"

namespace cleave::net {
namespace {

class StreamTest : public ::testing::Test {
 protected:
  void start() {
    pair_.client->start(client_);
    pair_.server->start(server_);
  }
  // Lets everything that is under way arrive.
  void run_for(milliseconds time) {
    loop_->after(time, [this] { loop_->stop(); });
    run_bounded(*loop_);
  }

  std::unique_ptr<AsioLoop> loop_ = make_loop();
  Recorder client_;
  Recorder server_;
  StreamPair pair_ = make_pair_on(*loop_);
};

std::string random_bytes(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
  return bytes;
}

TEST_F(StreamTest, Echoes) {
  server_.bytes_hook = [&](std::string_view bytes) { pair_.server->send(bytes); };
  client_.bytes_hook = [&](std::string_view) { loop_->stop(); };
  start();
  pair_.client->send("hello");
  EXPECT_EQ(pair_.client->unsent(), 0U);
  EXPECT_EQ(pair_.client->sent_total(), 5U);
  run_bounded(*loop_);
  EXPECT_EQ(client_.got, "hello");
  EXPECT_EQ(client_.drained, 0) << "nothing had to be kept";
  EXPECT_TRUE(pair_.client->peer().starts_with("127.0.0.1:"));
}

TEST_F(StreamTest, SendsBeforeStartArrive) {
  pair_.client->send("early");
  server_.bytes_hook = [&](std::string_view) { loop_->stop(); };
  start();
  run_bounded(*loop_);
  EXPECT_EQ(server_.got, "early");
}

TEST_F(StreamTest, BigTransferArrivesWholeUnderBackPressure) {
  const std::string bytes = random_bytes(std::size_t{24} << 20U, 7);
  std::size_t most_unsent = 0;
  std::size_t sent = 0;
  // Irregular pieces, the next when the one before has left.
  Rng rng(8);
  const auto feed = [&] {
    while (sent < bytes.size() && pair_.client->unsent() == 0) {
      const std::size_t count = std::min<std::size_t>(bytes.size() - sent, 1 + rng.below(900'000));
      pair_.client->send(std::string_view(bytes).substr(sent, count));
      sent += count;
      most_unsent = std::max(most_unsent, pair_.client->unsent());
      EXPECT_EQ(pair_.client->sent_total() + pair_.client->unsent(), sent);
    }
  };
  client_.drained_hook = feed;
  server_.bytes_hook = [&](std::string_view) {
    if (server_.got.size() == bytes.size()) loop_->stop();
  };
  start();
  feed();
  run_bounded(*loop_);
  EXPECT_TRUE(server_.got == bytes);
  EXPECT_GT(client_.drained, 0) << "the socket never pushed back: the test tests nothing";
  EXPECT_LE(most_unsent, 900'000U);
  EXPECT_EQ(pair_.client->sent_total(), bytes.size());
}

TEST_F(StreamTest, KeptBytesStayInOrderWhileMoreAreSent) {
  pair_.server->pause_reading();
  start();
  std::string all;
  for (int i = 0; pair_.client->unsent() < 300'000; ++i) {
    const std::string piece = random_bytes(10'000, static_cast<std::uint64_t>(i));
    pair_.client->send(piece);
    all += piece;
  }
  client_.drained_hook = [&] {
    pair_.client->send("end");
    all += "end";
  };
  server_.bytes_hook = [&](std::string_view) {
    if (server_.got.ends_with("end")) loop_->stop();
  };
  pair_.server->resume_reading();
  run_bounded(*loop_);
  EXPECT_TRUE(server_.got == all);
}

TEST_F(StreamTest, PausedMeansNothingIsDelivered) {
  start();
  server_.bytes_hook = [&](std::string_view) { pair_.server->pause_reading(); };
  pair_.client->send("one");
  run_for(milliseconds{30});
  pair_.client->send("two");
  run_for(milliseconds{30});
  EXPECT_EQ(server_.got, "one");
  pair_.server->resume_reading();
  EXPECT_EQ(server_.got, "one") << "delivered within the call";
  run_for(milliseconds{30});
  EXPECT_EQ(server_.got, "onetwo");
}

TEST_F(StreamTest, PauseWhileAReadIsOutstandingHoldsItsBytes) {
  start();
  run_for(milliseconds{5});  // the read is outstanding now
  pair_.server->pause_reading();
  pair_.client->send("held");
  run_for(milliseconds{30});
  EXPECT_EQ(server_.got, "");
  pair_.server->resume_reading();
  pair_.server->pause_reading();
  pair_.server->resume_reading();
  pair_.server->resume_reading();
  pair_.client->send("more");
  run_for(milliseconds{30});
  EXPECT_EQ(server_.got, "heldmore");
}

TEST_F(StreamTest, PausedReaderStopsTheSender) {
  start();
  pair_.server->pause_reading();
  const std::string piece(1 << 20U, 'x');
  for (int i = 0; i < 32; ++i) pair_.client->send(piece);
  run_for(milliseconds{50});
  EXPECT_GT(pair_.client->unsent(), 0U);
  EXPECT_EQ(server_.got, "");
  EXPECT_EQ(client_.drained, 0);
}

TEST_F(StreamTest, ClosedByThePeerIsToldOnceAndLast) {
  client_.closed_hook = [&] { loop_->after(milliseconds{20}, [&] { loop_->stop(); }); };
  start();
  pair_.server->send("bye");
  pair_.server->close();
  pair_.server->close();
  run_bounded(*loop_);
  EXPECT_EQ(client_.got, "bye");
  ASSERT_EQ(client_.closed.size(), 1U);
  EXPECT_EQ(client_.closed[0].code, Code::kUnavailable);
  EXPECT_NE(client_.closed[0].message.find("closed by the peer"), std::string::npos);
  EXPECT_TRUE(server_.closed.empty()) << "our own close is not told";
  pair_.client->send("into the void");
  EXPECT_EQ(pair_.client->unsent(), 0U);
  EXPECT_EQ(pair_.client->sent_total(), 0U);
}

// The last bytes and the end arrive as one event; nothing else will tell of the end.
TEST_F(StreamTest, ACloseThatComesWithTheLastBytesIsNotMissed) {
  for (int round = 0; round < 50; ++round) {
    const auto loop = make_loop();
    StreamPair pair = make_pair_on(*loop);
    Recorder recorder;
    pair.server->send("bye");
    pair.server.reset();  // before the client looks for the first time
    recorder.closed_hook = [&] { loop->stop(); };
    pair.client->start(recorder);
    run_bounded(*loop);
    ASSERT_EQ(recorder.got, "bye");
    ASSERT_EQ(recorder.closed.size(), 1U);
  }
}

TEST_F(StreamTest, ACloseWhilePausedIsToldAfterTheBytes) {
  start();
  pair_.client->pause_reading();
  pair_.server->send("bye");
  pair_.server.reset();
  run_for(milliseconds{20});
  EXPECT_EQ(client_.got, "");
  client_.closed_hook = [&] { loop_->stop(); };
  pair_.client->resume_reading();
  run_bounded(*loop_);
  EXPECT_EQ(client_.got, "bye");
  EXPECT_EQ(client_.closed.size(), 1U);
}

// One that never stops sending must not keep the others waiting.
TEST_F(StreamTest, AFloodLeavesRoomForOthers) {
  StreamPair other = make_pair_on(*loop_);
  Recorder other_client;
  Recorder other_server;
  int answered = 0;
  const std::string flood(1 << 20U, 'x');
  const auto feed = [&] {
    while (pair_.client->unsent() == 0) pair_.client->send(flood);
  };
  client_.drained_hook = feed;
  server_.bytes_hook = [&](std::string_view) { server_.got.clear(); };
  other_server.bytes_hook = [&](std::string_view bytes) { other.server->send(bytes); };
  other_client.bytes_hook = [&](std::string_view) {
    if (++answered == 200) return loop_->stop();
    other.client->send("?");
  };
  other.client->start(other_client);
  other.server->start(other_server);
  start();
  feed();
  other.client->send("?");
  run_bounded(*loop_);
  EXPECT_EQ(answered, 200);
}

TEST_F(StreamTest, AFailedWriteIsToldLater) {
  start();
  pair_.client->pause_reading();
  run_for(milliseconds{5});
  pair_.server->send("unread");  // a close with unread bytes resets the connection
  pair_.client->send("unread too");
  pair_.server.reset();
  bool within_send = false;
  client_.closed_hook = [&] {
    EXPECT_FALSE(within_send);
    loop_->stop();
  };
  // The first send after the reset may still be taken by the kernel.
  loop_->after(milliseconds{10}, [&] {
    within_send = true;
    for (int i = 0; i < 3; ++i) pair_.client->send("x");
    within_send = false;
  });
  run_bounded(*loop_);
  EXPECT_EQ(client_.closed.size(), 1U);
}

// A server says why, and closes with our request unread, which resets the connection.
TEST_F(StreamTest, WhatThePeerSaidLastIsReadThoughAWriteFailed) {
  client_.closed_hook = [&] { loop_->stop(); };
  start();
  pair_.server->pause_reading();
  pair_.client->send("request");
  pair_.server->send("why");
  pair_.server->close();
  pair_.client->send(std::string(1 << 20U, 'x'));
  run_bounded(*loop_);
  EXPECT_EQ(client_.got, "why");
  EXPECT_EQ(client_.closed.size(), 1U);
}

TEST_F(StreamTest, FailureBeforeStartIsToldAfterIt) {
  pair_.server->start(server_);
  pair_.client->send("x");
  pair_.server.reset();
  loop_->after(milliseconds{20}, [&] {
    for (int i = 0; i < 3; ++i) pair_.client->send("x");
  });
  run_for(milliseconds{40});
  client_.closed_hook = [&] { loop_->stop(); };
  pair_.client->start(client_);
  EXPECT_TRUE(client_.closed.empty()) << "told within the call";
  run_bounded(*loop_);
  EXPECT_EQ(client_.closed.size(), 1U);
}

TEST_F(StreamTest, MayBeDestroyedWithItsOwnerInOnBytes) {
  struct Owner {
    std::unique_ptr<Stream> stream;
    Recorder events;
  };
  auto owner = std::make_unique<Owner>();
  owner->stream = std::move(pair_.server);
  owner->events.bytes_hook = [&](std::string_view bytes) {
    const std::string copy(bytes);
    owner.reset();
    EXPECT_EQ(bytes, copy) << "the bytes are valid during the whole call";
  };
  owner->stream->start(owner->events);
  client_.closed_hook = [&] { loop_->stop(); };
  pair_.client->start(client_);
  pair_.client->send("die");
  run_bounded(*loop_);
  EXPECT_EQ(owner, nullptr);
}

TEST_F(StreamTest, MayBeDestroyedInOnClosedAndOnDrained) {
  start();
  client_.closed_hook = [&] {
    pair_.client.reset();
    loop_->stop();
  };
  pair_.client->pause_reading();
  while (pair_.server->unsent() == 0) pair_.server->send(std::string(100'000, 'x'));
  server_.drained_hook = [&] { pair_.server.reset(); };
  pair_.client->resume_reading();
  run_bounded(*loop_);
  EXPECT_EQ(pair_.client, nullptr);
  EXPECT_EQ(pair_.server, nullptr);
}

TEST_F(StreamTest, NoEventAfterDestructionWithAReadReady) {
  start();
  run_for(milliseconds{5});  // the read is outstanding
  pair_.client->send("never seen");
  pair_.server.reset();  // its bytes are in the kernel already
  run_for(milliseconds{30});
  EXPECT_EQ(server_.got, "");
  EXPECT_TRUE(server_.closed.empty());
}

// Whether a read empties the socket decides what is waited for next.
TEST_F(StreamTest, AlternatingSizesArriveWhole) {
  std::string all;
  Rng rng(3);
  server_.bytes_hook = [&](std::string_view bytes) { pair_.server->send(bytes); };
  int round = 0;
  const auto next = [&] {
    const std::size_t big = rng.chance(1, 20) ? 150'000 : 100;
    const std::string piece = random_bytes(1 + rng.below(big), static_cast<std::uint64_t>(round));
    all += piece;
    pair_.client->send(piece);
  };
  client_.bytes_hook = [&](std::string_view) {
    if (client_.got.size() < all.size()) return;
    if (++round == 500) return loop_->stop();
    next();
  };
  start();
  next();
  run_bounded(*loop_);
  EXPECT_TRUE(client_.got == all);
}

}  // namespace
}  // namespace cleave::net
