// Commands that send one order to a running router and print what it answers: a row each of the
// table in order_commands.cc.
#pragma once

#include <string>
#include <string_view>

#include "app/cli.h"

namespace cleave::app {

// Adds the order of that name. Requires: the table has it, in no group.
void add_order(Cli& cli, std::string_view name);

// Adds a group, and all its orders.
void add_orders_of(Cli& cli, const std::string& group, const std::string& description);

}  // namespace cleave::app
