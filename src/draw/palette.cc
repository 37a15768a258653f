#include "draw/palette.h"

#include <algorithm>
#include <cmath>

namespace cleave::draw {
namespace {

// Viridis at tenths.
constexpr std::array<Colour, 11> kHeat{{{68, 1, 84},
                                        {72, 36, 117},
                                        {65, 68, 135},
                                        {53, 95, 141},
                                        {42, 120, 142},
                                        {33, 145, 140},
                                        {34, 168, 132},
                                        {68, 191, 112},
                                        {122, 209, 81},
                                        {189, 223, 38},
                                        {253, 231, 37}}};

}  // namespace

Colour heat_colour(double level) {
  const double place = std::clamp(level, 0.0, 1.0) * static_cast<double>(kHeat.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kHeat.size() - 2);
  const double share = place - static_cast<double>(below);
  const auto mix = [&](std::uint8_t low, std::uint8_t high) {
    return static_cast<std::uint8_t>(std::lround(low + (high - low) * share));
  };
  const Colour& low = kHeat[below];
  const Colour& high = kHeat[below + 1];
  return {mix(low.red, high.red), mix(low.green, high.green), mix(low.blue, high.blue)};
}

}  // namespace cleave::draw
