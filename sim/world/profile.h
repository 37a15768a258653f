// Profile: what kind of world a seed gives: how many of everything, which limits, which faults.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <optional>

#include "balance/input/constants.h"
#include "base/limits.h"
#include "base/rng.h"
#include "sim/world/coordinator.h"
#include "sim/world/rhythm.h"
#include "sim/world/workload.h"

namespace cleave::sim {

// How often each kind of fault is chosen, relative to the others; 0: never.
struct FaultWeights {
  std::uint32_t break_server_link = 0;  // a connection between a router and a server
  std::uint32_t break_client_link = 0;
  std::uint32_t stall_link = 0;  // one direction between a router and a server
  std::uint32_t pause_router = 0;
  std::uint32_t pause_server = 0;
  std::uint32_t slow_server = 0;  // its commands take milliseconds
  std::uint32_t crash_router = 0;
  std::uint32_t stop_router = 0;  // cleanly
  std::uint32_t crash_server = 0;
  std::uint32_t failover = 0;
  std::uint32_t cut_off_router = 0;  // from the coordinator only
  std::uint32_t partition = 0;       // groups of hosts from others, one way or both
  std::uint32_t arrive = 0;          // a router that was never there
  std::uint32_t depart = 0;          // a router goes and never returns
  std::uint32_t skew_clock = 0;      // somebody's wall clock jumps
  std::uint32_t coordinator = 0;     // slow, forgetful, away, or fails over
  std::uint32_t peers = 0;           // slow or forgetful
  std::uint32_t abort_move = 0;      // a person's order
  std::uint32_t refuse = 0;          // a server says no to what a move asks of it
  std::uint32_t stranger = 0;        // somebody writes to a server past the routers
  std::uint32_t exhaust = 0;         // a router has no descriptors or memory for connections

  std::uint32_t total() const;
};

// What a world is mostly about; each meets other rules of the protocol.
enum class Flavour : std::uint8_t {
  kCalm,         // moves under traffic, no fault
  kLinks,        // connections break, what they had sent comes late
  kRemovals,     // routers are silent or cut off for longer than their lease
  kCoordinator,  // views come late, answers are lost
  kPeers,        // questions between routers are lost
  kServers,      // servers crash and fail over, with losses
  kCrashes,      // routers crash, come and go
  kArrivals,     // routers come, and go cleanly, in every phase of a move
  kPartitions,   // groups of hosts cannot reach others
  kClocks,       // wall clocks jump
  kEverything,
};
inline constexpr std::uint64_t kFlavours = 11;

std::string_view to_string(Flavour flavour);

// A server's wall clock jumps by so much at most.
inline constexpr milliseconds kClockJumpMax{5'000};

// Whether the balancer plans and moves by itself, and what gives it reason to.
struct Balancing {
  bool on = false;
  balance::Constants constants;
  bool strangers = false;          // write past the routers, in calm too
  nanoseconds key_command_max{0};  // of servers: so long that load is worth a move
  milliseconds calm{0};            // after the faults, for the balancer to end its work
};

// How routers are set up otherwise than the checkers believe; only mutants do that.
struct Misled {
  std::optional<balance::Constants> constants;
  std::optional<milliseconds> lease;
};

struct Profile {
  Flavour flavour = Flavour::kCalm;
  std::size_t servers = 2;
  std::size_t routers = 3;  // at the start
  std::size_t workers = 1;
  bool lossy_servers = false;       // a server's crash may lose its newest changes
  bool unmarked_server = false;     // the last one does not carry the pool's marker
  bool foreign_keys = false;        // servers of the pool hold keys that nobody of it put there
  bool clock_jumps = false;         // of servers, too
  bool old_backup = false;          // at the end the coordinator is restored from one
  bool spares_coordinator = false;  // routers hear of one another too
  bool lost_ring = false;           // at the end the coordinator has no ring any more
  bool replacements = false;        // other servers take the addresses of those with copies
  nanoseconds command_max = microseconds{20};
  std::int64_t clock_rate_max = 10'000;  // millionths by which a router's timers are off: 1 %
  milliseconds lease{1'500};
  milliseconds active{60'000};  // faults and moves happen so long
  Rhythm rhythm;
  milliseconds fault_interval_max{200};  // in a burst
  std::uint64_t phase_fault_one_of = 0;  // a change of a move's phase is answered by a fault
  bool phase_arrivals = false;           // ... only by routers that come and go
  milliseconds move_interval_max{100};
  nanoseconds late_max =
      milliseconds{300};  // what a broken connection had sent arrives up to so late
  nanoseconds long_outage = milliseconds{2'000};  // of a router that is paused or cut off
  CoordinatorOptions coordinator;
  FaultWeights faults;
  Balancing balancing;
  Misled misled;
  Limits limits;
  WorkloadOptions workload;
};

// The same seed gives the same profile.
Profile make_profile(std::uint64_t seed);

}  // namespace cleave::sim
