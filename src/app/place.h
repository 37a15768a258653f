// Places on the ring as people type them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "ring/token_range.h"

namespace cleave::app {

// "0x00c0ffee00000000", or exactly 16 hexadecimal digits, is a token; everything else is a key.
std::optional<Token> as_token(std::string_view text);

// "FIRST-LAST" or "[FIRST,LAST]", two tokens, both inside. Errors: kInvalid.
Result<ring::TokenRange> parse_range(std::string_view text);

}  // namespace cleave::app
