// Places on the ring as people type them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "ring/token_range.h"

namespace cleave::app {

// "0x00c0ffee00000000", or exactly 16 hexadecimal digits, is a token; everything else is a key
// (nullopt). Errors: kInvalid for what begins with 0x and is no token: a slip of the finger must
// not become a key. A key that begins so is written \\x30x...
Result<std::optional<Token>> as_token(std::string_view text);

// "FIRST-LAST" or "[FIRST,LAST]", two tokens, both inside. Errors: kInvalid.
Result<ring::TokenRange> parse_range(std::string_view text);

}  // namespace cleave::app
