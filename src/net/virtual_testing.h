// A loop in virtual time with hosts that the test makes up, for unit tests of code that waits: no
// clock, no socket, every run the same. (The whole product runs in sim/, where turns, delays and
// breaks are drawn from a seed; here everything happens as the test says.)
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/loop.h"

namespace cleave::net {

class VirtualLoop;

// What is reached at an address.
class VirtualHost {
 public:
  virtual ~VirtualHost() = default;
  virtual Result<std::unique_ptr<Stream>> connect(VirtualLoop& loop) = 0;
};

// Time goes on when nothing is left to do at its moment.
class VirtualLoop final : public Loop {
 public:
  static constexpr std::int64_t kStarted = 1'800'000'000'000;  // wall time of the first instant

  Instant now() const override { return now_; }
  UnixMillis wall_now() const override {
    return UnixMillis{kStarted + std::chrono::duration_cast<milliseconds>(now_).count()};
  }
  void post(Callback callback) override { after(nanoseconds{0}, std::move(callback)); }
  void at_turn_end(TurnEnd& turn_end) override {
    if (std::ranges::find(turn_ends_, &turn_end) == turn_ends_.end())
      turn_ends_.push_back(&turn_end);
  }
  void forget_turn_end(TurnEnd& turn_end) override { std::erase(turn_ends_, &turn_end); }
  TimerId after(nanoseconds delay, Callback callback) override {
    const std::uint64_t id = ++last_id_;
    events_.emplace(std::pair(now_ + delay, id), std::move(callback));
    return TimerId{id};
  }
  void cancel(TimerId timer) override {
    std::erase_if(events_, [&](const auto& each) { return each.first.second == timer.value(); });
  }
  void connect(const Address& address, milliseconds /*timeout*/, Connected done) override {
    after(milliseconds{1}, [this, address, done = std::move(done)] {
      const auto host = hosts_.find(address);
      if (host == hosts_.end()) return done(fail(Code::kUnavailable, "nobody is there"));
      done(host->second->connect(*this));
    });
  }
  Result<std::unique_ptr<Listener>> listen(const Address& /*address*/,
                                           Acceptor /*acceptor*/) override {
    return fail(Code::kUnavailable, "nobody listens in virtual time");
  }

  // The host must outlive what connects to it.
  void place(const Address& address, VirtualHost& host) { hosts_[address] = &host; }

  // Runs what is due until `done`, for at most so long; whether it came to that.
  bool run_until(const std::function<bool()>& done, nanoseconds most = seconds{120}) {
    const Instant end = now_ + most;
    while (!done()) {
      if (!step(end)) return done();
    }
    return true;
  }
  void run_for(nanoseconds time) {
    const Instant end = now_ + time;
    while (step(end)) {
    }
    now_ = end;
  }
  // What was to run never does. To be called before what it would have touched is gone: callbacks
  // may own streams.
  void forget_all() {
    while (!events_.empty()) std::exchange(events_, {}).clear();
  }
  // What is due at this very moment.
  void run_posted() { run_for(nanoseconds{0}); }

 private:
  void end_turn() {
    while (!turn_ends_.empty()) {
      TurnEnd* const due = turn_ends_.front();
      turn_ends_.erase(turn_ends_.begin());
      due->on_turn_end();
    }
  }
  bool step(Instant end) {
    end_turn();
    if (events_.empty() || events_.begin()->first.first > end) return false;
    auto first = events_.extract(events_.begin());
    now_ = std::max(now_, first.key().first);
    first.mapped()();
    end_turn();
    return true;
  }

  Instant now_{seconds{1}};
  std::uint64_t last_id_ = 0;
  std::map<std::pair<Instant, std::uint64_t>, Callback> events_;
  std::vector<TurnEnd*> turn_ends_;
  std::map<Address, VirtualHost*> hosts_;
};

}  // namespace cleave::net
