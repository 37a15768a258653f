// Texts as Java and Python see keys: characters, not bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace cleave::ring {

// Takes the first code point off a text that is UTF-8. A byte that is part of no well-formed
// sequence is U+FFFD, so that keys of any bytes have a documented meaning. Requires: not empty.
std::uint32_t take_code_point(std::string_view& text);

// `visit(std::uint16_t)` for each UTF-16 code unit, ill-formed bytes as above; no allocation.
template <class Visit>
void for_each_utf16_unit(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::uint32_t point = take_code_point(text);
    if (point < 0x10000) {
      visit(static_cast<std::uint16_t>(point));
    } else {
      visit(static_cast<std::uint16_t>(0xD800 + ((point - 0x10000) >> 10U)));
      visit(static_cast<std::uint16_t>(0xDC00 + ((point - 0x10000) & 0x3FFU)));
    }
  }
}

// String.hashCode: over UTF-16 units, h = 31 h + unit, wrapping at 32 bit.
std::int32_t java_string_hash(std::string_view text);

// Math.abs of it, which leaves -2^31 as it is.
std::int32_t java_absolute_hash(std::string_view text);

}  // namespace cleave::ring
