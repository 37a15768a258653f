#include "proxy/servers/command_costs.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/reply.h"

namespace cleave::proxy {
namespace {

using wire::Reply;

Reply list(std::vector<Reply> elements) {
  return {.type = Reply::Type::kArray, .text = {}, .elements = std::move(elements)};
}
Reply number(std::int64_t value) { return {.type = Reply::Type::kInteger, .integer = value}; }
Reply text(std::string value) { return {.type = Reply::Type::kBulk, .text = std::move(value)}; }

Reply command(const std::string& name, std::vector<Reply> subcommands) {
  return list({text(name), number(-2), list({}), number(0), number(0), number(0), list({}),
               list({}), list({}), list(std::move(subcommands))});
}

route::CommandTable table() {
  return *route::CommandTable::parse(
      list({command("get", {}),
            command("object", {command("object|freq", {}), command("object|encoding", {})})}));
}

TEST(CommandCosts, AreTheDefaultUntilThereIsAPrice) {
  const route::CommandTable commands = table();
  EXPECT_EQ(CommandCosts(commands, {}).ns(*commands.find("get")), heat::kCommandNsDefault);
}

TEST(CommandCosts, FindASubcommandByItsOwnNameOrTheWhole) {
  const route::CommandTable commands = table();
  const CommandCosts costs(commands, {{"get", 1}, {"object", 2}, {"object|freq", 3}});
  EXPECT_EQ(costs.ns(*commands.find("get")), 1U);
  const std::vector<std::string_view> freq{"OBJECT", "freq", "k"};
  const std::vector<std::string_view> encoding{"OBJECT", "ENCODING", "k"};
  EXPECT_EQ(costs.ns(*commands.find(freq)), 3U);
  EXPECT_EQ(costs.ns(*commands.find(encoding)), 2U);
}

}  // namespace
}  // namespace cleave::proxy
