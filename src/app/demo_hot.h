// `cleave demo hot`: real traffic on real servers, a hot set that lies inside one node's ranges,
// and
// what becomes of it.
//
// Everything that is claimed is measured from outside the balancer: requests by the servers' own
// counters, latency and lost writes by the load generator.
//
// Threads: the main thread; the load generator has one of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/admin_client.h"
#include "base/result.h"
#include "load/report.h"

namespace cleave::app {

// What the demonstration is asked to do.
struct HotOptions {
  std::uint32_t seconds = 60;  // of load at most; it ends earlier when the load is even
  std::uint32_t nodes = 4;
  std::uint32_t keys = 100'000;
  std::uint32_t clients = 50;
  std::uint64_t rate = 20'000;  // requests a second; 0 = as fast as they are answered
  std::uint64_t seed = 1;
  bool verbose = false;  // the router's log on standard error
};

// How requests were spread over the nodes in one stretch of time.
struct Spread {
  std::map<std::string, std::uint64_t> requests;  // by node
  double seconds = 0;

  // Busiest node over the mean; 0 when nothing was asked.
  double peak_over_mean() const;
};

// One move that was made.
struct HotMove {
  std::string source;
  std::string destination;
  std::string reason;
  std::uint64_t keys = 0;
};

// What it saw.
struct HotResult {
  Spread before;                    // from the onset to the first move
  Spread after;                     // the last seconds
  double lower_bound = 1;           // no placement of whole keys is below
  double target = 0;                // max(1.10, 1.05 x lower_bound)
  double seconds_to_converge = -1;  // from the onset; negative: not reached
  std::vector<HotMove> moves;
  std::uint64_t moves_aborted = 0;
  std::uint64_t cuts = 0;  // more than the ring had at the onset
  std::uint64_t keys_total = 0;
  std::uint64_t keys_moved = 0;
  std::uint64_t requests_held = 0;
  double fence_hold_ms_p50 = 0;
  double fence_hold_ms_p99 = 0;
  std::uint64_t p99_us_before = 0;
  std::uint64_t p99_us_during = 0;  // from the first move until the load is even
  load::Report load;

  bool good() const;  // nothing lost, nothing wrong, converged
};

// Errors: whatever keeps it from running at all.
Result<HotResult> run_hot(const HotOptions& options);

// The fields of the contract, and more.
Json to_json(const HotResult& result);

// The story for people: bars, moves with their reasons, what was checked.
std::string to_text(const HotResult& result);

}  // namespace cleave::app
