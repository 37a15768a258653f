#include "ring/schemes/option_reader.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/to_number.h"
#include "ring/utf8.h"

namespace cleave::ring {
namespace {

constexpr std::size_t kShownBytesMax = 64;

}  // namespace

bool same_word(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return lowered(c); };
  return std::ranges::equal(left, right, {}, lower, lower);
}

std::string shown(std::string_view value) {
  if (value.size() <= kShownBytesMax) return std::string(value);
  return std::string(utf8_prefix(value, kShownBytesMax)) + "...";
}

std::optional<std::string_view> OptionReader::given(std::string_view name) const {
  const auto found = spec_.options.find(name);
  if (found == spec_.options.end()) return std::nullopt;
  return found->second;
}

std::uint64_t OptionReader::number(const NumberOption& option) {
  const auto text = given(option.name);
  if (!text) return option.fallback;
  const auto value = to_number<std::uint64_t>(*text);
  if (value && *value >= option.min && *value <= option.max) return *value;
  refuse_value(
      option.name, *text,
      "want a number from " + std::to_string(option.min) + " to " + std::to_string(option.max));
  return option.fallback;
}

bool OptionReader::flag(std::string_view name, bool fallback) {
  static constexpr std::array<Choice<bool>, 8> kFlags = {{{"true", true},
                                                          {"false", false},
                                                          {"yes", true},
                                                          {"no", false},
                                                          {"on", true},
                                                          {"off", false},
                                                          {"1", true},
                                                          {"0", false}}};
  return given(name) ? choice<bool>(name, kFlags) : fallback;
}

void OptionReader::refuse_value(std::string_view name, std::string_view text,
                                std::string_view want) {
  refuse(Code::kInvalid,
         "option " + std::string(name) + ": '" + shown(text) + "': " + std::string(want));
}

void OptionReader::refuse(Code code, const std::string& message) {
  if (!error_) error_ = Error{code, "scheme " + spec_.name + ": " + message};
}

bool OptionReader::fits(std::uint64_t points) {
  if (points <= kPlacedPointsMax) return true;
  refuse(Code::kExhausted, std::to_string(points) + " points or table entries, at most " +
                               std::to_string(kPlacedPointsMax) + " are possible");
  return false;
}

}  // namespace cleave::ring
