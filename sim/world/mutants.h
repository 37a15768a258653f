// Mutants: each rule of the move protocol that can be switched off (base/mutation.h), by name.
#pragma once

#include <span>
#include <string_view>

#include "base/mutation.h"

namespace cleave::sim {

struct Mutant {
  std::string_view name;
  std::string_view rule;  // of docs/formats/move-protocol.md
  bool Mutations::* flag;
};

std::span<const Mutant> all_mutants();
// nullptr: unknown.
const Mutant* find_mutant(std::string_view name);

}  // namespace cleave::sim
