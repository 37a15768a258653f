// Load that a person announces (a known event), made into what the ring document holds and what the
// planner takes (docs/balance.md, "Expected load").
//
//   Announcement --event_of--> ring::ExpectedEvent --expected_of--> balance::Expected
//   keys, requests/s           tokens, ns/s
//
// Requests become server time once, when the event is announced, by what a request costs then: what
// was announced does not change its meaning when the costs do.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "balance/input/input.h"
#include "balance/plan/plan.h"
#include "base/clock.h"
#include "base/result.h"
#include "heat/cost.h"
#include "heat/picture.h"
#include "ring/document/document.h"

namespace cleave::control {

// The most that may be announced of one range.
inline constexpr std::uint64_t kRequestsMax = 1'000'000'000;  // a second
inline constexpr std::uint64_t kValueBytesMax = std::uint64_t{1} << 32U;

// The same load on each of these ranges; a key is a range of one token.
struct Demand {
  std::vector<ring::TokenRange> ranges = {};
  std::uint64_t requests = 0;  // a second, of each range
  std::uint64_t bytes = 0;     // of a value; 0 = as the command costs without
  std::string command = {};    // lower case; "" = the pool's mean request, or GET where `bytes` is
  std::uint64_t load = 0;      // nanoseconds of server time a second; takes the place of `requests`
};

struct Announcement {
  std::string name = {};
  UnixMillis lead_from = {};
  UnixMillis start = {};
  UnixMillis end = {};
  std::vector<Demand> demands = {};
};

// What a person orders.
struct PresplitOrder {
  std::vector<Announcement> events = {};
  bool dry_run = false;  // only answer what would be done
  bool force = false;    // also where the pool is too small for it
};

// What would be done for it, as one plan. Live it is begun one move a node at a time, each planned
// by the load seen then.
struct Presplit {
  std::vector<ring::ExpectedEvent> events = {};  // as they were, or would be, written
  UnixMillis at = {};          // when most is expected: what the plan was made for
  std::uint64_t expected = 0;  // load of all events then, those announced before too
  balance::Plan plan = {};
};

// What requests cost now.
struct RequestCosts {
  heat::CommandPrices commands = {};
  std::uint32_t mean_ns = heat::kCommandNsDefault;  // of a request of this pool
};

// The mean of what is seen; where next to nothing is, the default.
std::uint32_t mean_request_ns(const heat::Picture& picture);

// Of one range of the demand, nanoseconds a second. Saturates far above ring::kExpectedLoadMax.
std::uint64_t load_of(const Demand& demand, const RequestCosts& costs);

// Loads on equal ranges (two keys of one hash tag) are added up. What else may be wrong with an
// event the edit tells (ring::expect).
ring::ExpectedEvent event_of(const Announcement& announcement, const RequestCosts& costs);

std::vector<balance::Expected> expected_of(const ring::Document& document);

// Errors: kConflict, says how many nodes are missing: the pool is too full at that time for any
// move to help (balance::Constants::advise_ppm).
Result<void> check_room(const Presplit& presplit);

// The start at which most load is expected, the earliest of equals; `now` when nothing is.
UnixMillis busiest(const std::vector<balance::Expected>& expected, UnixMillis now);

// Where an event stands.
enum class EventState : std::uint8_t {
  kWaiting,    // before its lead time
  kPreparing,  // the balancer prepares for it
  kOn,         // it is to be there
  kOver,       // it has ended, and the leader will forget it
};

EventState state_of(const ring::ExpectedEvent& event, UnixMillis now);
std::string_view to_string(EventState state);

}  // namespace cleave::control
