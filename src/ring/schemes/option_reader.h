// Reads the options of a scheme, and keeps the first complaint, so that a scheme reads all it needs
// in straight lines and is asked for an error once. For the files of this folder.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

// A value that an option may have, by its name.
template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// Whether the words differ in the case of ASCII letters at most.
bool same_word(std::string_view left, std::string_view right);

// A value as a message may show it: the beginning of a long one.
std::string shown(std::string_view value);

// A number that an option may give, in min..max.
struct NumberOption {
  std::string_view name;
  std::uint64_t fallback;
  std::uint64_t min;
  std::uint64_t max;
};

class OptionReader {
 public:
  explicit OptionReader(const SchemeSpec& spec) : spec_(spec) {}

  // What was given; nullopt when nothing was.
  std::optional<std::string_view> given(std::string_view name) const;

  // The value named, in upper or lower case; the first choice when none is given or it is refused.
  template <class T>
  T choice(std::string_view name, std::span<const Choice<T>> choices) {
    const auto text = given(name);
    if (!text) return choices.front().value;
    std::string names;
    for (const Choice<T>& each : choices) {
      if (same_word(each.name, *text)) return each.value;
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
    refuse_value(name, *text, "want one of: " + names);
    return choices.front().value;
  }

  // Decimal, in min..max.
  std::uint64_t number(const NumberOption& option);

  // true, yes, on, 1; false, no, off, 0.
  bool flag(std::string_view name, bool fallback);

  void refuse_value(std::string_view name, std::string_view text, std::string_view want);
  void refuse(Code code, const std::string& message);

  // Whether that many points or table entries are within the limit; refuses if not.
  bool fits(std::uint64_t points);

  const std::optional<Error>& error() const { return error_; }

 private:
  const SchemeSpec& spec_;
  std::optional<Error> error_;
};

}  // namespace cleave::ring
