// Scheduler: the one virtual clock of a simulated world and the one queue of what happens next.
//
// Events run in order of (time, order of asking), so a seed decides everything; a running hash of
// every observable event (`note`) proves it: the same seed gives the same hash.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"

namespace cleave::sim {

// What an event was, for the trace hash and the readable trace.
enum class EventKind : std::uint8_t {
  kPosted,
  kTimer,
  kTurnEnd,
  kConnect,
  kAccept,
  kBytes,
  kClosed,
  kDrained,
  kExecuted,  // a model server ran a command
  kDocument,  // the register answered
  kFault,
  kOperation,  // a simulated client's operation began or ended
};

std::string_view to_string(EventKind kind);

class Scheduler final : public Clock {
 public:
  using Callback = std::function<void()>;

  explicit Scheduler(std::uint64_t seed);

  Instant now() const override { return now_; }
  // The same for every process; a world gives servers their skew itself.
  UnixMillis wall_now() const override;

  // An independent stream of random numbers for one purpose, so that drawing more of one kind does
  // not change the others.
  Rng fork(std::uint64_t purpose) const;

  // A `when` in the past means now.
  void at(Instant when, Callback callback);

  // Forgets all events without running them: the world ends.
  void clear();

  // Runs the next event. False: there is none.
  bool step();
  // Runs everything up to and including `end`; the clock then shows `end`.
  void run_until(Instant end);

  // Adds an event to the trace. `who` names a connection, loop or server.
  void note(EventKind kind, std::uint64_t who, std::string_view bytes);
  // Prints every noted event from now on; nullptr stops it. The stream must outlive its use.
  void set_trace(std::ostream* out) { trace_ = out; }

  std::uint64_t trace_hash() const { return trace_hash_; }
  std::uint64_t events() const { return events_; }

 private:
  struct Event {
    Instant when;
    std::uint64_t order;
    std::size_t slot;  // of its callback, which stays where it is while the heap is sorted
  };
  static bool later(const Event& left, const Event& right);

  std::uint64_t seed_;
  Instant now_{0};
  std::uint64_t next_order_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t trace_hash_;
  std::ostream* trace_ = nullptr;
  std::vector<Event> heap_;  // std::*_heap by `later`
  std::vector<Callback> callbacks_;
  std::vector<std::size_t> free_slots_;
};

}  // namespace cleave::sim
