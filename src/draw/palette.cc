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

constexpr std::array kHues{
    kBlue, kOrange, kGreen, kVermilion, kSky, kPurple, Colour{240, 228, 66}, Colour{136, 34, 85}};

// `share` of the way from one colour to the other.
Colour mixed(Colour from, Colour to, double share) {
  const auto mix = [&](std::uint8_t low, std::uint8_t high) {
    return static_cast<std::uint8_t>(std::lround(low + (high - low) * share));
  };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

}  // namespace

Colour node_colour(std::size_t index) {
  const Colour hue = kHues[index % kHues.size()];
  switch (index / kHues.size() % 3) {
    case 1: return mixed(hue, kPaper, 0.4);
    case 2: return mixed(hue, kInk, 0.4);
    default: return hue;
  }
}

Colour text_on(Colour ground) {
  // Luma of Rec. 601.
  const double light = 0.299 * ground.red + 0.587 * ground.green + 0.114 * ground.blue;
  return light > 140 ? kInk : kPaper;
}

Colour heat_colour(double level) {
  const double place = std::clamp(level, 0.0, 1.0) * static_cast<double>(kHeat.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kHeat.size() - 2);
  const double share = place - static_cast<double>(below);
  return mixed(kHeat[below], kHeat[below + 1], share);
}

}  // namespace cleave::draw
