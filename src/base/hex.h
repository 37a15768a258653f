// Bytes as hexadecimal digits, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleave {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// Of either case; -1: it is none.
constexpr int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// The byte of two digits; none where one is no digit.
constexpr std::optional<char> hex_byte(char high, char low) {
  if (hex_value(high) < 0 || hex_value(low) < 0) return std::nullopt;
  return static_cast<char>(hex_value(high) * 16 + hex_value(low));
}

// Two digits, in lower case.
inline void append_hex(std::string& text, char byte) {
  const auto value = static_cast<std::uint8_t>(byte);
  text += {kHexDigits[value >> 4U], kHexDigits[value & 0xFU]};
}

inline std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) append_hex(text, byte);
  return text;
}

// None where the text is not digits, two a byte.
inline std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto byte = hex_byte(digits[i], digits[i + 1]);
    if (!byte) return std::nullopt;
    bytes += *byte;
  }
  return bytes;
}

}  // namespace cleave
