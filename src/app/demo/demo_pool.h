// The real thing, for the demonstrations: redis-servers, a router, the balancer.
//
// Threads: the main thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/demo/demo_servers.h"
#include "app/serve/process.h"
#include "base/result.h"
#include "ring/document/document.h"

namespace cleave::app {

class DemoPool {
 public:
  // Starts everything and waits until clients are served. Errors: those of start_children and of
  // RouterProcess; kTimeout.
  struct Options {
    std::uint32_t nodes = 4;
    std::uint32_t spare = 0;             // servers that run, but are not in the ring yet
    std::uint64_t memory_bytes_max = 0;  // of each server; 0 = no limit
    std::uint64_t seed = 0;
    bool verbose = false;  // the router's log on standard error
  };
  static Result<std::unique_ptr<DemoPool>> start(const Options& options);

  const RouterProcess& router() const { return *router_; }
  // Requests of clients that each server has executed since its start, by its own counters
  // (INFO commandstats): `commands` only, so that what moves and probes cost is left out.
  Result<std::map<std::string, std::uint64_t>> executed(
      std::span<const std::string_view> commands) const;
  // Bytes of each server beyond what an empty one uses (INFO memory).
  Result<std::map<std::string, std::uint64_t>> bytes_used() const;

  Result<void> order(const Order& order) const { return give_order(*router_, order); }
  // The next of the spare servers joins the ring. Requires: there is one.
  Result<void> join_spare();

 private:
  DemoPool() = default;
  Result<void> open(const Options& options);
  Result<void> limit_memory(std::uint64_t bytes) const;

  std::vector<ring::Node> spare_;
  DemoServers servers_;
  std::unique_ptr<RouterProcess> router_;  // goes first
};

}  // namespace cleave::app
