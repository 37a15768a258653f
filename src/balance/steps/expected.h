// Load that is expected laid over the load that is seen, so that the planner prepares for it as if
// it were there (a pre-split).
//
// For the files of this folder. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "balance/input/input.h"

namespace cleave::balance {

// What is expected of a node beyond what it carries.
struct Phantom {
  std::uint64_t load = 0;
  UnixMillis until = {};   // the last end of the events behind it
  std::string event = {};  // the largest of them
  std::uint64_t event_load = 0;
};

using Phantoms = std::map<NodeId, Phantom>;

// Whether an event is to be prepared for at this time. What cannot be (no load, a range that ends
// before it begins, too much) is not.
bool foreseen(const Expected& expected, UnixMillis now);

// In each expected range the picture's load becomes the larger of what is seen and what is
// expected: what is seen keeps its shape where enough samples show it, else the load lies evenly.
// By node (moves in flight done), what was added. Requires: `distrust` has no text. Cost: O(ranges
// and tokens of the events), and the tokens of the picture for each event that overlaps another and
// for each range that has no sample.
Phantoms lay_expected(Input& input);

}  // namespace cleave::balance
