// KeyCounter: what a router may ask of the control side when a client wants to know how many keys
// there are.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace cleave::peer {

// Threads: the control loop. Callbacks run once for each call, unless the counter is gone.
class KeyCounter {
 public:
  using Counted = std::function<void(Result<std::uint64_t>)>;

  virtual ~KeyCounter() = default;
  // The keys that clients can read, copies of moves left out: the leader is asked, whoever it is.
  virtual void count_keys(Counted done) = 0;
  // The same, where this process leads; else kUnavailable.
  virtual void count_as_leader(Counted done) = 0;
};

}  // namespace cleave::peer
