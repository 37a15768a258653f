// Decimal numbers of the protocol. Internal to wire.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace cleave::wire {

inline bool is_digit(char byte) { return static_cast<unsigned char>(byte - '0') <= 9; }

// By the rule of Redis's string2ll: an optional '-', no leading zero, no blank, no "-0", in the
// range of int64.
inline std::optional<std::int64_t> parse_number(std::string_view text) {
  if (text == "0") return 0;
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 19 || text.front() == '0') return std::nullopt;
  std::uint64_t number = 0;  // 19 digits fit
  for (const char byte : text) {
    if (!is_digit(byte)) return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(byte - '0');
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (number > kMax + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - number : number);
}

// The usual length line, "<digits>\r\n" without a leading zero, from `at` on. Returns the place
// after it and sets `value`; nullptr when it is anything else (also: not complete), which is for a
// careful second look.
inline const char* read_length(const char* at, const char* end, std::int64_t& value) {
  constexpr std::ptrdiff_t kDigitsMax = 10;
  if (end - at < 3 || !is_digit(*at)) return nullptr;
  const char* const stop = end - at > kDigitsMax + 2 ? at + kDigitsMax : end - 2;
  std::int64_t number = *at - '0';
  const char* digit = at + 1;
  if (number == 0) {
    if (is_digit(*digit)) return nullptr;
  } else {
    while (digit != stop && is_digit(*digit)) number = number * 10 + (*digit++ - '0');
  }
  if (digit[0] != '\r' || digit[1] != '\n') return nullptr;
  value = number;
  return digit + 2;
}

}  // namespace cleave::wire
