// A decimal number that is the whole text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace cleave {

// nullopt: no number, something after it, or out of range.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace cleave
