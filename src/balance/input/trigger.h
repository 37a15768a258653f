// When to act: from levels of load to "work now", with memory, so that no single spike acts and
// work that has begun goes on to its goal (hysteresis).
//
//        3 of 5 ticks hot and unusual, or almost full          five minutes a little high
//   kIdle ------------------------------------> kHot   kIdle ----------------------------> kSlow
//     ^------ nobody above the stop level -------'       ^--- nobody above the stop level ---'
//
// Between the two: twenty seconds a little high begin kCheap, in which only moves are made that
// cost next to nothing. Nobody waits five minutes for them.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "balance/input/constants.h"
#include "base/clock.h"
#include "base/ids.h"
#include "heat/picture.h"

namespace cleave::balance {

enum class Engaged : std::uint8_t { kIdle, kCheap, kSlow, kHot };

// What is remembered of one node.
struct NodeTrigger {
  NodeId node = {};
  std::uint8_t hot_ticks = 0;  // one bit a tick, newest lowest
  UnixMillis warm_since = {};  // a little high since; 0 = is not
  bool filling = false;        // has less than its share of the ring and is being given it
  bool emptying = false;       // holds more bytes than the others and gives them away
  UnixMillis full_since = {};  // holds a little more bytes than the others since; 0 = does not

  friend bool operator==(const NodeTrigger&, const NodeTrigger&) = default;
};

// The planner's only memory; passed in and returned. Fresh = default.
struct Trigger {
  Engaged engaged = Engaged::kIdle;
  std::uint8_t calm_plans = 0;          // in a row, with nobody above the stop level and no move
  std::vector<NodeTrigger> nodes = {};  // sorted by node

  friend bool operator==(const Trigger&, const Trigger&) = default;
};

// nullptr: nothing is remembered of it.
const NodeTrigger* find_node(const Trigger& trigger, NodeId node);

// One node at this tick.
struct Level {
  NodeId node = {};
  heat::Load load = {};  // as it is
  heat::Load fair = {};  // its share of everybody's load, by capacity
  std::uint64_t capacity = 0;
  std::uint32_t usual_ppm = 0;  // its level at this hour of other days; 0 = not known
};

// How much of its fair load a node carries, in millionths. 0 where nobody has load.
std::uint32_t level_ppm(std::uint64_t load, std::uint64_t fair);

// At this tick far enough above the mean, and above what is usual at this hour?
bool hot_now(const Level& level, const Constants& constants);

// Hot, but not above what is usual: left to the slow trigger.
bool hot_as_usual(const Level& level, const Constants& constants);

// Almost at its capacity and above the stop level, so that somebody else has room.
bool urgent(const Level& level, const Constants& constants);

// Above the stop level: to be worked on while engaged. `stop_ppm` is the larger of
// constants.stop_ppm and what the bound asks for.
bool above_stop(const Level& level, std::uint32_t stop_ppm, const Constants& constants);

// The next state. To be called once a tick (two seconds). Levels sorted by node.
Trigger next_trigger(const Trigger& before, std::span<const Level> levels, std::uint32_t stop_ppm,
                     const Constants& constants, UnixMillis now);

}  // namespace cleave::balance
