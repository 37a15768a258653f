// FenceKeeper: what a router may ask of the control side about a range that it holds too long.
#pragma once

#include "base/ids.h"

namespace cleave::peer {

// Threads: the control loop.
class FenceKeeper {
 public:
  virtual ~FenceKeeper() = default;
  // Rule 11: a range was held longer than the cap. CAS FENCED(phase epoch) -> aborted; if that
  // fails, the document is read and followed. The router itself goes on holding until a new view.
  virtual void abort_held_move(MoveId move, Epoch phase_epoch) = 0;
};

}  // namespace cleave::peer
