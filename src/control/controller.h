// Controller: the control side of one router process.
//
//   Membership   joins the document, follows it, publishes views; answers Gate (rules 2, 5, 9)
//   Leadership   takes and keeps the term; removes sessions whose lease is gone (rules 2, 3)
//   Driver       carries out moves (migrate/migration.h decides, backend/transfer.h does)
//   Balancer     heat -> plan -> moves, every two seconds (balance/planner.h)
//
// It knows neither proxy nor app: views go out through `publish`, routers are asked through
// peer::Directory. The same code runs in sim/.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/pipe.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "control/begin/begin_options.h"
#include "control/begin/recovery.h"
#include "control/document/document_options.h"
#include "control/observe/server_options.h"
#include "control/orders/operator.h"
#include "control/plan/plan_options.h"
#include "coord/register.h"
#include "history/heat_point.h"
#include "net/loop.h"
#include "peer/fence_keeper.h"
#include "peer/key_counter.h"
#include "peer/router_peer.h"

namespace cleave::control {

class Controller {
 public:
  // Each room's own, and what several of them need.
  struct Options {
    net::Loop& loop;
    coord::Register& store;
    peer::Directory& directory;
    DocumentOptions document;
    BeginOptions begin;
    ServerOptions servers;
    PlanOptions plan;
    TellOptions tell;
    Limits limits;
    std::uint64_t seed = 0;
    Mutations mutations{};
  };

  explicit Controller(Options options);
  ~Controller();

  // Reads the document, or creates it where it may (first_ring.h), and joins it. Keeps
  // trying while the coordinator is away.
  void start();
  // A clean stop: no new moves, running ones aborted or finished, session removed, lease ended.
  void stop(std::function<void()> stopped);

  // Stored heat of this hour on other days (control/observe/usual_levels.h): what is normal.
  void set_usual(const std::vector<history::HeatPoint>& points);

  // For the data path.
  backend::Gate& gate();
  peer::FenceKeeper& fence_keeper();
  peer::KeyCounter& key_counter();

  // For a person.
  Operator& orders();
  Recovery& recovery();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::control
