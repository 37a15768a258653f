// Texts as Java and Python see keys: characters, not bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cleave::ring {

// The code points of a UTF-8 text. Each byte that is part of no well-formed sequence becomes
// U+FFFD, so that keys of any bytes have a documented meaning.
std::vector<std::uint32_t> code_points(std::string_view text);

// The UTF-16 code units, ill-formed bytes as above.
std::vector<std::uint16_t> utf16_units(std::string_view text);

// String.hashCode: over UTF-16 units, h = 31 h + unit, wrapping at 32 bit.
std::int32_t java_string_hash(std::string_view text);

// Math.abs of it, which leaves -2^31 as it is.
std::int32_t java_absolute_hash(std::string_view text);

}  // namespace cleave::ring
