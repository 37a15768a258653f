// Colours that people with any colour vision can tell apart, and that survive a grey printer.
//
// Source: Okabe and Ito, "Color Universal Design" (2008), for lines and, with Tol's wine instead of
// black ("Colour Schemes", SRON 2021), for nodes; viridis (van der Walt and Smith, 2015), of
// equal perceived steps, for heat.
#pragma once

#include <array>

#include "draw/canvas.h"

namespace cleave::draw {

inline constexpr Colour kInk{38, 38, 38};
inline constexpr Colour kFaint{110, 110, 110};
inline constexpr Colour kGrid{226, 226, 226};
inline constexpr Colour kPaper{255, 255, 255};

inline constexpr Colour kBlue{0, 114, 178};
inline constexpr Colour kVermilion{213, 94, 0};
inline constexpr Colour kGreen{0, 158, 115};
inline constexpr Colour kOrange{230, 159, 0};
inline constexpr Colour kSky{86, 180, 233};
inline constexpr Colour kPurple{204, 121, 167};

// For up to five lines of one picture that must be told apart.
inline constexpr std::array kSeries{kVermilion, kBlue, kGreen, kPurple, kOrange};

// For any number of nodes: neighbours always differ in hue; from the ninth on hues come again in a
// lighter, then a darker shade. So many cannot be told apart by colour alone: charts name them,
// too.
Colour node_colour(std::size_t index);

// Black or white, whichever can be read on the colour.
Colour text_on(Colour ground);

// 0 is cold, 1 hot; what is outside is taken as the end.
Colour heat_colour(double level);

}  // namespace cleave::draw
