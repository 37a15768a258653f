// Text as protocols and addresses know it: ASCII, whatever the locale says.
//
// Pure. Threads: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace cleave {

inline constexpr std::size_t kNameCharactersMax = 64;

constexpr char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& each : result) each = lowered(each);
  return result;
}

// A name that may stand in tables, labels of metrics and URLs as it is: 1 to kNameCharactersMax
// letters, digits, '-', '_', '.', or one of `more`.
constexpr bool is_plain_name(std::string_view text, std::string_view more = "") {
  const auto plain = [&](char c) {
    return (lowered(c) >= 'a' && lowered(c) <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || more.contains(c);
  };
  return !text.empty() && text.size() <= kNameCharactersMax && std::ranges::all_of(text, plain);
}

}  // namespace cleave
