// RangeOrders: what may be ordered of boundaries, and of load that is expected; how it is answered:
// control/orders/answers.h.
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "control/orders/answers.h"
#include "control/orders/presplit.h"
#include "ring/token_range.h"

namespace cleave::control {

// A boundary that somebody wants, behind the token.
struct CutOrder {
  Token at = {};
  std::string reason = {};
  UnixMillis pinned_until = {};  // not merged before; 0 = not pinned
};

class RangeOrders {
 public:
  virtual ~RangeOrders() = default;

  // A boundary at the token: the range that ends there becomes a cut of its present owner.
  virtual void cut(CutOrder order, Done<void> done) = 0;
  virtual void merge(ring::TokenRange range, Done<void> done) = 0;
  // Announces load that will come, and answers what is done for it. Errors also: kConflict when the
  // pool is too small for it (unless forced).
  virtual void presplit(PresplitOrder order, Done<Presplit> done) = 0;
  // Takes an event back.
  virtual void forget(std::string event, Done<void> done) = 0;
  // Takes every cut back, live, by moves. Answers how many ranges must move.
  virtual void flatten(Done<std::uint64_t> done) = 0;
};

}  // namespace cleave::control
