#include <iostream>
#include <string>

#include "app/commands/commands.h"
#include "app/text/table.h"
#include "app/times.h"

namespace cleave::app {
namespace {

void print_orders(const Json& json) {
  Table table({"when", "id", "fate", "from"});
  for (const Json& order : json.value("orders", Json::array())) {
    const std::string why = order.value("why", "");
    table.add({to_text(UnixMillis{order.value("at_ms", std::int64_t{0})}), order.value("id", ""),
               order.value("fate", ""), order.value("from", "")});
    table.note(order.value("order", "") + (why.empty() ? "" : ": " + why));
  }
  std::cout << table.text();
  for (const Json& router : json.value("missing", Json::array())) {
    std::cout << "router " << router.value("router", "")
              << " did not tell its own: " << router.value("why", "") << "\n";
  }
}

}  // namespace

void add_orders(Cli& cli) {
  cli.add_remote(cli.root(),
                 {.name = "orders",
                  .description = "the last hundred orders of all routers, and what became of each",
                  .example = "cleave orders"},
                 [&cli] { return cli.show(cli.client().get("/orders"), print_orders); });
}

}  // namespace cleave::app
