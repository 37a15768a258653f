// Is a text one that JSON can carry?
#pragma once

#include <string_view>

namespace cleave::ring {

// True for well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view text);

}  // namespace cleave::ring
