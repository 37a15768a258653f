// The balancer's constants (balance/input/constants.h) by name, so that a command line and a
// configuration file may set each of them.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "balance/input/constants.h"
#include "base/result.h"

namespace cleave::balance {

// Times in milliseconds.
struct NamedConstant {
  std::string_view name;
  std::uint64_t value = 0;

  friend bool operator==(const NamedConstant&, const NamedConstant&) = default;
};

// All of them, in the order of the struct.
std::vector<NamedConstant> named_constants(const Constants& constants);

// Errors: kInvalid, names what is wrong: no such constant, or a value that does not fit it.
Result<void> set_constant(Constants& constants, std::string_view name, std::uint64_t value);

}  // namespace cleave::balance
