// The least work that brings a placement to its target, whoever does it: what every policy's work
// is measured against.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rehearse/workloads/truth.h"
#include "ring/view/view.h"

namespace cleave::rehearse {

// The goal of the product: max(1.10, 1.05 x what no placement can better), in millionths.
std::uint32_t target_ppm(std::uint32_t bound_ppm);

struct Least {
  std::uint64_t load = 0;  // nanoseconds a second that must change place
  std::uint64_t keys = 0;

  Least& operator+=(const Least& more) {
    load += more.load;
    keys += more.keys;
    return *this;
  }
};

// Load: what the nodes carry above target x fair. Keys: of each such node the fewest whose load
// covers that, taken by load per key, the last one in part; not counting tokens that would lift
// every other node above the target as it is. What nodes hold and their fair loads by node number;
// nodes of fair load 0 are passed over. Cost: O(tokens log tokens).
Least least_work(const ring::RingView& view, std::span<const Truth::Atom> atoms,
                 std::span<const Amount> nodes, std::span<const std::uint64_t> fair,
                 std::uint32_t target_ppm);

}  // namespace cleave::rehearse
