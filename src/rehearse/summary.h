// The numbers that a run is judged by.
//
// Pure. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "rehearse/least.h"
#include "rehearse/record.h"

namespace cleave::rehearse {

// A run at full resolution, as far as the numbers need it.
struct Course {
  struct Point {
    seconds at{0};
    std::uint32_t peak_ppm = 0;   // highest load / fair load of a node, its scans included
    std::uint32_t bound_ppm = 0;  // the least that any placement could reach
  };
  // From here on, another placement is good; what had to be moved for it.
  struct Turn {
    seconds at{0};
    Least least = {};
  };

  std::vector<Point> points = {};
  std::vector<Turn> turns = {};  // the first at 0
  bool rests = true;             // the load stops changing
  std::uint64_t cuts = 0;        // laid: pieces that were moved, boundaries that a policy wanted
  std::uint64_t merges = 0;
  std::uint64_t oscillations = 0;
  std::size_t ranges = 0;  // of the ring at the end
};

// The same of the bytes that the nodes hold, where their memory is limited; a node's fair share is
// by its limit.
struct MemorySummary {
  double peak_over_mean_start = 0;
  double peak_over_mean = 0;
  double lower_bound = 0;
  std::uint64_t bytes_moved = 0;        // by committed moves, whatever they were made for
  std::uint64_t bytes_moved_bound = 0;  // the sum of the least at each turn
  std::optional<std::uint64_t> seconds_to_converge = {};
};

// Ratios as doubles: for people, nothing is decided by them. The target is that of
// rehearse/least.h.
struct Summary {
  double peak_over_mean_start = 0;
  // Of a load that rests: the highest of the last minute, or of the second half where that is
  // shorter. Of one that does not: the mean over the second half.
  double peak_over_mean = 0;
  double lower_bound = 0;  // of any placement, over the same time: its highest, or its mean
  // Load moved by all committed moves, over the sum of the least at each turn; 0 when nothing was
  // moved; when nothing had to move, over a thousandth of what one node carries.
  double load_moved_over_bound = 0;
  std::uint64_t keys_moved = 0;
  std::uint64_t keys_moved_bound = 0;  // so many had to, for load or for memory
  std::uint64_t moves = 0;             // committed
  std::uint64_t cuts = 0;
  std::uint64_t merges = 0;
  std::uint64_t oscillations = 0;  // rehearse/oscillations.h
  std::size_t ranges = 0;
  // From the first second above the target to the first move; nullopt: never uneven, or no move.
  std::optional<std::uint64_t> seconds_to_detect = {};
  // From the first second above the target until the peak stays at or below it; of a load that does
  // not rest, the longest of its turns. nullopt: never uneven, or never reached.
  std::optional<std::uint64_t> seconds_to_converge = {};
  std::optional<MemorySummary> memory = {};
};

// `memory`: the course of the bytes, with bytes where a course has loads; without points where
// memory is not limited. Requires: a point of `course`.
Summary summarise(const Record& record, const Course& course, const Course& memory = {});

}  // namespace cleave::rehearse
