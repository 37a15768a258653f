// A reply as a tree, for the few places that look inside (never the data path).
//
// Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cleave::wire {

struct Reply {
  enum class Type : std::uint8_t { kStatus, kError, kInteger, kBulk, kNull, kArray };
  Type type = Type::kNull;
  std::string text{};  // status, error (without '-'), bulk
  std::int64_t integer = 0;
  std::vector<Reply> elements{};

  bool is_error() const { return type == Type::kError; }
  friend bool operator==(const Reply&, const Reply&) = default;
};

// Requires nothing of `raw`; errors: kInvalid when it is not exactly one whole reply.
// Cost: O(bytes), an allocation an element.
Result<Reply> parse_reply(std::string_view raw);

}  // namespace cleave::wire
