#include "base/shown.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/hex.h"

namespace cleave {
namespace {

// A character of UTF-8; `size` 0: none begins here.
struct Character {
  std::uint32_t code = 0;
  std::size_t size = 0;
};

constexpr bool is_more(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

// By the Unicode Standard, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
Character character_at(std::string_view text) {
  static constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {.code = first, .size = 1};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0;
  if (size == 0 || size > text.size() || first >= 0xF8) return {};
  std::uint32_t code = first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (!is_more(text[i])) return {};
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[size] || code > 0x10FFFF || surrogate) return {};
  return {.code = code, .size = size};
}

// Whether it takes its place on the line and leaves the others theirs.
bool prints(std::uint32_t code) {
  const auto in = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  if (code < 0x20 || in(0x7F, 0x9F) || code == 0xAD) return false;
  if (code == 0x61C || in(0x200B, 0x200F) || in(0x2028, 0x202E)) return false;
  if (in(0x2060, 0x206F) || code == 0xFEFF || in(0xFFF0, 0xFFFB)) return false;
  return !in(0xFDD0, 0xFDEF) && (code & 0xFFFEU) != 0xFFFE && !in(0xE0000, 0x10FFFF);
}

std::string escaped(std::string_view text, std::string_view backslash) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = character_at(text);
    if (next.code == '\\') {
      out += backslash;
    } else if (next.size > 0 && prints(next.code)) {
      out += text.substr(0, next.size);
    } else {
      out += "\\x";
      append_hex(out, text[0]);
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(next.size);
  }
  return out;
}

}  // namespace

std::string shown(std::string_view bytes) { return escaped(bytes, "\\\\"); }

std::string printable(std::string_view text) { return escaped(text, "\\"); }

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (const char each : text) count += is_more(each) ? 0U : 1U;
  return count;
}

std::string shortened(std::string_view text, std::size_t characters_max) {
  const std::size_t count = characters(text);
  if (count <= characters_max) return std::string(text);
  CHECK(characters_max > 0);
  const std::size_t kept = characters_max - 1;  // beside the mark
  const std::size_t front = kept / 2;
  std::string out;
  std::size_t at = 0;  // number of the character, from 1 on
  for (const char each : text) {
    if (!is_more(each) && ++at == front + 1) out += "\xe2\x80\xa6";
    if (at <= front || at > count - (kept - front)) out.push_back(each);
  }
  return out;
}

std::string from_shown(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    std::size_t used = 1;
    char byte = text[0];
    if (text.starts_with("\\\\")) {
      used = 2;
    } else if (text.starts_with("\\x") && text.size() >= 4) {
      if (const auto escaped_byte = hex_byte(text[2], text[3])) {
        byte = *escaped_byte;
        used = 4;
      }
    }
    bytes.push_back(byte);
    text.remove_prefix(used);
  }
  return bytes;
}

}  // namespace cleave
