#include "ring/schemes/hashes/utf16.h"

#include <bit>
#include <limits>

#include "ring/utf8.h"

namespace cleave::ring {

std::uint32_t take_code_point(std::string_view& text) {
  const auto lead = static_cast<std::uint8_t>(text.front());
  const auto ones = static_cast<std::size_t>(std::countl_one(lead));
  if (ones == 0 || ones > text.size() || !is_utf8(text.substr(0, ones))) {
    text.remove_prefix(1);
    return ones == 0 ? lead : 0xFFFD;
  }
  std::uint32_t point = lead & (0xFFU >> (ones + 1));
  for (const char rest : text.substr(1, ones - 1)) {
    point = point << 6U | (static_cast<std::uint8_t>(rest) & 0x3FU);
  }
  text.remove_prefix(ones);
  return point;
}

std::int32_t java_string_hash(std::string_view text) {
  std::uint32_t hash = 0;
  for_each_utf16_unit(text, [&](std::uint16_t unit) { hash = 31 * hash + unit; });
  return static_cast<std::int32_t>(hash);
}

std::int32_t java_absolute_hash(std::string_view text) {
  const std::int32_t hash = java_string_hash(text);
  if (hash == std::numeric_limits<std::int32_t>::min()) return hash;
  return hash < 0 ? -hash : hash;
}

}  // namespace cleave::ring
