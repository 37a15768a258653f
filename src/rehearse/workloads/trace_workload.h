// A workload made of a trace: the requests that were made, on a pool of any nodes.
//
// A trace is mostly a sample, so its amounts say little; its shape counts. The load of the whole
// trace is scaled to a share of the pool's capacity, and each key, and each second, has its part of
// that. A request costs what commands of servers cost on average: a fixed time, and a little for
// each byte.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rehearse/workloads/trace.h"
#include "rehearse/workloads/workload.h"

namespace cleave::rehearse {

// What a trace is run on.
struct TraceSetting {
  // kReplayed: second by second, and from the start again when it ends. kAveraged: all of it at
  // every second, so that the load rests.
  enum class Time : std::uint8_t { kReplayed, kAveraged };
  Time time = Time::kReplayed;
  std::vector<NodeSpec> nodes = {};
  ring::SchemeSpec scheme = {.name = "vnode"};  // that the trace's tokens are of
  std::uint32_t utilisation_ppm = 400'000;      // of the nodes' capacity, on average
};

// Server time of a request of so many bytes, before it is scaled.
std::uint64_t request_ns(std::uint64_t bytes);

// Of all requests, those that read; in millionths.
std::uint32_t read_ppm(const Trace& trace);

// Errors: kInvalid for a trace without a request, or no node.
Result<std::unique_ptr<Workload>> make_trace_workload(Trace trace, TraceSetting setting);

}  // namespace cleave::rehearse
