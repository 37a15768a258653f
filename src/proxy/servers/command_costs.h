// CommandCosts: what each command of the servers' table costs them, found by its number.
//
// The leader tells prices by name (peer::RouterPeer::take_heat); names are looked up here once for
// new prices, so that a request pays for one read of an array (docs/ARCHITECTURE.md, "Heat").
//
// Threads: immutable; shared by all workers.
#pragma once

#include <cstdint>
#include <vector>

#include "heat/cost.h"
#include "route/command_table.h"

namespace cleave::proxy {

class CommandCosts {
 public:
  CommandCosts(const route::CommandTable& table, const heat::CommandPrices& prices)
      : by_ordinal_(table.ordinals(), heat::kCommandNsDefault) {
    for (const route::CommandSpec& spec : table.commands()) {
      const std::uint32_t whole = heat::price_of(prices, spec.name);
      by_ordinal_[spec.ordinal] = whole;
      // A server before 7.0 counts a command with all its subcommands under one name.
      for (const route::CommandSpec& sub : spec.subcommands) {
        const auto own = prices.find(sub.name);
        by_ordinal_[sub.ordinal] = own == prices.end() ? whole : own->second;
      }
    }
  }

  // Nanoseconds of one call, without its bytes. Requires: `spec` is of the same table.
  std::uint32_t ns(const route::CommandSpec& spec) const { return by_ordinal_[spec.ordinal]; }

 private:
  std::vector<std::uint32_t> by_ordinal_;
};

}  // namespace cleave::proxy
