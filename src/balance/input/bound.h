// The least peak over mean that any placement of whole tokens on the nodes could reach.
//
//   1                                          the mean itself
//   p1 / fair of the largest node              the heaviest token lies somewhere
//   (p_n + p_n+1) / fair of the largest node   of n + 1 tokens two share a node, and so on for
//                                              three of 2n + 1, ...
//
// A lower bound: valid for any nodes, tight when few tokens dominate. With all token loads known it
// is exact as a bound; with sampled ones an estimate of it. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cleave::balance {

// In millionths of the mean; at least 1'000'000. Loads in any order; capacities above 0.
std::uint32_t bound_ppm(std::span<const std::uint64_t> token_loads, std::uint64_t total_load,
                        std::span<const std::uint64_t> capacities);

}  // namespace cleave::balance
