// What happened in one simulated run: enough for the numbers, the pictures and the report. Loads
// are true ones, not what the routers estimated, in nanoseconds of server time a second.
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ring/token_range.h"

namespace cleave::rehearse {

// The token space in equal stretches, for pictures: stripe i covers the tokens t with
// t >> 56 == i.
inline constexpr std::size_t kStripes = 256;

// The pool at one second.
struct Moment {
  seconds at{0};                                // since the start
  std::vector<std::uint64_t> node_load = {};    // by Record::nodes; 0 where it is not in the pool
  std::vector<std::uint64_t> node_bytes = {};   // likewise
  std::vector<std::uint64_t> stripe_load = {};  // kStripes
  std::uint32_t peak_ppm = 0;                   // highest load / fair load of a node
  std::uint32_t bound_ppm = 0;                  // the least that any placement could reach
  std::uint32_t moves_under_way = 0;

  friend bool operator==(const Moment&, const Moment&) = default;
};

// A node that was in the pool at any time.
struct RecordedNode {
  std::string name = {};
  std::string rack = {};
  std::uint64_t capacity = 0;

  friend bool operator==(const RecordedNode&, const RecordedNode&) = default;
};

// A move that was begun.
struct RecordedMove {
  seconds began{0};
  seconds ended{0};
  std::size_t source = 0;  // of Record::nodes
  std::size_t destination = 0;
  ring::RangeSet ranges = {};
  std::uint64_t load = 0;  // true, when it began
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  bool committed = false;  // else aborted, or under way at the end
  std::string reason = {};

  friend bool operator==(const RecordedMove&, const RecordedMove&) = default;
};

// A boundary range of the document while it was there.
struct RecordedCut {
  ring::TokenRange range = {};
  std::size_t owner = 0;  // of Record::nodes
  seconds from{0};
  seconds until{0};  // the end of the run when it was there then

  friend bool operator==(const RecordedCut&, const RecordedCut&) = default;
};

struct Record {
  std::string workload = {};
  std::string policy = {};
  std::uint64_t seed = 0;
  std::uint64_t keys = 0;
  std::vector<RecordedNode> nodes = {};
  std::vector<Moment> moments = {};  // in order, evenly spaced; at most 1,000
  std::vector<RecordedMove> moves = {};
  std::vector<RecordedCut> cuts = {};

  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace cleave::rehearse
