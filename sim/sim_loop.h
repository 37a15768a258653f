// SimLoop: net::Loop in virtual time (sim/scheduler.h) over simulated streams (sim/network.h).
//
// A turn is one or more events: its end comes a random few microseconds after the first one that
// asked for it, so that turns of one event and of many both happen.
//
// Threads: one. A loop may be destroyed with events open: they never run.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "net/loop.h"
#include "sim/network.h"
#include "sim/process.h"

namespace cleave::sim {

class SimLoop final : public net::Loop {
 public:
  SimLoop(Network& network, Process& process);
  ~SimLoop() override;
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  Instant now() const override { return process_.steady_now(); }
  UnixMillis wall_now() const override {
    return UnixMillis{scheduler_.wall_now().value() + process_.wall_skew().count()};
  }
  void post(Callback callback) override;
  void at_turn_end(net::TurnEnd& turn_end) override;
  void forget_turn_end(net::TurnEnd& turn_end) override;
  net::TimerId after(nanoseconds delay, Callback callback) override;
  void cancel(net::TimerId timer) override;
  void connect(const net::Address& address, milliseconds timeout, Connected done) override;
  Result<std::unique_ptr<net::Listener>> listen(const net::Address& address,
                                                Acceptor acceptor) override;

  Process& process() { return process_; }
  const Process& process() const { return process_; }
  std::uint64_t life() const { return life_; }
  // An event of this loop, for the network and other simulated services; `when` is the world's
  // time, not that of the process's clock.
  void run_at(Instant when, Callback callback);
  // Forgets everything that was to run; to be called when its process has died and its users are
  // gone. What events elsewhere still hold may be destroyed later and call a loop: so a loop of a
  // dead process is kept, and does nothing.
  void abandon();
  // Expired once the loop is destroyed.
  std::weak_ptr<bool> existence() const { return exists_; }

 private:
  bool dead() const { return !process_.alive() || process_.life() != life_; }
  void run_posted();
  void run_timer(std::uint64_t timer);
  void end_turn();

  Network& network_;
  Process& process_;
  Scheduler& scheduler_;
  std::uint64_t life_;
  std::uint64_t number_;
  Rng rng_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
  std::deque<Callback> posted_;
  std::map<std::uint64_t, Callback> timers_;
  std::uint64_t next_timer_ = 1;
  std::vector<net::TurnEnd*> turn_ends_;
  bool turn_end_scheduled_ = false;
};

}  // namespace cleave::sim
