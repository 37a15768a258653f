// What the planner is told. Plain values; the order of the lists does not matter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balance/input/constants.h"
#include "balance/input/daily_windows.h"
#include "balance/input/trigger.h"
#include "base/clock.h"
#include "base/ids.h"
#include "heat/picture.h"
#include "ring/view/view.h"

namespace cleave::balance {

// One core kept busy: capacity of a node of weight 1 unless it is told otherwise.
inline constexpr std::uint64_t kCore = 1'000'000'000;

// A key of a node, drawn at random, and what it takes in memory there.
struct KeySample {
  Token token;
  std::uint64_t bytes = 0;
  // So many of the keys that were drawn from it stands for, in millionths (key_census.h).
  std::uint32_t weight_ppm = 1'000'000;

  friend auto operator<=>(const KeySample&, const KeySample&) = default;
};

// What is known of a node beside the ring document (which has its weight, state and racks).
struct NodeFacts {
  NodeId id = {};
  std::uint64_t capacity = 0;  // nanoseconds of server time a second; 0 = weight x kCore
  std::uint64_t keys = 0;
  std::uint64_t bytes_per_key = 0;  // with the server's own overhead
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_max = 0;  // 0 = no limit
  bool healthy = true;
  bool joining = false;                  // known, but not yet ready to take anything
  bool unattributed_writes = false;      // somebody writes to it past the routers
  std::vector<std::string> vetoes = {};  // further reasons why no move may touch it
  std::string refuses = {};              // what its server said when it was to take keys
  std::uint16_t rdb_version = 0;         // of the values that it writes; 0 = not known
  // Sorted by token. Empty: bytes are taken to lie evenly.
  std::vector<KeySample> key_sample = {};
  // When the sample will say enough to move bytes by; 0 = it does, or none can be had.
  UnixMillis sample_due = {};

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

// How hot a node usually is at this hour: mean of its levels at the same hour of the last 7 days.
struct UsualLevel {
  NodeId node = {};
  std::uint32_t ppm = 0;  // of its fair load
};

// Load that a person (or a replay of recorded heat) expects: phantom load, planned for from
// `lead_from` until `end` as if it were there.
struct Expected {
  ring::TokenRange range = {};
  std::uint64_t load = 0;     // nanoseconds of server time a second, of all of the range
  UnixMillis lead_from = {};  // <= start
  UnixMillis start = {};
  UnixMillis end = {};
  std::string event = {};  // its name, for people

  friend auto operator<=>(const Expected&, const Expected&) = default;
};

// A move that is over.
struct PastMove {
  std::vector<ring::TokenRange> ranges = {};
  NodeId source = {};
  NodeId destination = {};
  UnixMillis ended = {};
  bool committed = true;  // else it was aborted
  bool ordered = false;   // by a person (or a drain, a join, ...): outside of the key budget
  std::uint64_t keys = 0;
  std::uint64_t predicted_gain = 0;             // load that the source was to lose
  std::optional<std::uint64_t> real_gain = {};  // once it was measured, a minute later
};

// What a person wants beyond what the document says.
struct Orders {
  bool flatten = false;  // take every cut back
  // When moves may begin on the balancer's own will; none: always.
  std::vector<DailyWindow> windows = {};
};

struct Input {
  ring::RingSnapshot view = nullptr;
  heat::Picture picture = {};  // of this view's epoch
  std::vector<NodeFacts> nodes = {};
  std::vector<PastMove> history = {};  // at least of the last day
  Trigger trigger = {};                // as the plan before returned it
  Orders orders = {};
  std::vector<UsualLevel> usual = {};   // of the nodes where it is known, in any order
  std::vector<Expected> expected = {};  // in any order
  Constants constants = {};
  UnixMillis now = {};
  std::uint64_t seed = 0;  // for choices among equals
};

}  // namespace cleave::balance
