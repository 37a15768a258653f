#include "rehearse/scenes/naive_ring.h"

#include <bit>
#include <limits>

#include "base/check.h"
#include "ring/utf8.h"

namespace cleave::rehearse {
namespace {

// The code point that starts at `at`, which moves past it. Requires: well-formed UTF-8.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<std::uint8_t>(text[at++]);
  const int ones = std::countl_one(lead);  // 0: one byte; else the length of the sequence
  std::uint32_t point = lead & (0xFFU >> static_cast<unsigned>(ones + 1));
  for (int rest = 1; rest < ones; ++rest) {
    point = point << 6U | (static_cast<std::uint8_t>(text[at++]) & 0x3FU);
  }
  return point;
}

}  // namespace

std::int32_t java_hash(std::string_view text) {
  CHECK(ring::is_utf8(text));
  std::uint32_t hash = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t point = next_code_point(text, at);
    if (point < 0x10000) {
      hash = 31 * hash + point;
    } else {  // two units, a high and a low surrogate
      hash = 31 * hash + (0xD800 + ((point - 0x10000) >> 10U));
      hash = 31 * hash + (0xDC00 + ((point - 0x10000) & 0x3FFU));
    }
  }
  return static_cast<std::int32_t>(hash);
}

std::int32_t masked_hash(std::string_view text) { return java_hash(text) & 0x7FFFFFFF; }

std::int32_t absolute_hash(std::string_view text) {
  const std::int32_t hash = java_hash(text);
  if (hash == std::numeric_limits<std::int32_t>::min()) return hash;
  return hash < 0 ? -hash : hash;
}

const std::string& NaiveRing::owner(std::int32_t hash) const {
  const auto at_or_above = points_.lower_bound(hash);
  return at_or_above == points_.end() ? first() : at_or_above->second;
}

}  // namespace cleave::rehearse
