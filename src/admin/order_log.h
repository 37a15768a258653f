// OrderLog: the last hundred orders that this router took, and what became of each.
//
//   waiting --> done       the ring document says so
//           --> refused    it could not be done; nothing was changed
//           --> not-done   not now: nothing was changed, and it is never done later
//           --> unknown    whoever asked was told that it may still happen --> done, not-done
//
// In memory: the fate of an order outlives the answer and the session, not the process.
//
// Threads: the control loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace cleave::admin {

enum class Fate : std::uint8_t { kWaiting, kDone, kRefused, kNotDone, kUnknown };

std::string_view to_string(Fate fate);

// One order.
struct OrderRecord {
  std::string id;     // unique in the pool
  UnixMillis at;      // when it came
  std::string order;  // "POST /moves {...}"
  std::string from;   // who asked: an address
  Fate fate = Fate::kWaiting;
  std::string why = {};     // it was not done, or is not known to be
  UnixMillis settled = {};  // since when the fate is this one; 0: it waits
};

class OrderLog {
 public:
  static constexpr std::size_t kNameLength = 8;  // is enough

  // `name` begins the ids: nobody else's in the pool.
  explicit OrderLog(std::string name) : name_(std::move(name)) {}

  std::string next_id();
  void begin(OrderRecord record);
  // An order that is not remembered any more: nothing happens.
  void settle(const std::string& id, Fate fate, std::string why, UnixMillis now);
  // The session that took those that wait is over: nobody tells what became of them.
  void session_over(UnixMillis now);
  // It was no order after all.
  void forget(const std::string& id);

  // Newest first.
  const std::deque<OrderRecord>& records() const { return records_; }

 private:
  std::string name_;
  std::uint64_t next_ = 1;
  std::deque<OrderRecord> records_;
};

}  // namespace cleave::admin
