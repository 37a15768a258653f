// TimerHeap: the timers of a loop, ordered by time and, at equal times, by age.
//
// Cancelled timers stay in the heap as husks until they surface or outnumber the live ones, so that
// cancelling costs one hash look-up; most timers of a proxy are cancelled, few run.
//
// Threads: one owner. Cost: O(log n) to add and take, O(1) to cancel; memory is reused.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "net/loop.h"

namespace cleave::net {

class TimerHeap {
 public:
  using Callback = std::function<void()>;

  // Ids start at 1 and never return.
  TimerId add(Instant when, Callback callback);
  // Unknown ids: nothing happens. The callback is destroyed before the return.
  void cancel(TimerId timer);
  // When the earliest timer is due.
  std::optional<Instant> next();
  // Takes out the earliest timer that is due at `now` and older than `newer`; nullopt: none.
  std::optional<Callback> take_due(Instant now, TimerId newer);
  // The id that the next `add` will give.
  TimerId upcoming() const { return TimerId{last_id_ + 1}; }
  std::size_t size() const { return callbacks_.size(); }

 private:
  struct Entry {
    Instant when;
    std::uint64_t id;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  void drop_husks();
  void pop();

  std::vector<Entry> heap_;  // smallest first
  boost::unordered_flat_map<std::uint64_t, Callback> callbacks_;
  std::uint64_t last_id_ = 0;
};

}  // namespace cleave::net
