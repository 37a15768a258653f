// A live demonstration: real redis-servers under verified load, something that makes them uneven,
// and what becomes of it. What exactly is a Scenario: `hot`, `scale-out`, `memory`.
//
// Everything that is claimed is measured from outside the balancer: requests and bytes by the
// servers' own counters, latency and lost writes by the load generator.
//
// Threads: the main thread; the load generator has one of its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/admin_client.h"
#include "app/demo/demo_pool.h"
#include "base/result.h"
#include "loadgen/generator.h"
#include "loadgen/report.h"

namespace cleave::app {

// What a demonstration is asked to do.
struct DemoOptions {
  std::uint32_t seconds = 60;  // of load at most; it ends earlier when everything is even
  std::uint32_t nodes = 4;     // redis-servers at the start
  std::uint32_t keys = 100'000;
  std::uint32_t clients = 50;
  std::uint64_t rate = 20'000;  // requests a second; 0 = as fast as they are answered
  std::uint64_t seed = 1;
  bool verbose = false;  // the router's log on standard error
};

// What is to be even over the nodes, by node.
using Amounts = std::map<std::string, std::uint64_t>;

struct Scenario {
  // Words for people.
  std::string unit;   // of the amounts: "requests", "bytes"
  std::string onset;  // what happens: "the hot set appeared"

  loadgen::Generator::Options load = {};
  // The amounts now, of every node that takes part.
  std::function<Result<Amounts>()> measure = {};
  // They grow for ever, as counters do: what counts is how much in the last seconds.
  bool counted = true;
  // What makes it uneven, once every key is written. May be empty: the load itself does.
  std::function<Result<void>()> begin = {};
  // Besides an even spread: whether there is nothing left to do. May be empty.
  std::function<bool()> settled = {};
  // The least peak over mean that placing whole keys can reach, by the probability of each key
  // (loadgen::Generator::shares). May be empty: 1.
  std::function<double(const std::vector<std::uint64_t>&)> lower_bound = {};
  std::uint64_t keys_moved_least = 0;  // so many keys must move for it; 0: not told
  // Of the amounts, what a key carries at most: tells how many keys must move. 0: not told.
  std::uint64_t amount_of_key_max = 0;
};

// How the amounts were spread over the nodes in one stretch of time, or at one moment.
struct Spread {
  Amounts amounts;
  double seconds = 0;  // 0: at one moment

  // Largest over the mean; 0 when there is nothing.
  double peak_over_mean() const;
};

// One move that was made.
struct DemoMove {
  std::string source;
  std::string destination;
  std::string reason;
  std::uint64_t keys = 0;
};

// What was seen.
struct DemoResult {
  std::string unit;
  std::string onset;
  Spread before;                    // from the onset to the first move
  Spread after;                     // the last seconds
  double lower_bound = 1;           // no placement of whole keys is below
  double target = 0;                // max(1.10, 1.05 x lower_bound)
  double seconds_to_converge = -1;  // from the onset; negative: not reached
  std::vector<DemoMove> moves;
  std::uint64_t moves_aborted = 0;
  std::uint64_t cuts = 0;  // more than the ring had at the onset
  std::uint64_t keys_total = 0;
  std::uint64_t keys_moved = 0;
  std::uint64_t keys_moved_least = 0;
  std::uint64_t requests_held = 0;
  double fence_hold_ms_p50 = 0;
  double fence_hold_ms_p99 = 0;
  std::uint64_t p99_us_before = 0;
  std::uint64_t p99_us_during = 0;  // from the first move until it is even
  loadgen::Report load;

  bool good() const;  // nothing lost, nothing wrong, converged
};

// What the load sends; everything else on the servers is moves and probes.
inline constexpr std::array<std::string_view, 4> kDemoCommands = {"get", "set", "incr", "del"};

// The load that every demonstration begins with: registers, counters and keys that come and go.
loadgen::Generator::Options demo_load(const DemoOptions& options,
                                      std::vector<net::Address> addresses);

// Errors: whatever keeps it from running at all.
Result<DemoResult> run_demo(const DemoOptions& options, const DemoPool& pool, Scenario scenario);

// The fields of the contract, and more.
Json to_json(const DemoResult& result);

// The story for people: bars, moves with their reasons, what was checked.
std::string to_text(const DemoResult& result);

}  // namespace cleave::app
