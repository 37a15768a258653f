// Which piece of a range to take: the window of tokens with about the wanted load and the most load
// for its price.
//
//   load     . .:  .|:. . .   .        | = a sampled token, higher = more load
//   range    [------------------]
//   window       [---]                 two new boundaries; one at an edge; none: the whole range
//
// Moving the densest window takes 2 to 3 times fewer keys than cutting from an end; fewer
// boundaries win when they cost little, because every boundary has to be merged away again one day.
//
// Pure. Threads: values. Cost: O(samples of the range x log).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "balance/input/constants.h"
#include "balance/input/stock.h"
#include "base/wide.h"
#include "heat/picture.h"
#include "ring/token_range.h"

namespace cleave::balance {

// What tokens of one node cost to move. Tokens are hashes, so keys lie evenly over them unless a
// sample says otherwise.
struct Price {
  std::uint64_t keys = 0;  // of the node
  Wide width = 1;          // tokens that it owns; at least 1
  std::uint64_t bytes_per_key = 0;
  std::uint64_t piece_bytes = 1;  // for the piece itself; at least 1
  const Stock* stock = nullptr;   // what a sample of the node's keys says; nullptr: there is none

  std::uint64_t keys_in(const ring::TokenRange& range) const;
  // Of the range with so many keys.
  std::uint64_t bytes_in(const ring::TokenRange& range, std::uint64_t keys_inside) const;
};

// A range that one node owns, and its load.
struct Stretch {
  ring::TokenRange range;
  std::uint64_t load = 0;
  std::span<const heat::TokenLoad> tokens = {};  // of the range; may be empty
  bool fresh_cut = false;  // was cut just now: again only for a window of limits.heavy_load
};

// What a window must be like.
struct WindowLimits {
  std::uint64_t load_min = 0;
  std::uint64_t load_max = 0;
  std::uint64_t keys_max = 0;
  std::uint64_t keys_min = 0;    // a narrower window is widened to it ...
  std::uint64_t heavy_load = 0;  // ... unless it carries so much
  std::uint32_t samples_min = 0;
  std::uint32_t few_cuts_ppm = 1'000'000;
};

struct Window {
  ring::TokenRange range;
  std::uint64_t load = 0;
  std::uint64_t keys = 0;
  std::uint64_t cost = 1;        // bytes, with the piece's own
  std::uint32_t boundaries = 0;  // new ones: 0, 1 or 2

  // Whether it carries more load for its cost.
  bool denser_than(const Window& other) const {
    return Wide{load} * other.cost > Wide{other.load} * cost;
  }
  friend bool operator==(const Window&, const Window&) = default;
};

// nullopt when no window fits the limits.
std::optional<Window> densest_window(const Stretch& stretch, const Price& price,
                                     const WindowLimits& limits);

}  // namespace cleave::balance
