// Assembly: one router put together, on the loops, the register and the addresses that it is given.
//
//   clients ---------> proxy::DataPath -----------------> servers
//                        ^       |
//         views, gate    |       |  answers
//                        |       v
//                  control::Controller --> coord::Register
//                        ^       |
//       orders, facts    |       v
//   people --> admin::Api    peer::HttpDirectory ------> other routers
//   others --> peer::HttpService, behind the same listener as people
//
// `cleave serve` runs it on real loops (app/serve/process.h), the simulated world on virtual ones
// (sim/world): what is wired here is wired there.
//
// Threads: made and destroyed while its loops do not run, or on the control loop; all functions are
// to be called there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admin/order_log.h"
#include "admin/router_facts.h"
#include "backend/pipe.h"
#include "balance/input/constants.h"
#include "balance/input/daily_windows.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "control/controller.h"
#include "coord/register.h"
#include "history/store.h"
#include "net/loop.h"
#include "proxy/data_path.h"

namespace cleave::assembly {

class Assembly {
 public:
  // Where people and other routers come in.
  struct Door {
    net::Address address;
    std::string token = {};
    std::string advertise = {};  // what others are told to ask; empty: the address
    std::vector<std::string> hosts = {};
  };

  struct Options {
    net::Loop& control;
    std::vector<net::Loop*> workers;
    coord::Register& store;
    admin::RouterFacts& facts;  // of the process; asked on the control loop
    SessionId session;          // never used before
    std::vector<net::Address> listen;
    std::string client_password = {};
    Door door;
    control::BeginOptions begin;
    control::ServerOptions servers = {};
    control::PlanOptions plan = {};
    control::TellOptions tell;
    Limits limits = {};
    std::uint64_t seed = 0;
    milliseconds lease{3'000};
    // Routers that hear of one another ask the coordinator less often.
    bool spares_coordinator = true;
    Mutations mutations = {};
    history::Store* history = nullptr;  // nullptr: only the present is known
    std::shared_ptr<admin::OrderLog> orders = nullptr;

    // Each view, before the data path has it.
    std::function<void(const ring::RingSnapshot&)> adopted;
    // Clients are served, or cannot be: trying again does not help.
    std::function<void(const Result<void>&)> ready;
    // The session is over (control::DocumentOptions::removed); clients are told.
    std::function<void(const Error&)> removed;
  };

  // Listens for HTTP; everything else begins with `start`. Errors: kUnavailable, the address.
  static Result<std::unique_ptr<Assembly>> make(Options options);
  ~Assembly();
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  void start();
  // A clean stop (control::Controller::stop): then clients are told.
  void stop(std::function<void()> stopped);

  net::Address admin_address() const;
  control::Controller& controller();
  proxy::DataPath& data_path();

 private:
  class Impl;
  explicit Assembly(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::assembly
