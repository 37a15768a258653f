// PoolOrders: what may be ordered of the pool as a whole; how it is answered:
// control/orders/answers.h.
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include "control/orders/answers.h"
#include "ring/document/document.h"

namespace cleave::control {

class PoolOrders {
 public:
  virtual ~PoolOrders() = default;

  virtual void freeze(bool frozen, Done<void> done) = 0;
  virtual void set_mode(ring::Mode mode, Done<void> done) = 0;
  // Lets routers of an older version join again: no move begins until `freeze(false)`.
  virtual void allow_old_readers(Done<void> done) = 0;
};

}  // namespace cleave::control
