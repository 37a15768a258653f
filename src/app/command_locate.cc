#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/cli.h"
#include "app/table.h"

namespace cleave::app {
namespace {

int locate(const Cli& cli, const std::vector<std::string>& keys) {
  Json places = Json::array();
  for (const std::string& key : keys) {
    const AdminClient::Answer place = cli.client().get("/locate?key=" + encode_component(key));
    if (!place) return cli.show(place, {});
    places.push_back(*place);
  }
  return cli.show(Json{{"keys", places}}, [](const Json& json) {
    Table table({"key", "node", "address", "token"});
    for (const Json& place : json["keys"]) {
      table.add({place.value("key", ""), place.value("node", ""), place.value("address", ""),
                 "0x" + place.value("token", "")});
    }
    std::cout << table.text();
  });
}

}  // namespace

void add_locate(Cli& cli) {
  const auto keys = std::make_shared<std::vector<std::string>>();
  CLI::App& command = cli.add_remote(cli.root(),
                                     {.name = "locate",
                                      .description = "which node keys are on",
                                      .example = "cleave locate user:1 user:2"},
                                     [&cli, keys] { return locate(cli, *keys); });
  command.add_option("KEY", *keys, "one or more keys")->required();
}

}  // namespace cleave::app
