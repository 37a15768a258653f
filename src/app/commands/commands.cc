#include "app/commands/commands.h"

#include "app/commands/order_commands.h"

namespace cleave::app {

void add_node(Cli& cli) { add_orders_of(cli, "node", "add, weigh, drain and remove nodes"); }

void add_commands(Cli& cli) {
#define CLEAVE_ADD(name) add_##name(cli);
#define CLEAVE_ADD_ORDER(name) add_order(cli, #name);
  CLEAVE_COMMANDS(CLEAVE_ADD, CLEAVE_ADD_ORDER)
#undef CLEAVE_ADD
#undef CLEAVE_ADD_ORDER
}

}  // namespace cleave::app
