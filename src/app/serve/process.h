// RouterProcess: one router with everything that belongs to it, built and handed down.
//
//   thread "control"   document, leadership, moves, balance, HTTP interface
//   threads "worker"   clients and pipes
//   thread of SQLite   the register's file
//
// `cleave serve`, `cleave up` and `cleave demo` all run this; they differ in where the servers come
// from. No logic here: objects, and the small adapters between layers that do not know each other.
//
// Threads: the functions may be called from one thread that is none of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/config/config.h"
#include "app/log.h"
#include "base/result.h"
#include "control/orders/operator.h"
#include "proxy/data_path.h"

namespace cleave::admin {
class OrderLog;
}  // namespace cleave::admin

namespace cleave::app {

class RouterProcess {
 public:
  struct Options {
    Config config;
    bool mark_new_servers = false;  // see control::ServerOptions
    std::uint64_t seed = 0;
    std::function<void(const LogLine&)> log;  // any thread
    // What became of orders, of this process's sessions before too; nullptr: there were none.
    std::shared_ptr<admin::OrderLog> orders = nullptr;
  };

  enum class State : std::uint8_t {
    kStarting,  // waits for the coordinator or for the first server
    kServing,
    kFailed,   // cannot serve: error() says why; trying again does not help
    kRemoved,  // the session was removed from the ring: stop, and start a new process
  };

  // Begins to serve; `state` tells when it does. Errors: kUnavailable when the coordinator's file
  // or the HTTP interface's address cannot be had.
  static Result<std::unique_ptr<RouterProcess>> start(Options options);
  // A clean stop, at most about 6 s: moves are aborted or finished, the session leaves the ring.
  ~RouterProcess();
  RouterProcess(const RouterProcess&) = delete;
  RouterProcess& operator=(const RouterProcess&) = delete;

  State state() const;
  Error error() const;

  // Requires: serving. The real ports, where 0 was asked for.
  std::vector<net::Address> addresses() const;
  net::Address admin_address() const;

  // Asks and orders on the control loop, and waits for the answer.
  control::Status status() const;
  proxy::RouterStats stats() const;
  // Runs `order` with the operator on the control loop and waits for it to return.
  void with_operator(const std::function<void(control::Operator&)>& order) const;

 private:
  class Impl;
  explicit RouterProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::app
