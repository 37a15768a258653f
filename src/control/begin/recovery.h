// Recovery: what a person may ask and order of a router whose coordinator holds no ring although
// the servers belong to one (docs/OPERATIONS.md, "Disaster recovery").
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "control/begin/ring_restore.h"
#include "control/observe/server_look.h"
#include "control/orders/answers.h"
#include "control/orders/stray_orders.h"

namespace cleave::control {

// What such a router sees.
struct RingSituation {
  std::string held;  // why it does not go on; empty: it does, or nothing is known yet
  bool has_ring = false;
  std::vector<FoundServer> servers = {};  // while it has none
};

class Recovery {
 public:
  virtual ~Recovery() = default;

  virtual void situation(Done<RingSituation> done) = 0;
  // A first ring of the configuration, whatever the servers carry. Errors: kConflict when there is
  // a ring, or a router is at work on one of the servers, or, unless forced, the ring would not
  // find the keys that are there.
  virtual void begin_anew(Force force, Done<void> done) = 0;
  // Gives the coordinator a saved ring (ring_restore.h), whose servers need not be those of
  // the configuration. Errors besides: kConflict when there is a ring.
  virtual void restore(RestoreOrder order, Done<RestoreReport> done) = 0;
  // Marks these servers as this pool's, also those that carry another's marker, unless a router is
  // at work there that is not of this pool. Unless forced refused where the ring does not find
  // the keys, as StrayOrders::adopt.
  virtual void take_over(AdoptOrder order, Done<void> done) = 0;
};

}  // namespace cleave::control
