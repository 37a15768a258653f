// What every live demonstration stands on: redis-servers in a temporary directory, and routers over
// them. Gone without a trace when destroyed.
//
// Threads: the main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/config/config.h"
#include "app/serve/process.h"
#include "base/result.h"
#include "control/orders/operator.h"
#include "supervise/children.h"

namespace cleave::app {

class DemoServers {
 public:
  DemoServers() = default;
  ~DemoServers();
  DemoServers(const DemoServers&) = delete;
  DemoServers& operator=(const DemoServers&) = delete;

  // Errors: those of start_children; kUnavailable without a temporary directory.
  Result<void> start(std::uint32_t servers);

  // Requires: started.
  const supervise::Children& children() const { return *children_; }
  const std::string& directory() const { return directory_; }
  // Of a router for all of them, on free ports.
  Config config() const;

  struct RouterOptions {
    bool mark_new_servers = false;  // see RouterProcess::Options
    std::uint64_t seed = 0;
    bool verbose = false;  // its log on standard error
  };
  // Waits until it serves; its files are in the directory and it answers orders on a free port,
  // whatever the configuration says. To be destroyed before this. Errors: those of RouterProcess;
  // kTimeout.
  Result<std::unique_ptr<RouterProcess>> start_router(Config config,
                                                      const RouterOptions& options) const;

 private:
  std::string directory_;
  std::unique_ptr<supervise::Children> children_;
};

// An order as a person gives it through the CLI; waits until it is answered. Errors: the answer's;
// kTimeout.
using Order = std::function<void(control::Operator&, control::Done<void>)>;
Result<void> give_order(const RouterProcess& router, const Order& order);

}  // namespace cleave::app
