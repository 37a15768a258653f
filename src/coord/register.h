// Register: the one linearizable register that holds a pool's ring document, and the leases that
// hint which sessions are alive (protocol rules 1 and 2).
//
// Implementations: coord/memory (tests, simulator), coord/sqlite (embedded, one machine),
// coord/etcd and coord/zookeeper (many routers). One conformance suite runs against all.
//
// Threads: a Register belongs to the loop it was made with; callbacks run there, one for each call,
// in any order. It may be destroyed with calls open: their callbacks then never run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"

namespace cleave::coord {

// What the register holds. Epoch 0 and empty text: nothing was ever written.
struct Stored {
  Epoch epoch;
  std::string text;
};

class Register {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;

  virtual ~Register() = default;

  // Linearizable: begun after a write finished, it sees that write or a later one.
  // Errors: kUnavailable, kTimeout.
  virtual void read(Done<Stored> done) = 0;

  // Writes `text` as epoch `expected + 1` iff the register is at `expected`. Errors: kConflict when
  // it is not (nothing was written); kUnavailable (nothing was written); kTimeout (unknown: read).
  virtual void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) = 0;

  // Writes `text` as epoch `first` iff nothing was ever written: a ring that was lost comes back,
  // and must not use its numbers again. Errors: as of compare_and_set. Requires: first > 0.
  virtual void begin(Epoch first, std::string text, Done<Epoch> done) = 0;

  // `changed` runs some time after each change, with what was read; several changes may give one
  // call; epochs never go back. Also once for what is there already, if anything was ever written.
  // One watcher a Register. A hint: safety never depends on it.
  virtual void watch(std::function<void(const Stored&)> changed) = 0;

  // Keeps the session's lease alive for `ttl` from now; to be repeated. Errors: kUnavailable.
  virtual void keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) = 0;

  // Ends a lease at once (a clean stop).
  virtual void end_lease(const SessionId& session, Done<void> done) = 0;

  // Sessions whose lease has not run out, sorted. A hint.
  virtual void alive(Done<std::vector<SessionId>> done) = 0;
};

}  // namespace cleave::coord
