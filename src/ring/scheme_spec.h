// The name of a placement scheme and its options, as people write them (docs/schemes.md).
//
// Threads: plain values.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace cleave::ring {

struct SchemeSpec {
  std::string name;
  std::map<std::string, std::string, std::less<>> options = {};

  friend bool operator==(const SchemeSpec&, const SchemeSpec&) = default;
};

}  // namespace cleave::ring
