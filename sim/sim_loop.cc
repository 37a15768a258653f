#include "sim/sim_loop.h"

#include <algorithm>
#include <utility>

#include "sim/sim_stream.h"

namespace cleave::sim {
namespace {

constexpr nanoseconds kPostMax = microseconds{5};
constexpr nanoseconds kTurnMax = microseconds{30};

}  // namespace

SimLoop::SimLoop(Network& network, Process& process)
    : network_(network),
      process_(process),
      scheduler_(process.scheduler()),
      life_(process.life()),
      number_(network.next_number_++),
      rng_(scheduler_.fork(number_ << 8U)) {}

SimLoop::~SimLoop() { abandon(); }

void SimLoop::abandon() {
  // What is destroyed here may call this loop once more.
  const std::deque<Callback> posted = std::exchange(posted_, {});
  const std::map<std::uint64_t, Callback> timers = std::exchange(timers_, {});
}

void SimLoop::run_at(Instant when, Callback callback) {
  if (dead()) return;
  process_.run_at(when, [exists = std::weak_ptr(exists_), todo = std::move(callback)] {
    if (!exists.expired()) todo();
  });
}

void SimLoop::post(Callback callback) {
  if (dead()) return;
  posted_.push_back(std::move(callback));
  const auto delay = nanoseconds(rng_.below(static_cast<std::uint64_t>(kPostMax.count())));
  run_at(scheduler_.now() + delay, [this] { run_posted(); });
}

void SimLoop::run_posted() {
  // Each event takes the oldest callback, so posting order holds whatever the delays.
  Callback callback = std::move(posted_.front());
  posted_.pop_front();
  scheduler_.note(EventKind::kPosted, number_, {});
  callback();
}

void SimLoop::at_turn_end(net::TurnEnd& turn_end) {
  if (dead()) return;
  if (std::find(turn_ends_.begin(), turn_ends_.end(), &turn_end) != turn_ends_.end()) return;
  turn_ends_.push_back(&turn_end);
  if (turn_end_scheduled_) return;
  turn_end_scheduled_ = true;
  const bool alone = rng_.chance(1, 2);
  const auto length = static_cast<std::uint64_t>(kTurnMax.count());
  run_at(scheduler_.now() + nanoseconds(alone ? 0 : rng_.below(length)), [this] { end_turn(); });
}

void SimLoop::end_turn() {
  turn_end_scheduled_ = false;
  scheduler_.note(EventKind::kTurnEnd, number_, {});
  // One that is asked for again from here runs at the end of the next turn; one that is forgotten
  // from here is taken out, so always the first of those that remain.
  std::size_t left = turn_ends_.size();
  while (left > 0 && !turn_ends_.empty()) {
    net::TurnEnd* next = turn_ends_.front();
    turn_ends_.erase(turn_ends_.begin());
    --left;
    next->on_turn_end();
  }
}

void SimLoop::forget_turn_end(net::TurnEnd& turn_end) { std::erase(turn_ends_, &turn_end); }

net::TimerId SimLoop::after(nanoseconds delay, Callback callback) {
  const std::uint64_t timer = next_timer_++;
  if (dead()) return net::TimerId{timer};
  timers_.emplace(timer, std::move(callback));
  run_at(process_.when_it_shows(now() + std::max(delay, nanoseconds{0})),
         [this, timer] { run_timer(timer); });
  return net::TimerId{timer};
}

void SimLoop::run_timer(std::uint64_t timer) {
  const auto found = timers_.find(timer);
  if (found == timers_.end()) return;
  Callback callback = std::move(found->second);
  timers_.erase(found);
  scheduler_.note(EventKind::kTimer, number_, {});
  callback();
}

void SimLoop::cancel(net::TimerId timer) { timers_.erase(timer.value()); }

void SimLoop::connect(const net::Address& address, milliseconds timeout, Connected done) {
  network_.connect(*this, address, timeout, std::move(done));
}

Result<std::unique_ptr<net::Listener>> SimLoop::listen(const net::Address& address,
                                                       Acceptor acceptor) {
  Result<net::Address> real = network_.listen(*this, address, std::move(acceptor));
  if (!real) return std::unexpected(real.error());
  return std::make_unique<SimListener>(network_, *real, this);
}

}  // namespace cleave::sim
