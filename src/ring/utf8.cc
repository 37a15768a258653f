#include "ring/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cleave::ring {
namespace {

// Length of the sequence that a first byte announces, and the bounds of the byte after it (RFC
// 3629, section 4). Length 0: no sequence begins so.
struct Lead {
  std::size_t length = 0;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xBF;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Lead lead = lead_of(static_cast<std::uint8_t>(text[at]));
    if (lead.length == 0 || text.size() - at < lead.length) return false;
    for (std::size_t i = 1; i < lead.length; ++i) {
      const auto byte = static_cast<std::uint8_t>(text[at + i]);
      const bool good = i == 1 ? byte >= lead.second_min && byte <= lead.second_max
                               : byte >= 0x80 && byte <= 0xBF;
      if (!good) return false;
    }
    at += lead.length;
  }
  return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max) {
  const auto inside_character = [](char byte) {
    return (static_cast<std::uint8_t>(byte) & 0xC0U) == 0x80U;
  };
  std::size_t size = std::min(text.size(), bytes_max);
  while (size > 0 && size < text.size() && inside_character(text[size])) --size;
  return text.substr(0, size);
}

bool is_word(std::string_view text) {
  const auto control = [](char byte) { return static_cast<std::uint8_t>(byte) < 0x20; };
  return !text.empty() && text.size() <= kWordBytesMax && is_utf8(text) &&
         std::ranges::none_of(text, control);
}

}  // namespace cleave::ring
