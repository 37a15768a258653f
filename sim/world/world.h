// World: servers, routers, coordinator and clients of one seed, what happens to them, and whether
// the promises held.
//
//   clients --> routers (the product's own code) --> model servers
//                  |                                    ^
//                  +--> coordinator      driver --------+      faults hit every arrow and every box
//
// A run lives for a minute and more: everything happens, in bursts (rhythm.h); the faults end and
// all must come to rest; every key is read once more; in some worlds the coordinator is then
// restored from an old backup, which nobody may follow, or has lost the ring, and nobody may begin
// another.
//
// Promises checked: each key's history is linearizable (so no acknowledged write is lost), every
// document change is one that the protocol allows, a key's commands run only at its owner
// (ownership_checker.h), no view goes back, every fence and every move ends, servers whose clocks
// differ exchange nothing, nothing foreign is deleted, nothing is left behind
// (leftover_checker.h), no key stays for what a server said of itself; and at least three moves
// were committed.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "base/mutation.h"
#include "sim/model/server.h"
#include "sim/network.h"
#include "sim/scheduler.h"
#include "sim/world/balance_checker.h"
#include "sim/world/coordinator.h"
#include "sim/world/document_checker.h"
#include "sim/world/leftover_checker.h"
#include "sim/world/ownership_checker.h"
#include "sim/world/profile.h"
#include "sim/world/sim_router.h"
#include "sim/world/strangers.h"
#include "sim/world/workload.h"

namespace cleave::sim {

// How the names of routers' hosts begin.
inline const std::string kRouterHosts = "10.2.0.";

// What one seed came to.
struct Report {
  std::uint64_t seed = 0;
  Flavour flavour = Flavour::kCalm;
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
  std::uint64_t routers = 0;  // that ever were
  std::uint64_t virtual_seconds = 0;
  // Compare-and-sets tried since all had joined, lost races included.
  std::uint64_t coordinator_writes = 0;
  std::vector<std::string> violations{};
};

std::string to_line(const Report& report);

class World {
 public:
  // `log`: a line for everything that matters; nullptr: none.
  World(std::uint64_t seed, const Mutations& mutations, std::ostream* log);
  // A world of that kind, whatever the seed would have given.
  World(std::uint64_t seed, const Profile& profile, const Mutations& mutations, std::ostream* log);
  ~World();

  // Every event from now on, for people. The stream must outlive the world.
  void set_trace(std::ostream* out) { scheduler_.set_trace(out); }
  // To be called once.
  Report run();

 private:
  friend class Faults;
  friend class Mover;

  void make_servers();
  void add_router();
  void changed(const coord::Stored& stored);
  void observe(std::size_t server, std::span<const std::string> args, std::string_view connection);
  void settle_expiries(const ring::Move& move);
  void settle_taking_back(const ring::Move& move);
  void settle_losses(const ring::RingView& before, const ring::RingView& after);
  const ring::Move* looked_at(const ring::RingView& view, std::size_t server, Token token) const;
  std::int64_t value_at(std::size_t server, const std::string& key);
  void check_begun(const ring::RingView& before, const ring::RingView& after);
  void check_left_behind();
  void check_plan();
  void set_clock(std::size_t server, std::int64_t jump_ms);
  // Routers that are not gone for good.
  std::vector<SimRouter*> staying() const;
  ring::Creation creation() const;
  void adopt_servers();
  bool is_unmarked(std::size_t server) const;
  void fill_servers(const ring::Creation& creation);
  void add_foreign_keys(const ring::RingView& view);
  void log(const std::string& line);
  void tick();
  void restart_router(std::size_t index, nanoseconds delay);
  void start_server(std::size_t index);
  void lost_writes(std::size_t server, const std::set<std::string>& keys);
  SimRouter* leader();
  bool at_rest() const;
  template <class Condition>
  bool run_while(Condition condition, milliseconds at_most);
  void all_join(Report& report);
  void come_to_rest(Report& report);
  void freeze();
  void move_enough(Report& report);
  void restore_old_backup(Report& report);
  void lose_ring(Report& report);
  void check_fences(Report& report);
  void fill(Report& report) const;
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
  std::vector<coord::Stored> backups_;  // the newest of the document's states
  bool restored_ = false;
  SimCoordinator coordinator_;
  struct ServerClock {
    std::int64_t base_ms = 0;
    std::int64_t skew_ms = 0;
    Instant since{0};
  };
  // What a server lost after a driver had last looked at it (rule 19) and before the commit that it
  // then wrote: no driver can see it, it is as if it had happened after the commit.
  struct UnseenLoss {
    MoveId move;
    std::size_t server = 0;
    bool of_source = false;
    std::string key;
    Instant when{0};
    std::int64_t value = 0;  // what was left
  };
  std::vector<std::unique_ptr<ModelServer>> servers_;
  std::vector<ServerClock> clocks_;  // of the servers
  struct Looks {
    Instant last{0};
    Instant before{0};
  };
  std::vector<Looks> looks_;  // of drivers at the servers
  std::map<MoveId, Instant> fenced_at_;
  std::vector<UnseenLoss> unseen_losses_;
  std::vector<std::unique_ptr<SimRouter>> routers_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<OwnershipChecker> ownership_;
  std::unique_ptr<LeftoverChecker> leftovers_;
  std::unique_ptr<Strangers> strangers_;
  std::unique_ptr<BalanceChecker> balance_;  // nullptr: nobody balances
  std::vector<std::string> violations_;
  std::unique_ptr<class Faults> faults_;
  std::unique_ptr<class Mover> mover_;
  bool resting_ = false;
  std::uint64_t ticks_ = 0;
};

}  // namespace cleave::sim
