// Process: what lives and dies together. All loops of one simulated process run their events
// through it, so that it can be crashed (its events never run any more), paused (they wait) and
// started again (a new life; events of older lives stay dead). Its clocks may be wrong.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/scheduler.h"

namespace cleave::sim {

class Process {
 public:
  Process(Scheduler& scheduler, std::string host, std::uint64_t number)
      : scheduler_(scheduler), host_(std::move(host)), number_(number) {}

  const std::string& host() const { return host_; }
  std::uint64_t number() const { return number_; }
  bool alive() const { return alive_; }
  bool paused() const { return paused_; }
  std::uint64_t life() const { return life_; }
  Scheduler& scheduler() { return scheduler_; }

  // Runs `callback` at `when` if this life lasts so long. A paused process runs it when resumed,
  // in the order in which the events came due. A dead process asks for nothing.
  void run_at(Instant when, Scheduler::Callback callback);

  // Its clocks: the wall clock is off by so much, the steady one runs fast by so many millionths.
  // The rate is to be set before its first loop is made.
  void set_wall_skew(milliseconds skew) { wall_skew_ = skew; }
  milliseconds wall_skew() const { return wall_skew_; }
  void set_rate(std::int64_t millionths) { rate_ = millionths; }
  Instant steady_now() const { return shown_at(scheduler_.now()); }
  // When its steady clock will show that; never early.
  Instant when_it_shows(Instant steady) const;

  void pause() { paused_ = true; }
  void resume();

 private:
  friend class Network;  // which ends the connections at a crash
  void crash();
  void start();
  Instant shown_at(Instant when) const;
  void run(std::uint64_t life, Scheduler::Callback callback);

  Scheduler& scheduler_;
  std::string host_;
  std::uint64_t number_;
  std::uint64_t life_ = 1;
  bool alive_ = true;
  bool paused_ = false;
  milliseconds wall_skew_{0};
  std::int64_t rate_ = 0;
  std::vector<Scheduler::Callback> waiting_;  // came due while paused
};

}  // namespace cleave::sim
