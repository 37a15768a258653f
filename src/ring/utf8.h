// Is a text one that JSON can carry?
#pragma once

#include <cstddef>
#include <string_view>

namespace cleave::ring {

// True for well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view text);

// The longest beginning of at most `bytes_max` bytes that cuts no character of UTF-8.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);

inline constexpr std::size_t kWordBytesMax = 255;  // a name, an address, a rack, a session

// Whether it can be one: 1 to kWordBytesMax bytes of UTF-8 without control characters.
bool is_word(std::string_view text);

}  // namespace cleave::ring
