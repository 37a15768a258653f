// Touched: elements of one key that writes have finished on, as routers tell them to a driver
// (protocol rule 27).
//
// Threads: values.
#pragma once

#include <string>
#include <vector>

namespace cleave {

// Fields of a hash, or members of a set or sorted set. Each once, in the order of their bytes.
struct Touched {
  std::string key;
  std::vector<std::string> elements;

  friend bool operator==(const Touched&, const Touched&) = default;
};

}  // namespace cleave
