#include "ring/schemes/utf16.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "ring/utf8.h"

namespace cleave::ring {

std::vector<std::uint32_t> code_points(std::string_view text) {
  std::vector<std::uint32_t> points;
  points.reserve(text.size());
  while (!text.empty()) {
    const auto lead = static_cast<std::uint8_t>(text.front());
    const auto ones = static_cast<std::size_t>(std::countl_one(lead));
    const std::size_t size = ones == 0 ? 1 : ones;
    if (size > text.size() || !is_utf8(text.substr(0, size))) {
      points.push_back(0xFFFD);
      text.remove_prefix(1);
      continue;
    }
    std::uint32_t point = lead & (0xFFU >> (ones + 1));
    for (const char rest : text.substr(1, size - 1)) {
      point = point << 6U | (static_cast<std::uint8_t>(rest) & 0x3FU);
    }
    points.push_back(point);
    text.remove_prefix(size);
  }
  return points;
}

std::vector<std::uint16_t> utf16_units(std::string_view text) {
  std::vector<std::uint16_t> units;
  units.reserve(text.size());
  for (const std::uint32_t point : code_points(text)) {
    if (point < 0x10000) {
      units.push_back(static_cast<std::uint16_t>(point));
    } else {
      units.push_back(static_cast<std::uint16_t>(0xD800 + ((point - 0x10000) >> 10U)));
      units.push_back(static_cast<std::uint16_t>(0xDC00 + ((point - 0x10000) & 0x3FFU)));
    }
  }
  return units;
}

std::int32_t java_string_hash(std::string_view text) {
  std::uint32_t hash = 0;
  for (const std::uint16_t unit : utf16_units(text)) hash = 31 * hash + unit;
  return static_cast<std::int32_t>(hash);
}

std::int32_t java_absolute_hash(std::string_view text) {
  const std::int32_t hash = java_string_hash(text);
  if (hash == std::numeric_limits<std::int32_t>::min()) return hash;
  return hash < 0 ? -hash : hash;
}

}  // namespace cleave::ring
