// MoveOrders: what may be ordered of moves; how it is answered: control/orders/answers.h.
//
// Threads: the control loop; callbacks run there, once for each call.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "control/orders/answers.h"
#include "ring/edits/edits.h"

namespace cleave::control {

class MoveOrders {
 public:
  virtual ~MoveOrders() = default;

  virtual void move(ring::MoveRequest request, Done<MoveId> done) = 0;
  virtual void abort(MoveId move, Done<void> done) = 0;
  // What a kept leftover (of that move) keeps becomes the range again, as far as the destination
  // still owns it (rule 26). What was written there since the commit is given up.
  virtual void take_back(MoveId move, Done<MoveId> done) = 0;
  // What a kept leftover keeps is deleted after all, but for keys that their owner does not have;
  // or all of it; or it is left where it lies, and nobody's any more.
  enum class GiveUp : std::uint8_t { kClean, kCleanAll, kForget };
  virtual void give_up(MoveId move, GiveUp how, Done<void> done) = 0;
  // All moves that are not committed, and those that wait; with kFreeze none begins afterwards, in
  // the same change. Answers how many were under way. What waits is forgotten only when the order
  // is carried out.
  enum class Then : std::uint8_t { kGoOn, kFreeze };
  virtual void abort_all(Then then, Done<std::uint64_t> done) = 0;
  // Wants what the last plan proposed, if that is the plan of this id still (Status::plan_id), and
  // unless the mode is observe. Answers how many moves are wanted: each begins when its nodes are
  // free, or is refused.
  virtual void approve(std::string plan, Done<std::uint64_t> done) = 0;
};

}  // namespace cleave::control
