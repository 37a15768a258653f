// Mutants: each rule of the move protocol that can be switched off (base/mutation.h), by name; and
// routers that are set up so that they break a law of the balancer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/mutation.h"
#include "sim/world/profile.h"

namespace cleave::sim {

struct Mutant {
  std::string_view name;
  std::string_view rule;   // of docs/formats/move-protocol.md, or the law
  bool Mutations::* flag;  // nullptr: it is set up so
  Flavour met_in;          // the worlds in which the rule matters most
  void (*mislead)(Profile& profile) = nullptr;
  std::string_view told = {};  // with what the violations begin that count; empty: any does

  Mutations mutations() const;
  Profile profile(std::uint64_t seed) const;
};

std::span<const Mutant> all_mutants();
// nullptr: unknown.
const Mutant* find_mutant(std::string_view name);

}  // namespace cleave::sim
