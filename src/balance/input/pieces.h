// Which pieces of a node make up about the wanted load at the least price: densest windows first,
// then, when no window is worth a cut, whole ranges.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include "balance/input/constants.h"
#include "balance/input/window.h"

namespace cleave::balance {

// How much of what is wanted.
struct Appetite {
  std::uint64_t load = 0;        // wanted
  std::uint64_t load_min = 0;    // less is not worth a move
  std::uint64_t keys_max = 0;    // all pieces together
  std::uint32_t cuts_max = 0;    // likewise, cuts that the document grows by
  std::uint64_t piece_min = 0;   // load of a window that is worth a cut
  std::uint64_t heavy_load = 0;  // of a token that is worth a cut of its own
  std::uint64_t piece_keys = 0;  // a lighter window has at least so many keys
};

// What was chosen, and why it is not more.
struct Pieces {
  std::vector<Window> windows = {};  // in the order chosen, disjoint
  std::uint64_t load = 0;
  std::uint64_t keys = 0;
  bool lacked_keys = false;  // more would have been taken with a larger budget
  bool lacked_cuts = false;
};

// The most cuts that moving a window can add: itself, and the rest of a cut that it splits in two.
constexpr std::uint32_t cuts_of(const Window& window) { return window.boundaries == 2 ? 2 : 1; }

Pieces choose_pieces(const std::vector<Stretch>& stretches, const Price& price,
                     const Appetite& appetite, const Constants& constants);

}  // namespace cleave::balance
