#include "net/asio_loop.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "base/check.h"
#include "net/asio_core.h"

namespace cleave::net {

namespace asio = boost::asio;

namespace {

// "Never", without overflow when it is added to the present.
constexpr nanoseconds kDelayMax = std::chrono::years{10};

int make_epoll() {
  const int fd = ::epoll_create1(EPOLL_CLOEXEC);
  CHECK(fd >= 0);  // out of descriptors at the very start
  return fd;
}

}  // namespace

struct LoopCore::Engine {
  // UNSAFE_IO: one thread runs the loop and touches its sockets, so the reactor needs no locks; the
  // queue of handlers keeps its lock, for `post` and `stop` from other threads.
  asio::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  asio::executor_work_guard<asio::io_context::executor_type> guard = asio::make_work_guard(context);
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>,
                             asio::io_context::executor_type>
      timer{context};
  // The Poller's epoll set; epoll sets nest.
  asio::posix::basic_stream_descriptor<asio::io_context::executor_type> streams{context,
                                                                                make_epoll()};
};

std::unique_ptr<AsioLoop> make_loop() { return std::make_unique<LoopCore>(); }

LoopCore::LoopCore() : engine_(std::make_unique<Engine>()) {
  poller_ = std::make_unique<Poller>(engine_->streams.native_handle());
  await_ready();
}

LoopCore::~LoopCore() {
  // Out of the members first: what dies with a callback may call `cancel` or `forget_turn_end`.
  const TimerHeap timers = std::exchange(timers_, TimerHeap{});
  const std::vector<Callback> posted = std::exchange(posted_, {});
}

asio::io_context& LoopCore::context() { return engine_->context; }

void LoopCore::run() {
  engine_->context.run();
  // After the run and not before it, so that a `stop` that came first is not forgotten.
  engine_->context.restart();
}

void LoopCore::stop() { engine_->context.stop(); }

void LoopCore::await_ready() {
  engine_->streams.async_wait(asio::posix::descriptor_base::wait_read,
                              [this](const boost::system::error_code& failed) {
                                if (failed) return;
                                turn();
                                await_ready();
                              });
}

void LoopCore::turn() {
  in_turn_ = true;
  poller_->dispatch();
  run_turn_ends();
  in_turn_ = false;
  // Asked for within a turn end.
  if (!turn_ends_.empty()) asio::post(engine_->context, [this] { run_turn_ends(); });
  if (poller_->has_visits()) asio::post(engine_->context, [this] { turn(); });
}

void LoopCore::visit_again(Pollable& pollable) {
  const bool first = !poller_->has_visits();
  poller_->visit_again(pollable);
  if (first && !in_turn_) asio::post(engine_->context, [this] { turn(); });
}

void LoopCore::post(Callback callback) {
  bool first = false;
  {
    const std::lock_guard lock(posted_mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(callback));
  }
  if (first) asio::post(engine_->context, [this] { drain_posted(); });
}

void LoopCore::drain_posted() {
  {
    const std::lock_guard lock(posted_mutex_);
    running_posted_.swap(posted_);
  }
  for (Callback& callback : running_posted_) {
    std::exchange(callback, nullptr)();
  }
  running_posted_.clear();
}

void LoopCore::at_turn_end(TurnEnd& turn_end) {
  if (!turn_end_set_.insert(&turn_end).second) return;
  turn_ends_.push_back(&turn_end);
  // Outside a turn (a timer, a posted callback): behind the handlers that are ready now.
  if (turn_ends_.size() == 1 && !in_turn_)
    asio::post(engine_->context, [this] { run_turn_ends(); });
}

void LoopCore::run_turn_ends() {
  running_turn_ends_.swap(turn_ends_);
  for (TurnEnd*& turn_end : running_turn_ends_) {
    if (turn_end == nullptr) continue;
    TurnEnd& due = *std::exchange(turn_end, nullptr);
    turn_end_set_.erase(&due);
    due.on_turn_end();
  }
  running_turn_ends_.clear();
}

void LoopCore::forget_turn_end(TurnEnd& turn_end) {
  if (turn_end_set_.erase(&turn_end) == 0) return;
  std::ranges::replace(turn_ends_, &turn_end, nullptr);
  std::ranges::replace(running_turn_ends_, &turn_end, nullptr);
}

TimerId LoopCore::after(nanoseconds delay, Callback callback) {
  const Instant when = now() + std::clamp<nanoseconds>(delay, nanoseconds{0}, kDelayMax);
  const TimerId timer = timers_.add(when, std::move(callback));
  arm_timer();
  return timer;
}

// The Asio timer stays armed: waking once for nothing is cheaper than setting it at each cancel.
void LoopCore::cancel(TimerId timer) { timers_.cancel(timer); }

void LoopCore::arm_timer() {
  const std::optional<Instant> next = timers_.next();
  if (!next || (armed_ && *armed_ <= *next)) return;
  armed_ = next;
  const auto when = std::chrono::duration_cast<std::chrono::steady_clock::duration>(*next);
  engine_->timer.expires_at(std::chrono::steady_clock::time_point(when));
  engine_->timer.async_wait([this](const boost::system::error_code& failed) {
    if (failed) return;  // armed anew for an earlier timer
    armed_.reset();
    run_timers();
  });
}

void LoopCore::run_timers() {
  // Timers that a callback adds wait for the next round, so that one that re-arms itself with zero
  // delay cannot keep the loop from its sockets.
  const Instant started = now();
  const TimerId newer = timers_.upcoming();
  while (std::optional<Callback> callback = timers_.take_due(started, newer)) (*callback)();
  arm_timer();
}

}  // namespace cleave::net
