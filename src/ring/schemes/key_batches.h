// Many look-ups in parts that fit into the first cache of a processor.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/ids.h"

namespace cleave::ring {

// Look-ups that run side by side: two rounds of MD5 in lanes (md5_lanes.h), and more
// reads of memory than a processor has under way at once.
inline constexpr std::size_t kKeyBatch = 32;

// Calls `look_up(keys, tokens, owners)` for one batch after another, each with as many keys, tokens
// (for it to fill) and owners. Requires: as many owners as keys.
template <class LookUp>
void for_each_key_batch(std::span<const std::string_view> keys, std::span<std::size_t> owners,
                        const LookUp& look_up) {
  CHECK(keys.size() == owners.size());
  std::array<std::optional<Token>, kKeyBatch> tokens;
  while (!keys.empty()) {
    const std::size_t count = std::min(kKeyBatch, keys.size());
    // While these are hashed, the next ones come from memory.
    for (const std::string_view next :
         keys.subspan(count).first(std::min(kKeyBatch, keys.size() - count))) {
      __builtin_prefetch(next.data());
    }
    look_up(keys.first(count), std::span(tokens).first(count), owners.first(count));
    keys = keys.subspan(count);
    owners = owners.subspan(count);
  }
}

}  // namespace cleave::ring
