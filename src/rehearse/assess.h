// What cleave would do for a pool that it does not route yet: how uneven a sample of its requests
// is, what cuts would bring that to, what they cost, and what nobody can cut.
//
// The real planner works on the sampled load in a simulated pool until it has nothing more to do
// (rehearse/engine.h). Keys are placed by the scheme given: as a new pool of cleave would, or as
// the proxy does that is there.
//
// Pure. Threads: values. Cost: seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "rehearse/engine.h"
#include "rehearse/workloads/trace_workload.h"

namespace cleave::rehearse {

// One node of the pool, in millionths of its fair share of all load: 1'000'000 is exactly that.
struct AssessedNode {
  std::string name = {};
  std::uint32_t weight = 1;
  std::uint32_t before_ppm = 0;
  std::uint32_t after_ppm = 0;

  friend bool operator==(const AssessedNode&, const AssessedNode&) = default;
};

// A token with so much load that it limits what cuts can do: its keys share a hash, so that no
// boundary can part them.
struct UncuttableToken {
  Token token = {};
  std::vector<std::string> keys = {};  // the most asked for, at most five
  std::uint64_t key_count = 0;
  std::string node = {};       // that has it
  std::uint32_t fair_ppm = 0;  // its load, of that node's fair load
  std::uint32_t load_ppm = 0;  // of all load

  friend bool operator==(const UncuttableToken&, const UncuttableToken&) = default;
};

// What was found out.
struct Assessment {
  std::uint64_t requests = 0;
  std::uint64_t keys = 0;
  std::uint32_t read_ppm = 0;
  std::vector<AssessedNode> nodes = {};
  std::uint32_t before_ppm = 0;  // peak over mean
  std::uint32_t after_ppm = 0;
  std::uint32_t bound_ppm = 0;  // the least that any placement could reach
  std::uint64_t keys_moved = 0;
  std::uint64_t keys_moved_least = 0;
  std::uint64_t moves = 0;
  std::uint64_t cuts = 0;
  std::vector<UncuttableToken> uncuttable = {};  // heaviest first; from a tenth of a fair load on
  Run run = {};
};

// Keys that the scheme has no place for are left out. Errors: kInvalid for a trace without a
// request, for no node, for two of one name, and for what the scheme refuses.
Result<Assessment> assess(Trace trace, const std::vector<NodeSpec>& nodes, std::uint64_t seed,
                          const ring::SchemeSpec& scheme = {.name = "vnode"});

}  // namespace cleave::rehearse
