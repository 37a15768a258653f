// Process: one router of `cleave up`, `serve` or a demonstration, put together from its parts.
//
//   this thread     control loop: Controller, Router's control side, admin HTTP, SQLite's answers
//   thread 1..N     worker loops: Router's workers
//
// It builds the objects, hands them to each other, and takes them apart in order. No logic.
//
// Threads: made, run and destroyed on one thread; `stop` may be called from any (and from a signal's
// watcher).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "admin/api.h"
#include "admin/router_facts.h"
#include "base/limits.h"
#include "control/controller.h"
#include "coord/sqlite/sqlite_register.h"
#include "net/asio_loop.h"
#include "net/http.h"
#include "peer/router_peer.h"
#include "proxy/router.h"

namespace cleave::app {

class Process {
 public:
  struct Options {
    std::vector<net::Address> listen;    // for clients; port 0 = any free one
    std::string client_password;
    net::Address admin;                  // port 0 = any free one
    std::string admin_token;
    std::uint32_t workers = 1;
    std::string register_path;           // SQLite file of the ring document
    ring::Creation creation;             // seeds the document
    backend::Credentials credentials;    // to the servers
    Limits limits;
    bool balance = true;
    bool mark_new_servers = false;
    std::uint64_t seed = 0;              // also makes the session's name unique
    std::function<void(const std::string&)> log;
    // Stored heat; see admin::Api. May be empty.
    std::function<void(const control::Decision&)> decided;
  };

  // Opens the register and the admin port. Errors: a clear text; nothing is left behind.
  static Result<std::unique_ptr<Process>> create(Options options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Serves until `stop`. `ready` runs on the control loop once clients can connect. Errors: the
  // port is taken, or the session was removed from the ring (start again, as a new session).
  Result<void> run(std::function<void(Process&)> ready);
  // Any thread: a clean stop; `run` returns.
  void stop();

  // For the control loop's thread (within `ready` and callbacks):
  net::Loop& loop() { return *control_loop_; }
  control::Controller& controller() { return *controller_; }
  proxy::Router& router() { return *router_; }
  std::vector<net::Address> addresses() const { return router_->addresses(); }
  net::Address admin_address() const { return http_->address(); }

 private:
  class Facts;
  class Self;

  explicit Process(Options options);
  Result<void> open();
  void publish(const ring::RingSnapshot& view);
  void end(Result<void> result);
  void begin_stop();

  Options options_;
  std::unique_ptr<net::AsioLoop> control_loop_;
  std::vector<std::unique_ptr<net::AsioLoop>> worker_loops_;
  std::vector<std::thread> worker_threads_;
  std::unique_ptr<coord::Register> store_;
  std::unique_ptr<Self> self_;  // the directory of peers and the keeper of fences
  std::unique_ptr<control::Controller> controller_;
  std::unique_ptr<proxy::Router> router_;
  std::unique_ptr<Facts> facts_;
  std::unique_ptr<admin::Api> api_;
  std::unique_ptr<net::HttpServer> http_;
  std::function<void(Process&)> ready_;
  Result<void> result_;
  bool router_started_ = false;
  bool stopping_ = false;
};

}  // namespace cleave::app
