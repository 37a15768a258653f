// The real thing in a temporary directory, for the demonstrations: redis-servers, a router, the
// balancer. Gone without a trace when destroyed.
//
// Threads: the main thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/child_pool.h"
#include "app/process.h"
#include "base/result.h"
#include "supervise/children.h"

namespace cleave::app {

class DemoPool {
 public:
  // Starts everything and waits until clients are served. Errors: those of start_children and of
  // RouterProcess; kTimeout.
  struct Options {
    std::uint32_t nodes = 4;
    std::uint64_t seed = 0;
    bool verbose = false;  // the router's log on standard error
  };
  static Result<std::unique_ptr<DemoPool>> start(const Options& options);
  ~DemoPool();
  DemoPool(const DemoPool&) = delete;
  DemoPool& operator=(const DemoPool&) = delete;

  const RouterProcess& router() const { return *router_; }
  std::vector<supervise::Child> servers() const { return children_->list(); }

  // Requests of clients that each server has executed since its start, by its own counters
  // (INFO commandstats): `commands` only, so that what moves and probes cost is left out.
  Result<std::map<std::string, std::uint64_t>> executed(
      const std::vector<std::string>& commands) const;

 private:
  DemoPool() = default;
  Result<void> open(const Options& options);
  Result<void> wait_until_served() const;

  std::string directory_;
  std::unique_ptr<supervise::Children> children_;
  std::unique_ptr<RouterProcess> router_;
};

}  // namespace cleave::app
