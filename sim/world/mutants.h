// Mutants: each rule of the move protocol that can be switched off (base/mutation.h), by name.
#pragma once

#include <span>
#include <string_view>

#include "base/mutation.h"
#include "sim/world/profile.h"

namespace cleave::sim {

struct Mutant {
  std::string_view name;
  std::string_view rule;  // of docs/formats/move-protocol.md
  bool Mutations::* flag;
  Flavour met_in;  // the worlds in which the rule matters most
};

std::span<const Mutant> all_mutants();
// nullptr: unknown.
const Mutant* find_mutant(std::string_view name);

}  // namespace cleave::sim
