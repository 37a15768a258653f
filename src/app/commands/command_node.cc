#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/cli.h"
#include "app/text/stray_text.h"

namespace cleave::app {
namespace {

struct NodeOptions {
  std::string name;
  std::vector<std::string> members;
  std::uint32_t weight = 1;
  std::string hash_key;
  bool force = false;
};

void add_node_add(Cli& cli, CLI::App& group) {
  const auto options = std::make_shared<NodeOptions>();
  CLI::App& command = cli.add_remote(
      group,
      {.name = "add",
       .description = "a node joins; ranges move to it live, in stages",
       .example = "cleave node add e 127.0.0.1:7005"},
      [&cli, options] {
        const Json body = {{"name", options->name},
                           {"members", options->members},
                           {"weight", options->weight},
                           {"hash_key", options->hash_key},
                           {"force", options->force}};
        return cli.show(cli.client().post("/nodes", body), [&](const Json&) {
          std::cout << options->name << " joined; mark its server with `cleave adopt` if it is not "
                    << "yours yet\n";
        });
      });
  command.add_option("NAME", options->name)->required();
  command.add_option("ADDRESS", options->members, "the primary first, then replicas")->required();
  command.add_option("--weight", options->weight, "its share beside the others'")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command.add_option("--hash-key", options->hash_key,
                     "what the scheme hashes in place of the name");
  command.add_flag("--force", options->force, "also a server that does not answer now");
}

void add_node_drain(Cli& cli, CLI::App& group) {
  const auto name = std::make_shared<std::string>();
  CLI::App& command = cli.add_remote(
      group,
      {.name = "drain",
       .description = "a node shall leave; its ranges move away live, in stages",
       .example = "cleave node drain b"},
      [&cli, name] {
        return cli.show(cli.client().post("/nodes/" + encode_component(*name) + "/drain"),
                        [&](const Json& answer) {
                          std::cout << *name << " drains; remove it when it owns nothing\n";
                          if (!answer.contains("left_behind")) return;
                          const Json& strays = answer["left_behind"];
                          if (strays.value("seen", std::uint64_t{0}) == 0) return;
                          std::cout << "what will be left behind: " << stray_text(strays) << "\n";
                        });
      });
  command.add_option("NAME", *name)->required();
}

void add_node_undrain(Cli& cli, CLI::App& group) {
  const auto name = std::make_shared<std::string>();
  CLI::App& command = cli.add_remote(
      group,
      {.name = "undrain",
       .description = "take a drain back: the node stays, and gets its share again",
       .example = "cleave node undrain b"},
      [&cli, name] {
        return cli.show(cli.client().post("/nodes/" + encode_component(*name) + "/undrain"),
                        [&](const Json&) { std::cout << *name << " stays\n"; });
      });
  command.add_option("NAME", *name)->required();
}

void add_node_weight(Cli& cli, CLI::App& group) {
  const auto options = std::make_shared<NodeOptions>();
  CLI::App& command = cli.add_remote(
      group,
      {.name = "weight",
       .description = "change a node's share; ranges move live, in stages",
       .example = "cleave node weight b 2"},
      [&cli, options] {
        return cli.show(cli.client().post("/nodes/" + encode_component(options->name) + "/weight",
                                          {{"weight", options->weight}}),
                        [&](const Json&) {
                          std::cout << options->name << " has weight " << options->weight << "\n";
                        });
      });
  command.add_option("NAME", options->name)->required();
  command.add_option("WEIGHT", options->weight, "its share beside the others'")
      ->check(CLI::Range(1, 1'000))
      ->required();
}

struct RemoveOptions {
  std::string name;
  bool force = false;
};

void add_node_remove(Cli& cli, CLI::App& group) {
  const auto options = std::make_shared<RemoveOptions>();
  CLI::App& command = cli.add_remote(
      group,
      {.name = "remove",
       .description = "forget a node that owns nothing any more, unless keys are left there",
       .example = "cleave node remove b"},
      [&cli, options] {
        return cli.show(cli.client().remove("/nodes/" + encode_component(options->name) +
                                            (options->force ? "?force" : "")),
                        [&](const Json&) { std::cout << options->name << " is gone\n"; });
      });
  command.add_option("NAME", options->name)->required();
  command.add_flag("--force", options->force,
                   "also with keys on its server, which nobody looks for");
}

}  // namespace

void add_node(Cli& cli) {
  CLI::App& group = cli.add_group("node", "add, weigh, drain and remove nodes");
  add_node_add(cli, group);
  add_node_drain(cli, group);
  add_node_undrain(cli, group);
  add_node_weight(cli, group);
  add_node_remove(cli, group);
}

}  // namespace cleave::app
