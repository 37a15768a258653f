// Protocol rules 9 to 11 on real servers, with documents edited by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/data_path.h"
#include "proxy/data_path_testing.h"

namespace cleave::proxy {
namespace {

using Keys = std::vector<std::string>;

// Long enough that something which must not happen would have happened.
void a_while() { std::this_thread::sleep_for(milliseconds{60}); }

template <class T>
bool is_open(std::future<T>& answer) {
  return answer.wait_for(milliseconds{60}) != std::future_status::ready;
}

Limits patient() {
  Limits limits;
  limits.fence_hold_max = milliseconds{60'000};
  limits.request_timeout = milliseconds{5'000};
  return limits;
}

TEST(RouterMoves, CopyingForwardsToTheSourceAndNotesFinishedWrites) {
  DataPathWorld world({.workers = 2, .limits = patient()});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  client.ask({"SET", key, "before"});
  const MoveId move = world.begin_move(key, 1);
  const Epoch copying = world.phase_epoch(move);
  ASSERT_TRUE(world.await_copying(move, copying).get().has_value());

  EXPECT_EQ(client.ask({"SET", key, "after"}), "OK");
  EXPECT_EQ(client.ask({"GET", key}), "after");
  client.ask({"SET", world.key_of(0, 500), "elsewhere"});
  EXPECT_EQ(world.stored(0, key), "after");
  const auto batch = world.take(move, copying, 1).get();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->number, 1U);
  EXPECT_EQ(batch->keys, Keys{key});
  EXPECT_FALSE(batch->whole_range);
}

TEST(RouterMoves, WhileCopiesMayLieSomewhereTheLeaderCountsKeys) {
  DataPathWorld world({.limits = patient()});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  client.ask({"SET", key, "v"});
  world.counter.answer = 41;
  EXPECT_EQ(client.ask({"DBSIZE"}), "1") << "nothing moves";
  const MoveId move = world.begin_move(key, 1);
  world.await_copying(move, world.phase_epoch(move)).get();
  world.servers[1]->client().ask({"SET", key, "copy"});
  EXPECT_EQ(client.ask({"DBSIZE"}), "41");
  world.counter.answer = fail(Code::kUnavailable, "nobody leads");
  EXPECT_EQ(client.ask({"DBSIZE"}), "2") << "copies too, which is better than none";
}

// Its term ended while it was asked.
TEST(RouterMoves, ALeaderThatNeverAnswersKeepsNobodyWaiting) {
  Limits limits = patient();
  limits.request_timeout = milliseconds{200};
  DataPathWorld world({.limits = limits});
  world.counter.silent = true;
  const std::string key = world.key_of(0);
  const MoveId move = world.begin_move(key, 1);
  world.await_copying(move, world.phase_epoch(move)).get();
  RawClient client = world.client();
  client.ask({"SET", key, "v"});
  EXPECT_EQ(client.ask({"DBSIZE"}), "1");
  RawClient gone = world.client();
  gone.send(wire::command({"DBSIZE"}));
}

TEST(RouterMoves, ABatchIsKeptUntilTheNextIsAskedFor) {
  DataPathWorld world({.workers = 2, .limits = patient()});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  const MoveId move = world.begin_move(key, 1);
  const Epoch copying = world.phase_epoch(move);
  world.await_copying(move, copying).get();
  client.ask({"SET", key, "1"});
  EXPECT_EQ(world.take(move, copying, 1).get()->keys, Keys{key});
  EXPECT_EQ(world.take(move, copying, 1).get()->keys, Keys{key}) << "the answer may have been lost";
  EXPECT_TRUE(world.take(move, copying, 2).get()->keys.empty());
  client.ask({"INCR", key});
  EXPECT_EQ(world.take(move, copying, 3).get()->keys, Keys{key});
  EXPECT_EQ(world.take(move, copying, 3).get()->keys, Keys{key});
  EXPECT_EQ(world.take(move, copying, 1).get().error().code, Code::kConflict);
  EXPECT_EQ(world.take(move, copying, 5).get().error().code, Code::kConflict);
}

TEST(RouterMoves, QuestionsAboutAnotherPhaseEpochAreRefused) {
  DataPathWorld world({.limits = patient()});
  const MoveId move = world.begin_move(world.key_of(0), 1);
  const Epoch copying = world.phase_epoch(move);
  const Epoch other{copying.value() - 1};
  EXPECT_EQ(world.await_copying(move, other).get().error().code, Code::kConflict);
  EXPECT_EQ(world.take(move, other, 1).get().error().code, Code::kConflict);
  EXPECT_EQ(world.await_fenced(move, other).get().error().code, Code::kConflict);
  EXPECT_EQ(world.await_copying(MoveId{999}, copying).get().error().code, Code::kConflict);
  EXPECT_EQ(world.await_fenced(move, copying).get().error().code, Code::kConflict) << "not fenced";
}

TEST(RouterMoves, AQuestionAboutAPhaseToComeWaitsForIt) {
  DataPathWorld world({.limits = patient()});
  const std::string key = world.key_of(0);
  const Epoch next{world.document.epoch.value() + 1};
  auto answer = world.await_copying(MoveId{next.value()}, next);
  EXPECT_TRUE(is_open(answer));
  ASSERT_EQ(world.begin_move(key, 1), MoveId{next.value()});
  EXPECT_TRUE(answer.get().has_value());
}

TEST(RouterMoves, AFenceHoldsReadsAndWritesAndTheCommitSendsThemToTheDestination) {
  DataPathWorld world({.workers = 2, .limits = patient()});
  RawClient client = world.client();
  RawClient other = world.client();
  const std::string key = world.key_of(0);
  client.ask({"SET", key, "old"});
  const MoveId move = world.begin_move(key, 1);
  world.await_copying(move, world.phase_epoch(move)).get();
  world.fence(move);
  const Epoch fenced = world.phase_epoch(move);
  const auto ack = world.await_fenced(move, fenced).get();
  ASSERT_TRUE(ack.has_value());
  EXPECT_TRUE(ack->last.keys.empty());

  client.send(wire::command({"SET", key, "new"}) + wire::command({"GET", key}) +
              wire::command({"APPEND", key, "er"}));
  other.send(wire::command({"GET", key}));
  RawClient third = world.client();
  EXPECT_EQ(third.ask({"SET", world.key_of(0, 500), "free"}), "OK") << "only the range is held";
  ASSERT_TRUE(eventually([&] { return world.stats().held_now == 4; }));
  a_while();
  EXPECT_EQ(world.stored(0, key), "old");

  world.commit(move);
  EXPECT_EQ(RawClient::text(client.read()), "OK");
  EXPECT_EQ(RawClient::text(client.read()), "new");
  EXPECT_EQ(RawClient::text(client.read()), "5");
  const std::string seen = RawClient::text(other.read());
  EXPECT_TRUE(seen == "(nil)" || seen == "new" || seen == "newer") << seen;
  EXPECT_EQ(world.stored(0, key), "old") << "the source was left alone";
  EXPECT_EQ(world.stored(1, key), "newer");
  const RouterStats stats = world.stats();
  EXPECT_EQ(stats.held_now, 0U);
  EXPECT_EQ(stats.held_total, 4U);
  std::uint64_t counted = 0;
  for (const std::uint64_t step : stats.hold_ms_histogram) counted += step;
  EXPECT_EQ(counted, 4U);
  EXPECT_EQ(stats.hold_ms_histogram[0], 0U);
}

TEST(RouterMoves, AnAbortSendsHeldRequestsToTheSourceInOrder) {
  DataPathWorld world({.limits = patient()});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  const MoveId move = world.begin_move(key, 1);
  world.fence(move);
  std::string bytes;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(client.ask({"PING"}), "PONG");  // it may pipeline now
  for (int i = 0; i < 100; ++i) bytes += wire::command({"APPEND", key, std::to_string(i % 10)});
  client.send(bytes + wire::command({"PING"}));
  ASSERT_TRUE(eventually([&] { return world.stats().held_now == 100; }));
  world.abort(move);
  for (int i = 1; i <= 100; ++i) ASSERT_EQ(RawClient::text(client.read()), std::to_string(i));
  EXPECT_EQ(RawClient::text(client.read()), "PONG");
  std::string wanted;
  for (int i = 0; i < 100; ++i) wanted += std::to_string(i % 10);
  EXPECT_EQ(world.stored(0, key), wanted);
  EXPECT_EQ(world.stored(1, key), "(nil)");
}

TEST(RouterMoves, OnlyTheFencedFragmentOfAFanOutWaits) {
  DataPathWorld world({.limits = patient()});
  RawClient client = world.client();
  const std::string held = world.key_of(0);
  const std::string near = world.key_of(0, 500);
  const std::string far = world.key_of(2);
  const MoveId move = world.begin_move(held, 1);
  world.fence(move);
  client.send(wire::command({"MSET", near, "1", held, "2", far, "3"}));
  client.send(wire::command({"MGET", far, held, near, held}));
  ASSERT_TRUE(
      eventually([&] { return world.stored(0, near) == "1" && world.stored(2, far) == "3"; }));
  a_while();
  EXPECT_EQ(world.stored(0, held), "(nil)");
  EXPECT_EQ(world.stats().held_now, 3U);
  world.commit(move);
  EXPECT_EQ(RawClient::text(client.read()), "OK");
  EXPECT_EQ(RawClient::text(client.read()), "[3 2 1 2]");
  EXPECT_EQ(world.stored(1, held), "2");
}

TEST(RouterMoves, TheFenceWaitsForWhatIsUnderWayAndReportsItsKeys) {
  DataPathWorld world({.workers = 2, .limits = patient()});
  RawClient writer = world.client();
  RawClient reader = world.client();
  const std::string key = world.key_of(0);
  writer.ask({"SET", key, "v"});
  reader.ask({"GET", key});
  const MoveId move = world.begin_move(key, 1);
  world.await_copying(move, world.phase_epoch(move)).get();

  world.servers[0]->freeze();
  writer.send(wire::command({"SET", key, "w"}));
  reader.send(wire::command({"GET", key}));
  ASSERT_TRUE(eventually([&] { return world.stats().requests == 4; }));
  world.fence(move);
  auto answer = world.await_fenced(move, world.phase_epoch(move));
  EXPECT_TRUE(is_open(answer)) << "a write and a read are under way";
  world.servers[0]->thaw();
  const auto ack = answer.get();
  ASSERT_TRUE(ack.has_value());
  EXPECT_EQ(ack->last.keys, Keys{key});
  ASSERT_EQ(ack->incarnations.size(), 1U);
  const auto& [node, used] = *ack->incarnations.begin();
  EXPECT_EQ(node, NodeId{1});
  EXPECT_EQ(used.size(), 1U);
  EXPECT_EQ(used.front(), world.health().front().identity.incarnation);
}

// Rule 6: a timeout does not finish a command; the late reply does.
TEST(RouterMoves, ATimedOutWriteIsUnderWayUntilItsLateReply) {
  Limits limits = patient();
  limits.request_timeout = milliseconds{100};
  DataPathWorld world({.limits = limits});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  client.ask({"SET", key, "v"});
  const MoveId move = world.begin_move(key, 1);
  const Epoch copying = world.phase_epoch(move);
  world.await_copying(move, copying).get();
  world.servers[0]->freeze();
  EXPECT_TRUE(client.ask({"SET", key, "late"})
                  .starts_with("-ERR cleave: the outcome of this write is unknown: node a"));
  EXPECT_TRUE(world.take(move, copying, 1).get()->keys.empty()) << "it is not finished";
  world.fence(move);
  auto answer = world.await_fenced(move, world.phase_epoch(move));
  EXPECT_TRUE(is_open(answer));
  world.servers[0]->thaw();
  const auto ack = answer.get();
  ASSERT_TRUE(ack.has_value());
  EXPECT_EQ(ack->last.keys, Keys{key});
  EXPECT_EQ(ack->last.number, 2U);
  EXPECT_EQ(world.stored(0, key), "late");
}

// Rule 6: what was lost with a connection is finished by its kill, and its keys are noted then.
TEST(RouterMoves, AWriteLostWithItsConnectionIsUnderWayUntilTheKill) {
  Limits limits = patient();
  limits.request_timeout = milliseconds{100};
  limits.pipe_stuck_max = milliseconds{300};
  DataPathWorld world({.limits = limits});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  client.ask({"SET", key, "v"});
  const MoveId move = world.begin_move(key, 1);
  world.await_copying(move, world.phase_epoch(move)).get();
  world.servers[0]->freeze();
  client.ask({"SET", key, "lost"});
  std::this_thread::sleep_for(milliseconds{500});  // the pipe has given the connection up
  world.fence(move);
  auto answer = world.await_fenced(move, world.phase_epoch(move));
  EXPECT_TRUE(is_open(answer));
  world.servers[0]->thaw();
  const auto ack = answer.get();
  ASSERT_TRUE(ack.has_value());
  EXPECT_EQ(ack->last.keys, Keys{key});
}

TEST(RouterMoves, ARestartedSourceIsAnotherIncarnation) {
  DataPathWorld world({.limits = patient()});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  const MoveId move = world.begin_move(key, 1);
  world.await_copying(move, world.phase_epoch(move)).get();
  client.ask({"SET", key, "1"});
  world.servers[0]->kill();
  world.servers[0]->start();
  ASSERT_TRUE(eventually([&] { return client.ask({"SET", key, "2"}) == "OK"; }));
  world.fence(move);
  const auto ack = world.await_fenced(move, world.phase_epoch(move)).get();
  ASSERT_TRUE(ack.has_value());
  EXPECT_EQ(ack->incarnations.at(NodeId{1}).size(), 2U);
}

TEST(RouterMoves, ADirtySetBelongsToItsMoveOnly) {
  DataPathWorld world({.limits = patient()});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  const MoveId first = world.begin_move(key, 1);
  world.await_copying(first, world.phase_epoch(first)).get();
  client.ask({"SET", key, "1"});
  world.abort(first);
  client.ask({"SET", key, "2"});
  const MoveId second = world.begin_move(key, 2);
  const Epoch copying = world.phase_epoch(second);
  world.await_copying(second, copying).get();
  EXPECT_TRUE(world.take(second, copying, 1).get()->keys.empty());
  EXPECT_EQ(world.take(first, copying, 1).get().error().code, Code::kConflict);
}

TEST(RouterMoves, FlushallMarksTheWholeRange) {
  DataPathWorld world({.limits = patient()});
  RawClient client = world.client();
  const MoveId move = world.begin_move(world.key_of(0), 1);
  const Epoch copying = world.phase_epoch(move);
  world.await_copying(move, copying).get();
  EXPECT_EQ(client.ask({"FLUSHALL"}), "OK");
  EXPECT_TRUE(world.take(move, copying, 1).get()->whole_range);
}

TEST(RouterMoves, FlushallWaitsForAFence) {
  DataPathWorld world({.limits = patient()});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  client.ask({"SET", key, "v"});
  const MoveId move = world.begin_move(key, 1);
  world.fence(move);
  client.send(wire::command({"FLUSHALL"}));
  ASSERT_TRUE(eventually([&] { return world.stats().held_now == 1; }));
  EXPECT_EQ(world.stored(0, key), "v");
  world.abort(move);
  EXPECT_EQ(RawClient::text(client.read()), "OK");
  EXPECT_EQ(world.stored(0, key), "(nil)");
}

TEST(RouterMoves, TooManyHeldRequestsAreRefusedAndTheFenceStays) {
  Limits limits = patient();
  limits.held_requests_max = 3;
  DataPathWorld world({.limits = limits});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  const MoveId move = world.begin_move(key, 1);
  world.fence(move);
  for (int i = 0; i < 5; ++i) client.send(wire::command({"INCR", key}));
  ASSERT_TRUE(eventually([&] { return world.stats().errors == 2; }));
  world.commit(move);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(RawClient::text(client.read()), std::to_string(i));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(RawClient::text(client.read()),
              "-ERR cleave: too many requests wait for a moving range");
  }
  EXPECT_EQ(world.stored(0, key), "(nil)");
}

TEST(RouterMoves, AFenceHeldTooLongIsReportedAndHeldOn) {
  Limits limits = patient();
  limits.fence_hold_max = milliseconds{50};
  DataPathWorld world({.limits = limits});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  const MoveId move = world.begin_move(key, 1);
  world.fence(move);
  const Epoch fenced = world.phase_epoch(move);
  client.send(wire::command({"SET", key, "v"}));
  ASSERT_TRUE(eventually([&] { return world.keeper.asked().size() >= 2; }));
  EXPECT_EQ(world.keeper.asked().front(), (std::pair{move, fenced}));
  EXPECT_EQ(world.stored(0, key), "(nil)") << "never by its own decision";
  world.abort(move);
  EXPECT_EQ(RawClient::text(client.read()), "OK");
  const std::size_t asked = world.keeper.asked().size();
  a_while();
  EXPECT_LE(world.keeper.asked().size(), asked + 1);
}

TEST(RouterMoves, AHeldRequestEndsAtItsTimeoutWithoutBeingExecuted) {
  Limits limits = patient();
  limits.request_timeout = milliseconds{100};
  DataPathWorld world({.limits = limits});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  const MoveId move = world.begin_move(key, 1);
  world.fence(move);
  EXPECT_TRUE(client.ask({"SET", key, "v"}).starts_with("-ERR cleave: not executed:"));
  world.abort(move);
  EXPECT_EQ(client.ask({"GET", key}), "(nil)");
}

TEST(RouterMoves, AnEndedMoveEndsItsQuestions) {
  Limits limits = patient();
  DataPathWorld world({.limits = limits});
  RawClient client = world.client();
  const std::string key = world.key_of(0);
  client.ask({"SET", key, "v"});
  const MoveId move = world.begin_move(key, 1);
  world.servers[0]->freeze();
  client.send(wire::command({"SET", key, "w"}));
  ASSERT_TRUE(eventually([&] { return world.stats().requests == 2; }));
  world.fence(move);
  auto answer = world.await_fenced(move, world.phase_epoch(move));
  EXPECT_TRUE(is_open(answer));
  world.abort(move);
  EXPECT_EQ(answer.get().error().code, Code::kConflict);
  world.servers[0]->thaw();
}

// Clients write while the range goes round and round between two servers; the test copies the key
// as a driver would: after the fence's acknowledgement.
TEST(RouterMoves, NoWriteIsLostWhileARangeGoesRound) {
  DataPathWorld world({.workers = 2, .limits = patient()});
  const std::string key = world.key_of(0);
  ASSERT_EQ(world.client().ask({"SET", key, "0"}), "OK");
  std::atomic<bool> end{false};
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&] {
      RawClient client = world.client();
      while (!end) {
        const wire::Reply reply = client.call({"INCR", key});
        if (reply.type == wire::Reply::Type::kInteger) ++written;
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    const std::size_t from = world.owner(key);
    const std::size_t to = (from + 1) % world.servers.size();
    const MoveId move = world.begin_move(key, to);
    ASSERT_TRUE(world.await_copying(move, world.phase_epoch(move)).get().has_value());
    const int before = written;
    ASSERT_TRUE(eventually([&] { return written > before + 20; }));
    world.fence(move);
    ASSERT_TRUE(world.await_fenced(move, world.phase_epoch(move)).get().has_value());
    world.servers[to]->client().ask({"SET", key, world.stored(from, key)});
    world.commit(move);
    world.servers[from]->client().ask({"DEL", key});
    world.clean();
  }
  end = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(written, 400);
  EXPECT_EQ(world.client().ask({"GET", key}), std::to_string(written));
}

}  // namespace
}  // namespace cleave::proxy
