// A made-up run for the tests of this folder: eight nodes, one of them hot until three moves have
// helped it, and one that joins late.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "rehearse/record.h"

namespace cleave::draw {

inline rehearse::Record test_record() {
  constexpr std::uint64_t kCore = 1'000'000'000;
  constexpr std::size_t kNodes = 8;
  rehearse::Record record{.workload = "zipf:0.99", .policy = "cleave", .seed = 7, .keys = 40'000};
  for (std::size_t node = 0; node < kNodes; ++node) {
    record.nodes.push_back(
        {.name = "n" + std::to_string(node + 1), .rack = "r", .capacity = kCore});
  }
  for (std::int64_t second = 0; second <= 600; second += 2) {
    rehearse::Moment moment{.at = seconds{second}};
    const std::uint64_t excess = second < 60 ? 500'000'000 : second < 90 ? 200'000'000 : 40'000'000;
    std::uint64_t total = 0;
    for (std::size_t node = 0; node < kNodes; ++node) {
      std::uint64_t load = 400'000'000 + 11'000'000 * ((node * 5 + std::size_t(second)) % 7);
      if (node == 2) load += excess;
      if (node == 7 && second < 300) load = 0;
      moment.node_load.push_back(load);
      moment.node_bytes.push_back(1'000'000);
      total += load;
    }
    const std::uint64_t nodes = second < 300 ? kNodes - 1 : kNodes;
    const std::uint64_t peak = *std::ranges::max_element(moment.node_load);
    moment.peak_ppm = static_cast<std::uint32_t>(peak * nodes * 1'000'000 / total);
    moment.bound_ppm = 1'050'000;
    for (std::size_t stripe = 0; stripe < rehearse::kStripes; ++stripe) {
      std::uint64_t load = 8'000'000 + 1'000'000 * (stripe * 37 % 11);
      if (stripe == 77) load = 300'000'000;
      if (stripe >= 180 && stripe < 190 && second > 200) load *= 6;
      moment.stripe_load.push_back(load);
    }
    record.moments.push_back(moment);
  }
  for (std::uint64_t number = 0; number < 3; ++number) {
    rehearse::RecordedMove move{.began = seconds{50 + 12 * static_cast<std::int64_t>(number)}};
    move.ended = move.began + seconds{20};
    move.source = 2;
    move.destination = number + 3;
    const std::uint64_t first = (60 + 30 * number) << 56U;
    move.ranges = {{Token{first}, Token{first + (1ULL << 53U)}}};
    move.load = 100'000'000;
    move.keys = 150;
    move.committed = number != 1;
    record.moves.push_back(move);
    record.cuts.push_back({.range = move.ranges[0],
                           .owner = move.destination,
                           .from = move.ended,
                           .until = seconds{600}});
  }
  record.cuts.push_back({.range = {Token{170ULL << 56U}, Token{185ULL << 56U}},
                         .owner = 1,
                         .from = seconds{0},
                         .until = seconds{400}});
  return record;
}

}  // namespace cleave::draw
