// The conformance suite of coord::Register: every implementation runs the tests of
// register_conformance_test.cc by instantiating them with a way to make its world.
//
//   INSTANTIATE_TEST_SUITE_P(Memory, RegisterConformance, ::testing::Values(&make_memory_world));
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "coord/register.h"
#include "net/asio_loop.h"

namespace cleave::coord {

// One shared store, to which registers on any loop can be attached. A new one for each test.
class RegisterWorld {
 public:
  virtual ~RegisterWorld() = default;
  virtual std::unique_ptr<Register> attach(net::Loop& loop) = 0;
  // A ttl that it keeps to, give or take a half.
  virtual milliseconds lease_ttl() const { return milliseconds{300}; }
};

using MakeRegisterWorld = std::unique_ptr<RegisterWorld> (*)();

// Runs the loop until it is stopped or, as a failure, for twenty seconds.
inline void run_bounded(net::AsioLoop& loop) {
  const net::TimerId watchdog = loop.after(seconds{20}, [&] {
    ADD_FAILURE() << "the test did not finish in time";
    loop.stop();
  });
  loop.run();
  loop.cancel(watchdog);
}

// What the suites share: calls that wait for their answer.
class RegisterCalls {
 protected:
  template <class T>
  using Done = Register::Done<T>;

  // Runs the loop until the call is answered. The answer must not come within the call.
  template <class T>
  Result<T> wait(const std::function<void(Done<T>)>& call) {
    std::optional<Result<T>> answer;
    bool within = true;
    call([&](Result<T> result) {
      EXPECT_FALSE(within) << "answered within the call";
      EXPECT_FALSE(answer.has_value()) << "answered twice";
      answer = std::move(result);
      loop_->stop();
    });
    within = false;
    run_bounded(*loop_);
    if (!answer) return fail(Code::kTimeout, "the test's loop ended first");
    return *answer;
  }

  // Asks again and again until it is so; a failure after `most`.
  bool eventually(const std::function<bool()>& so, seconds most = seconds{15}) {
    const Instant end = loop_->now() + most;
    while (!so()) {
      if (loop_->now() > end) return false;
      run_for(milliseconds{20});
    }
    return true;
  }

  void run_for(milliseconds time) {
    loop_->after(time, [this] { loop_->stop(); });
    run_bounded(*loop_);
  }

  Result<Stored> read(Register& at) {
    return wait<Stored>([&](Done<Stored> done) { at.read(std::move(done)); });
  }
  Result<Epoch> write(Register& at, std::uint64_t expected, const std::string& text) {
    return wait<Epoch>(
        [&](Done<Epoch> done) { at.compare_and_set(Epoch{expected}, text, std::move(done)); });
  }
  Result<void> keep_alive(Register& at, const std::string& session, milliseconds ttl) {
    return wait<void>(
        [&](Done<void> done) { at.keep_alive(SessionId{session}, ttl, std::move(done)); });
  }
  Result<void> end_lease(Register& at, const std::string& session) {
    return wait<void>([&](Done<void> done) { at.end_lease(SessionId{session}, std::move(done)); });
  }
  std::vector<std::string> alive(Register& at) {
    const auto sessions = wait<std::vector<SessionId>>(
        [&](Done<std::vector<SessionId>> done) { at.alive(std::move(done)); });
    EXPECT_TRUE(sessions) << sessions.error().message;
    std::vector<std::string> names;
    if (sessions)
      for (const SessionId& session : *sessions) names.push_back(session.value());
    return names;
  }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
};

class RegisterConformance : public ::testing::TestWithParam<MakeRegisterWorld>,
                            protected RegisterCalls {
 protected:
  // A world that could not be made has said why.
  void SetUp() override {
    if (HasFailure()) FAIL() << "there is no world to test in";
  }

  std::unique_ptr<RegisterWorld> world_ = GetParam()();
};

}  // namespace cleave::coord
