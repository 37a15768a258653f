// Operator: what a person (through the CLI or the admin API) may ask and order, by its object.
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include "control/orders/answers.h"
#include "control/orders/move_orders.h"
#include "control/orders/node_orders.h"
#include "control/orders/pool_orders.h"
#include "control/orders/range_orders.h"
#include "control/orders/status.h"
#include "control/orders/stray_orders.h"

namespace cleave::control {

class Operator {
 public:
  virtual ~Operator() = default;

  virtual Status status() const = 0;

  // To be called within the answer kTimeout of an order: `told` runs once, when it is known what
  // became of it. Success: it was done; kConflict: it was not, and never will be; kTimeout: nobody
  // can tell any more.
  virtual void when_settled(Done<void> told) = 0;

  virtual MoveOrders& moves() = 0;
  virtual RangeOrders& ranges() = 0;
  virtual NodeOrders& nodes() = 0;
  virtual PoolOrders& pool() = 0;
  virtual StrayOrders& strays() = 0;
};

}  // namespace cleave::control
