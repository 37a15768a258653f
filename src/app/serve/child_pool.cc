#include "app/serve/child_pool.h"

#include <utility>
#include <vector>

#include "app/log.h"
#include "supervise/node_files.h"

namespace cleave::app {
namespace {

// a, b, ... z, n27, n28, ...
std::string node_name(std::uint32_t index) {
  if (index < 26) return {static_cast<char>('a' + index)};
  return "n" + std::to_string(index + 1);
}

Result<std::vector<std::string>> names_of(const ChildPoolOptions& options) {
  std::vector<std::string> known = supervise::known_nodes(options.directory);
  if (!known.empty()) {
    if (known.size() == options.nodes) return known;
    const std::string count = std::to_string(known.size());
    return fail(Code::kInvalid, "the directory '" + options.directory + "' has " + count +
                                    " nodes: say --nodes " + count +
                                    ", or name another directory with --dir");
  }
  for (std::uint32_t i = 0; i < options.nodes; ++i) known.push_back(node_name(i));
  return known;
}

}  // namespace

Result<std::unique_ptr<supervise::Children>> start_children(const ChildPoolOptions& options) {
  Result<std::vector<std::string>> names = names_of(options);
  if (!names) return std::unexpected(names.error());
  supervise::Children::Options children;
  children.directory = options.directory;
  children.names = std::move(*names);
  children.first_port = options.first_server_port;
  children.log = log_info;
  return supervise::Children::start(std::move(children));
}

Config config_for(const ChildPoolOptions& options, const supervise::Children& children) {
  Config config;
  config.listeners = {
      {.address = {.host = "127.0.0.1", .port = options.port}, .pool = "main", .password = ""}};
  config.admin.address = {.host = "127.0.0.1", .port = options.admin_port};
  config.workers = options.workers;
  config.pool.name = "main";
  for (const supervise::Child& child : children.list()) {
    ring::Node node;
    node.name = child.name;
    node.members = {{.address = net::to_string(child.address), .rack = ""}};
    config.pool.nodes.push_back(std::move(node));
  }
  config.coordination.path = options.directory + "/cleave.db";
  config.coordination.saved_rings = config.coordination.path + ".rings";
  config.history_path = config.coordination.path + ".history";
  return config;
}

}  // namespace cleave::app
