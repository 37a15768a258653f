// Damaged texts, for the tests of readers: what a bad disk, a slip in an editor or the wrong file
// makes of a good one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/rng.h"

namespace cleave {

// The text with one to four damages: a bit flipped, a byte replaced by any or by one that such
// texts have, a piece taken out or doubled, a piece of `other` put in, the end cut off. Mostly few
// and small, so that a reader gets far. Requires: `other` is not empty.
inline std::string damaged(std::string_view good, std::string_view other, Rng& rng) {
  constexpr std::size_t kPieceMax = 20;
  std::string text(good);
  std::uint64_t damages = 1 + rng.below(1 + rng.below(4));
  for (; damages > 0 && !text.empty(); --damages) {
    const std::size_t at = rng.below(text.size());
    const std::size_t size = 1 + rng.below(std::min(kPieceMax, text.size() - at));
    switch (rng.below(13)) {
      case 0:
      case 1: text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8))); break;
      case 2:
      case 3: text[at] = static_cast<char>(rng.below(256)); break;
      case 4:
      case 5: text[at] = other[rng.below(other.size())]; break;
      case 6:
      case 7: text.erase(at, size); break;
      case 8:
      case 9: text.insert(at, text.substr(at, size)); break;
      case 10:
      case 11: text.insert(at, other.substr(rng.below(other.size()), size)); break;
      default: text.resize(at);
    }
  }
  return text;
}

}  // namespace cleave
