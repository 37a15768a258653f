// What one child server has on disk, below the directory of `cleave up`:
//
//   DIR/lock                   held by the running `cleave up`
//   DIR/nodes/<name>/port      the port it was given, kept for the next `up`
//                    redis.conf   written anew at each start
//                    redis.log, redis.pid
//                    data/        the server's own
//
// Errors of all: those of supervise/files.h, and as said. Threads: any.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace cleave::supervise {

struct NodeFiles {
  std::string directory;  // absolute, as are all
  std::string data;
  std::string config;
  std::string log;
  std::string pid;
  std::string port;
};

// Makes the directories. `directory` must exist. Errors: kInvalid when the name is not made of
// letters, digits, '-' and '_' (it becomes a file name), or the path cannot stand in a redis.conf.
Result<NodeFiles> make_node_files(const std::string& directory, const std::string& name);

// Names of the nodes that the directory has, sorted; none if it does not exist.
std::vector<std::string> known_nodes(const std::string& directory);

// Errors: kNotFound (never given), kInvalid (the file holds no port).
Result<std::uint16_t> remembered_port(const NodeFiles& files);
Result<void> remember_port(const NodeFiles& files, std::uint16_t port);

// Ports that the nodes of the directory were given, running or not.
std::set<std::uint16_t> given_ports(const std::string& directory);

// The first port from `first` on that is not in `taken` and that nobody listens on at 127.0.0.1.
// Below the range from which the system gives out ports by itself, so that no connection takes it
// while the server is down. Errors: kUnavailable.
Result<std::uint16_t> find_free_port(std::uint16_t first, const std::set<std::uint16_t>& taken);

// redis.conf of a child: loopback only, an append-only file synced each second, no snapshots.
std::string redis_config(const NodeFiles& files, std::uint16_t port);

}  // namespace cleave::supervise
