// SimRouter: one `cleave serve` of a simulated world: the product's own assembly (assembly/) on
// simulated loops, with simulated clients, servers, coordinator, and other routers over HTTP.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admin/router_facts.h"
#include "assembly/assembly.h"
#include "balance/input/constants.h"
#include "sim/network.h"
#include "sim/sim_loop.h"
#include "sim/world/coordinator.h"

namespace cleave::sim {

class SimRouter final : private admin::RouterFacts {
 public:
  struct Options {
    std::string name;      // sessions are name-1, name-2, ...
    net::Address address;  // where clients connect
    net::Address door;     // where people and other routers do
    bool spares_coordinator = false;
    std::size_t workers = 1;
    ring::Creation creation;
    Limits limits;
    bool balance = false;
    balance::Constants constants;
    milliseconds lease{3'000};
    std::int64_t clock_rate = 0;  // millionths by which its timers are off
    std::uint64_t seed = 0;
    Mutations mutations{};
    std::function<void(const std::string& session, const std::string& line)> log;
    // What no router may do.
    std::function<void(const std::string& violation)> broken;
  };

  SimRouter(Network& network, SimCoordinator& coordinator, Options options);
  ~SimRouter() override;
  SimRouter(const SimRouter&) = delete;
  SimRouter& operator=(const SimRouter&) = delete;

  void start();
  // As on SIGTERM: no new moves, the session leaves the document; then wants_restart().
  void stop();
  // To be called between events.
  void crash(Death death);

  bool running() const { return assembly_ != nullptr; }
  // Clients can be served.
  bool serving() const override { return serving_; }
  // The session was removed or stopped: the process wants to end and be started again.
  bool wants_restart() const { return wants_restart_; }
  // Once stopped or dead, it does not come back.
  void retire() { retired_ = true; }
  bool retired() const { return retired_; }
  Process& process() { return process_; }
  const net::Address& address() const { return options_.address; }
  const SessionId& session() const { return session_; }
  // Of the newest view of this life.
  Epoch view() const { return view_; }
  // nullptr while it does not run.
  control::Controller* controller() {
    return assembly_ == nullptr ? nullptr : &assembly_->controller();
  }

 private:
  std::vector<proxy::NodeHealth> health() const override { return assembly_->data_path().health(); }
  void stats(std::function<void(proxy::RouterStats)> done) override {
    assembly_->data_path().stats(std::move(done));
  }
  admin::ProcessUsage usage() const override { return {}; }
  const admin::StateBook& states() const override { return states_; }
  void identify(const net::Address& address,
                std::function<void(Result<std::string>)> done) override;

  std::unique_ptr<assembly::Assembly> assemble();
  void adopted(const ring::RingSnapshot& view);
  void bury(std::unique_ptr<SimLoop> loop);
  void log(const std::string& line);

  Network& network_;
  SimCoordinator& coordinator_;
  Options options_;
  Process& process_;
  std::uint64_t lives_ = 0;
  bool serving_ = false;
  bool retired_ = false;
  Epoch view_{};  // of this life
  bool wants_restart_ = false;
  SessionId session_;
  admin::StateBook states_;
  std::vector<std::unique_ptr<SimLoop>> dead_loops_;  // of earlier lives, see SimLoop::abandon
  // In the order of their making; destroyed in the other.
  std::unique_ptr<SimLoop> control_loop_;
  std::vector<std::unique_ptr<SimLoop>> worker_loops_;
  std::unique_ptr<SimRegister> store_;
  std::unique_ptr<assembly::Assembly> assembly_;
};

}  // namespace cleave::sim
