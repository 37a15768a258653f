// Pipe against real servers, and against a scripted one where a real one would not do what is
// needed.
#include "backend/pipe.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/call.h"
#include "backend/redis_testing.h"

namespace cleave::backend {
namespace {

class TestGate final : public Gate {
 public:
  explicit TestGate(net::Loop& loop) : loop_(loop) {}
  const SessionId& session() const override { return session_; }
  void confirm(std::function<void(Result<void>)> done) override {
    ++asked;
    if (silent) return;
    loop_.post([done = std::move(done), answer = verdict] { done(answer); });
  }

  int asked = 0;
  bool silent = false;
  Result<void> verdict{};

 private:
  net::Loop& loop_;
  SessionId session_{"test1"};
};

// Writes down what it is told.
struct Sink final : ReplySink {
  std::string reply;
  std::string failure;
  Outcome outcome = Outcome::kNotSent;
  int replies = 0;
  int failures = 0;
  int finished = 0;
  int dropped = 0;
  std::function<void()> hook = [] {};

  bool told() const { return replies + failures > 0; }
  void on_reply(std::string_view raw) override {
    reply = raw;
    ++replies;
    hook();
  }
  void on_failed(const Error& why, Outcome what) override {
    failure = why.message;
    outcome = what;
    ++failures;
    hook();
  }
  void on_finished() override { ++finished; }
  void on_dropped() override { ++dropped; }
};

Limits quick() {
  Limits limits;
  limits.request_timeout = milliseconds{120};
  limits.pipe_stuck_max = milliseconds{500};
  limits.connect_timeout = milliseconds{200};
  return limits;
}

class PipeTest : public testing::Test {
 protected:
  void open(std::uint16_t port, Limits limits = quick()) {
    pipe = std::make_unique<Pipe>(*loop, gate, Rng(1),
                                  Pipe::Options{.address = {.host = "127.0.0.1", .port = port},
                                                .credentials = credentials,
                                                .limits = limits,
                                                .on_state = [this](bool usable) {
                                                  if (on_state) on_state(usable);
                                                }});
  }
  void run(const std::function<bool()>& done) { run_until(*loop, done); }
  void run_for(milliseconds time) {
    const Instant end = loop->now() + time;
    run([&] { return loop->now() >= end; });
  }
  void send(std::initializer_list<std::string_view> args, Sink& sink) {
    pipe->send(wire::command(args), sink);
  }

  std::unique_ptr<net::AsioLoop> loop = net::make_loop();
  TestGate gate{*loop};
  Credentials credentials;
  std::function<void(bool)> on_state;
  std::unique_ptr<Pipe> pipe;
};

TEST_F(PipeTest, AnswersInOrderAndLearnsTheIdentity) {
  RedisServer redis;
  open(redis.port());
  std::vector<Sink> sinks(1'000);
  for (std::size_t i = 0; i < sinks.size(); ++i) send({"ECHO", std::to_string(i)}, sinks[i]);
  for (const Sink& sink : sinks) EXPECT_FALSE(sink.told());
  run([&] { return sinks.back().told(); });
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    const std::string digits = std::to_string(i);
    EXPECT_EQ(sinks[i].reply, "$" + std::to_string(digits.size()) + "\r\n" + digits + "\r\n");
  }
  EXPECT_EQ(pipe->unfinished(), 0U);
  ASSERT_NE(pipe->identity(), nullptr);
  EXPECT_TRUE(pipe->identity()->primary);
  EXPECT_EQ(pipe->identity()->incarnation.run_id.size(), 40U);
  EXPECT_EQ(gate.asked, 1);
  RawClient client = redis.client();
  EXPECT_NE(client.ask({"CLIENT", "LIST"}).find("name=cleave:test1 "), std::string::npos);
}

TEST_F(PipeTest, OfSeveralRepliesTheSinkSeesTheLast) {
  RedisServer redis;
  open(redis.port());
  Sink sink;
  Sink after;
  pipe->send(wire::command({"MULTI"}) + wire::command({"INCR", "n"}) + wire::command({"EXEC"}),
             sink, 3);
  send({"PING"}, after);
  run([&] { return after.told(); });
  EXPECT_EQ(sink.reply, "*1\r\n:1\r\n");
  EXPECT_EQ(sink.replies, 1);
  EXPECT_EQ(after.reply, "+PONG\r\n");
}

TEST_F(PipeTest, ALargeReplyInPiecesIsOneReply) {
  RedisServer redis;
  open(redis.port());
  const std::string value(3'000'000, 'x');
  Sink set;
  Sink get;
  Sink ping;
  send({"SET", "k", value}, set);
  send({"GET", "k"}, get);
  send({"PING"}, ping);
  run([&] { return ping.told(); });
  EXPECT_EQ(set.reply, "+OK\r\n");
  EXPECT_EQ(get.reply, "$3000000\r\n" + value + "\r\n");
  EXPECT_EQ(ping.reply, "+PONG\r\n");
}

// A server that sends a byte now and then is slow, not silent.
TEST_F(PipeTest, ALargeReplyOnItsWayIsNotOverdue) {
  std::unique_ptr<net::Stream> stream;
  struct Script final : net::StreamEvents {
    void on_bytes(std::string_view bytes) override { got += bytes; }
    void on_closed(const Error&) override {}
    std::string got;
  } script;
  auto listener = loop->listen({.host = "127.0.0.1", .port = 0},
                               {.choose = [&]() -> net::Loop& { return *loop; },
                                .accepted =
                                    [&](net::Loop&, std::unique_ptr<net::Stream> accepted) {
                                      stream = std::move(accepted);
                                      stream->start(script);
                                    }});
  open((*listener)->address().port);
  run([&] { return script.got.find("replication") != std::string::npos; });
  stream->send("+OK\r\n:7\r\n$8\r\nrun_id:x\r\n$15\r\nmaster_replid:y\r\n");
  run([&] { return pipe->usable(); });
  Sink slow;
  send({"GET", "big"}, slow);
  stream->send("$6\r\n");
  for (const char* piece : {"a", "b", "c", "d", "e", "f"}) {
    run_for(milliseconds{60});
    EXPECT_FALSE(slow.told());
    stream->send(piece);
  }
  stream->send("\r\n");
  run([&] { return slow.told(); });
  EXPECT_EQ(slow.reply, "$6\r\nabcdef\r\n");
  EXPECT_EQ(pipe->stats().timeouts, 0U);
  pipe.reset();
  stream.reset();
  listener->reset();
}

TEST_F(PipeTest, Authenticates) {
  RedisServer redis({"--requirepass", "secret"});
  credentials.password = "secret";
  open(redis.port());
  Sink sink;
  send({"PING"}, sink);
  run([&] { return sink.told(); });
  EXPECT_EQ(sink.reply, "+PONG\r\n");
}

TEST_F(PipeTest, AWrongPasswordIsSaidToWhoeverAsks) {
  RedisServer redis({"--requirepass", "secret"});
  credentials.password = "wrong";
  open(redis.port());
  Sink sink;
  send({"PING"}, sink);
  run([&] { return sink.told(); });
  EXPECT_EQ(sink.outcome, Outcome::kNotSent);
  EXPECT_NE(sink.failure.find("AUTH was refused: WRONGPASS"), std::string::npos) << sink.failure;
}

TEST_F(PipeTest, FailsFastWhileNobodyListensAndRecoversByItself) {
  RedisServer redis;
  redis.kill();
  open(redis.port());
  Sink first;
  send({"PING"}, first);
  run([&] { return first.told(); });
  EXPECT_EQ(first.outcome, Outcome::kNotSent);
  EXPECT_NE(first.failure.find("refused"), std::string::npos) << first.failure;
  const Instant before = loop->now();
  Sink second;
  send({"PING"}, second);
  EXPECT_FALSE(second.told());
  run([&] { return second.told(); });
  EXPECT_LT(loop->now() - before, milliseconds{50});
  EXPECT_EQ(pipe->unfinished(), 0U);

  redis.start();
  run([&] { return pipe->usable(); });
  Sink third;
  send({"PING"}, third);
  run([&] { return third.told(); });
  EXPECT_EQ(third.reply, "+PONG\r\n");
}

TEST_F(PipeTest, ATimeoutIsOneRequestsOwnAndItsLateReplyGoesToNobody) {
  RedisServer redis;
  open(redis.port());
  Sink set;
  send({"SET", "k2", "right"}, set);
  run([&] { return set.told(); });

  redis.freeze();
  Sink late;
  send({"ECHO", "late"}, late);
  run([&] { return late.told(); });
  EXPECT_EQ(late.outcome, Outcome::kUnknown);
  EXPECT_EQ(late.finished, 0);
  EXPECT_EQ(pipe->unfinished(), 1U);
  EXPECT_FALSE(pipe->responsive());
  Sink next;
  send({"GET", "k2"}, next);
  redis.thaw();
  run([&] { return next.told(); });
  EXPECT_EQ(next.reply, "$5\r\nright\r\n");
  EXPECT_EQ(late.replies, 0);
  EXPECT_EQ(late.finished, 1);
  EXPECT_EQ(pipe->unfinished(), 0U);
  EXPECT_EQ(pipe->stats().reconnects, 1U);
  EXPECT_EQ(pipe->stats().timeouts, 1U);
}

TEST_F(PipeTest, AStuckConnectionIsKilledAtTheServerBeforeItsCommandsAreFinished) {
  RedisServer redis;
  open(redis.port());
  run([&] { return pipe->usable(); });
  const std::uint64_t old_id = pipe->identity()->connection_id;
  redis.freeze();
  Sink write;
  Sink other;
  send({"SET", "k", "v"}, write);
  run_for(milliseconds{450});
  send({"SET", "k", "w"}, other);
  run([&] { return other.told(); });  // the head is older than pipe_stuck_max
  EXPECT_EQ(write.outcome, Outcome::kUnknown);
  EXPECT_EQ(other.outcome, Outcome::kUnknown);
  EXPECT_EQ(write.finished + other.finished, 0);
  EXPECT_EQ(pipe->unfinished(), 2U);
  run_for(milliseconds{300});
  EXPECT_EQ(write.finished + other.finished, 0) << "nobody has answered a kill yet";

  redis.thaw();
  run([&] { return write.finished + other.finished == 2; });
  run([&] { return pipe->usable(); });
  EXPECT_EQ(pipe->unfinished(), 0U);
  RawClient client = redis.client();
  EXPECT_EQ(client.ask({"CLIENT", "LIST"}).find("id=" + std::to_string(old_id) + " "),
            std::string::npos);
}

TEST_F(PipeTest, ARestartedServerFinishesWhatWasLostWithTheOldProcess) {
  RedisServer redis;
  open(redis.port());
  run([&] { return pipe->usable(); });
  const Incarnation before = pipe->identity()->incarnation;
  redis.freeze();
  Sink lost;
  send({"SET", "k", "v"}, lost);
  run_for(milliseconds{30});
  redis.kill();
  run([&] { return lost.told(); });
  EXPECT_EQ(lost.outcome, Outcome::kUnknown);
  run_for(milliseconds{100});
  EXPECT_EQ(lost.finished, 0);
  redis.start();
  run([&] { return pipe->usable(); });
  EXPECT_EQ(lost.finished, 1);
  EXPECT_NE(pipe->identity()->incarnation, before);
}

TEST_F(PipeTest, WithoutPermissionToKillLostCommandsStayUnfinished) {
  RedisServer redis;
  RawClient admin = redis.client();
  ASSERT_EQ(admin.ask({"ACL", "SETUSER", "p", "on", ">p", "~*", "+@all", "-client|kill"}), "OK");
  credentials = {.user = "p", .password = "p"};
  open(redis.port());
  run([&] { return pipe->usable(); });
  const std::string id = std::to_string(pipe->identity()->connection_id);
  Sink lost;
  send({"BLPOP", "nothing", "0"}, lost);
  run_for(milliseconds{30});
  ASSERT_EQ(admin.ask({"CLIENT", "KILL", "ID", id}), "1");
  run([&] { return lost.told(); });
  run([&] { return pipe->usable(); });
  run_for(milliseconds{50});
  EXPECT_EQ(lost.finished, 0);
  EXPECT_EQ(pipe->unfinished(), 1U);
  pipe.reset();
  EXPECT_EQ(lost.dropped, 1);
}

TEST_F(PipeTest, TheFirstCommandAfterAnIdleConnectionWasClosedSucceeds) {
  RedisServer redis;
  open(redis.port());
  run([&] { return pipe->usable(); });
  RawClient admin = redis.client();
  admin.ask({"CLIENT", "KILL", "ID", std::to_string(pipe->identity()->connection_id)});
  Sink sink;
  on_state = [&](bool usable) {
    if (!usable) send({"SET", "k", "v"}, sink);
  };
  run([&] { return sink.told(); });
  EXPECT_EQ(sink.reply, "+OK\r\n");
}

TEST_F(PipeTest, NothingIsSentBeforeTheGateHasSpoken) {
  RedisServer redis;
  gate.silent = true;
  open(redis.port());
  Sink sink;
  send({"SET", "k", "v"}, sink);
  run([&] { return sink.told(); });
  EXPECT_EQ(sink.outcome, Outcome::kNotSent);
  EXPECT_EQ(gate.asked, 1);
  EXPECT_EQ(redis.client().ask({"EXISTS", "k"}), "0");
}

TEST_F(PipeTest, ARemovedSessionNeverSendsAgain) {
  RedisServer redis;
  gate.verdict = fail(Code::kConflict, "session test1 was removed");
  open(redis.port());
  Sink sink;
  send({"SET", "k", "v"}, sink);
  run([&] { return sink.told(); });
  EXPECT_NE(sink.failure.find("was removed"), std::string::npos);
  gate.verdict = {};
  Sink later;
  send({"SET", "k", "v"}, later);
  run([&] { return later.told(); });
  pipe->reset(Error{Code::kUnavailable, "try"});
  run_for(milliseconds{200});
  EXPECT_FALSE(pipe->usable());
  EXPECT_EQ(gate.asked, 1);
  EXPECT_EQ(redis.client().ask({"EXISTS", "k"}), "0");
}

TEST_F(PipeTest, AnUnavailableCoordinatorIsAskedAgainOnTheSameConnection) {
  RedisServer redis;
  Limits limits = quick();
  limits.reconnect_max = milliseconds{50};
  gate.verdict = fail(Code::kUnavailable, "no quorum");
  open(redis.port(), limits);
  Sink sink;
  send({"PING"}, sink);
  run([&] { return sink.told(); });
  EXPECT_NE(sink.failure.find("no quorum"), std::string::npos) << sink.failure;
  gate.verdict = {};
  run([&] { return pipe->usable(); });
  EXPECT_GE(gate.asked, 2);
  EXPECT_EQ(pipe->stats().reconnects, 1U);
}

TEST_F(PipeTest, MayBeDestroyedInsideACallback) {
  RedisServer redis;
  open(redis.port());
  Sink first;
  Sink second;
  first.hook = [&] { pipe.reset(); };
  send({"PING"}, first);
  send({"PING"}, second);
  run([&] { return first.told(); });
  run_for(milliseconds{20});
  EXPECT_FALSE(second.told());
  EXPECT_EQ(second.dropped, 1);
}

TEST_F(PipeTest, MayBeResetInsideACallback) {
  RedisServer redis;
  open(redis.port());
  Sink first;
  Sink second;
  first.hook = [&] { pipe->reset(Error{Code::kUnavailable, "ordered"}); };
  send({"PING"}, first);
  send({"PING"}, second);
  run([&] { return second.told() && second.finished == 1; });
  EXPECT_EQ(second.failure, "ordered");
  run([&] { return pipe->usable(); });
}

TEST_F(PipeTest, TooMuchWaitingIsRefused) {
  RedisServer redis;
  Limits limits = quick();
  limits.pipe_pending_max = 2;
  open(redis.port(), limits);
  std::vector<Sink> sinks(3);
  for (Sink& sink : sinks) send({"PING"}, sink);
  run([&] { return sinks[0].told() && sinks[1].told() && sinks[2].told(); });
  EXPECT_EQ(sinks[1].reply, "+PONG\r\n");
  EXPECT_EQ(sinks[2].outcome, Outcome::kNotSent);
}

TEST_F(PipeTest, CallGivesTheReplyAsATree) {
  RedisServer redis;
  open(redis.port());
  std::string text;
  bool finished = false;
  call(
      *pipe, wire::command({"ECHO", "hi"}),
      [&](const Result<wire::Reply>& reply) { text = reply->text; }, [&] { finished = true; });
  run([&] { return finished; });
  EXPECT_EQ(text, "hi");
}

}  // namespace
}  // namespace cleave::backend
