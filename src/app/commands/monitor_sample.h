// A sample of what live servers are asked, by MONITOR: for `cleave assess`. Nothing is written to
// them.
//
// MONITOR costs a busy server up to half of its throughput while it runs, so its time is bounded,
// and so is what is read.
#pragma once

#include <string>
#include <vector>

#include "backend/pipe.h"
#include "base/clock.h"
#include "base/result.h"
#include "rehearse/workloads/trace.h"

namespace cleave::app {

// A server to be watched.
struct MonitorTarget {
  std::string name;  // of the node
  net::Address address;
};

// What one server was asked.
struct MonitoredServer {
  std::string name;
  std::uint64_t requests = 0;  // that name a key
  std::uint64_t cost = 0;      // rehearse::request_ns of them
};

// What all of them were asked.
struct MonitorSample {
  rehearse::Trace trace;  // of all servers together
  std::vector<MonitoredServer> servers;
};

// From all servers at once, for so long. Errors: kUnavailable, names the server that could not be
// reached or refused; kNotFound when none was asked for a key.
Result<MonitorSample> sample_servers(const std::vector<MonitorTarget>& targets,
                                     const backend::Credentials& credentials, seconds time);

}  // namespace cleave::app
