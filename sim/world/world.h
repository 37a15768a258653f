// World: servers, routers, coordinator and clients of one seed, what happens to them, and whether
// the promises held.
//
//   clients --> routers (the product's own code) --> model servers
//                  |                                    ^
//                  +--> coordinator      driver --------+      faults hit every arrow and every box
//
// A run has three parts: everything happens; the faults end and all must come to rest; every key is
// read once more. Promises checked: each key's history is linearizable (so no acknowledged write is
// lost), every document change is one that the protocol allows, every fence and every move ends,
// nothing foreign is deleted.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/mutation.h"
#include "sim/model/server.h"
#include "sim/network.h"
#include "sim/scheduler.h"
#include "sim/world/coordinator.h"
#include "sim/world/document_checker.h"
#include "sim/world/peers.h"
#include "sim/world/profile.h"
#include "sim/world/router_process.h"
#include "sim/world/workload.h"

namespace cleave::sim {

// What one seed came to.
struct Report {
  std::uint64_t seed = 0;
  std::uint64_t trace_hash = 0;
  std::uint64_t events = 0;
  std::uint64_t operations = 0;
  std::uint64_t writes_acknowledged = 0;
  std::uint64_t unknown = 0;
  std::uint64_t begun = 0;
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t faults = 0;
  std::uint64_t lost_at_servers = 0;  // keys that a crash or failover of their owner set back
  std::uint64_t leftovers = 0;        // keys at a server that does not own them
  std::int64_t longest_fence_us = 0;
  std::vector<std::string> violations{};
};

std::string to_line(const Report& report);

class World {
 public:
  // `log`: a line for everything that matters; nullptr: none.
  World(std::uint64_t seed, const Mutations& mutations, std::ostream* log);
  ~World();

  // Every event from now on, for people. The stream must outlive the world.
  void set_trace(std::ostream* out) { scheduler_.set_trace(out); }
  // To be called once.
  Report run();

 private:
  friend class Faults;
  friend class Mover;

  void make_servers();
  void make_routers();
  ring::Creation creation() const;
  void fill_servers(const ring::Creation& creation);
  void log(const std::string& line);
  void tick();
  void restart_router(std::size_t index, nanoseconds delay);
  void start_server(std::size_t index);
  void lost_writes(std::size_t server, const std::set<std::string>& keys);
  RouterProcess* leader();
  bool at_rest() const;
  template <class Condition>
  bool run_while(Condition condition, milliseconds at_most);
  void come_to_rest(Report& report);
  void check_servers(Report& report);
  nanoseconds up_to(nanoseconds bound);

  std::uint64_t seed_;
  Mutations mutations_;
  std::ostream* log_;
  Profile profile_;
  Scheduler scheduler_;
  Network network_;
  Rng rng_;
  DocumentChecker checker_;
  SimCoordinator coordinator_;
  PeerNetwork peers_;
  std::vector<std::unique_ptr<ModelServer>> servers_;
  std::vector<std::unique_ptr<RouterProcess>> routers_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<class Faults> faults_;
  std::unique_ptr<class Mover> mover_;
  std::map<std::string, std::string> foreign_;  // keys of somebody else on the last server
  bool resting_ = false;
};

}  // namespace cleave::sim
