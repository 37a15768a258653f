// Is the history of one key linearizable?
//
// The search of Wing and Gong with Lowe's memory of states (G. Lowe, "Testing for linearizability",
// CPAE 29(4), 2017). An operation whose outcome is unknown may have happened at any time after its
// call, or never.
//
//   call set 1 ----------- return
//        call read -> 1 ------ return          linearizable
//                                call read -> absent -- return      not: nobody removed it
//
// Threads: none of its own; pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace cleave::sim {

// The value of a key that is not there.
inline constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();
inline constexpr Instant kForever = Instant::max();

// What was asked of the key.
enum class OpKind : std::uint8_t {
  kSet,        // argument: the value
  kRead,       // result: the value
  kDelete,     // result: 1 when it was there, else 0
  kIncrement,  // result: the new value
  kExpire,     // argument: a value; if the key holds it, it is gone now
};

// One operation on the key, with its place in time.
struct Op {
  OpKind kind = OpKind::kRead;
  std::int64_t argument = 0;
  std::optional<std::int64_t> result{};  // nullopt: not known
  Instant called{0};
  Instant returned = kForever;
  bool happened = true;  // false: perhaps, at any time after `called`
  std::string who{};     // for people
};

// What the checker says.
struct Ruling {
  bool linearizable = false;
  // The search was given up. Counts as a violation, so that nothing slips through.
  bool gave_up = false;
  std::string explanation;  // the operations around the place where it cannot go on
};

// Cost: about linear for few concurrent operations; bounded by `steps_max`.
Ruling check_linearizable(const std::vector<Op>& history, std::int64_t initial = kAbsent,
                          std::uint64_t steps_max = 5'000'000);

std::string describe(const Op& op);

}  // namespace cleave::sim
