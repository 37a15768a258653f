// Ranges as people read them in decisions and logs.
#pragma once

#include <string>
#include <vector>

#include "ring/token_range.h"

namespace cleave::control {

// The first three, then how many more: a move may have hundreds.
inline std::string describe(const std::vector<ring::TokenRange>& ranges) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < ranges.size() && i < kShown; ++i)
    text += (text.empty() ? "" : " ") + ring::to_string(ranges[i]);
  if (ranges.size() > kShown)
    text += " and " + std::to_string(ranges.size() - kShown) + " more ranges";
  return text;
}

}  // namespace cleave::control
