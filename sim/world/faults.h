// Faults: what goes wrong in a world, when and for how long, as its profile and seed say.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/world/world.h"

namespace cleave::sim {

class Faults {
 public:
  explicit Faults(World& world);

  void start();
  // No new ones; everything that is broken is mended now.
  void end();
  // The document changed: routers fall, go and come in every phase of a move.
  void see(const ring::RingView& before, const ring::RingView& after);
  // A driver has read the key there, to copy it.
  void read_for_copy(std::size_t source, std::string_view key);
  std::uint64_t count() const { return count_; }

 private:
  struct Kind {
    std::uint32_t FaultWeights::* weight;
    void (Faults::*strike)();
  };
  static const Kind kKinds[];

  void flush_at_fence(const ring::RingView& before, const ring::RingView& after);
  void schedule();
  void strike();
  void break_server_link();
  void break_client_link();
  void stall_link();
  void pause_router();
  void pause_server();
  void slow_server();
  void crash_router();
  void stop_router();
  void crash_server();
  void crash_server(std::size_t index);
  void strike_at_commit(const ring::RingView& before, const ring::RingView& after);
  void replace_at_entry(const ring::RingView& before, const ring::RingView& after);
  void replace_server(MoveId move);
  void add_own_key(std::size_t server, const ring::RingView& view, const ring::Leftover& entry,
                   const std::string& id);
  void failover();
  void cut_off_router();
  void disturb_coordinator();
  void disturb_peers();
  void abort_move();
  void refuse();
  void partition();
  void arrive();
  void depart();
  void skew_clock();
  void skew_server_clock();
  void stranger();
  void exhaust_router();

  void strike_at_phase();
  std::vector<std::string> hosts() const;
  nanoseconds wait();
  void break_one(const std::vector<std::uint64_t>& connections);
  void pause(Process& process, nanoseconds length);
  SimRouter& some_router();  // of those that stay
  ModelServer& some_server();
  // Runs when the fault is over, unless all were mended before.
  void later(nanoseconds delay, Scheduler::Callback mend);

  World& world_;
  Rng rng_;
  bool ended_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace cleave::sim
