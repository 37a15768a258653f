// A pool whose servers are our own children: what `up` and the demonstrations run.
//
// Threads: the main thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/config/config.h"
#include "supervise/children.h"

namespace cleave::app {

// Where and how.
struct ChildPoolOptions {
  std::string directory;
  std::uint32_t nodes = 4;
  std::uint16_t port = 6380;        // of the router; 0 = any free one
  std::uint16_t admin_port = 7380;  // likewise
  std::uint32_t workers = 1;
  std::uint16_t first_server_port = 7'001;  // where the search for free ports begins
};

// Starts the children, or adopts those that run. A directory that has nodes keeps them: another
// number is refused. Errors: those of supervise::Children::start.
Result<std::unique_ptr<supervise::Children>> start_children(const ChildPoolOptions& options);

// The configuration of a router for them.
Config config_for(const ChildPoolOptions& options, const supervise::Children& children);

}  // namespace cleave::app
