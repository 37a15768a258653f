// Running a router until somebody stops it: what `up` and `serve` have in common.
//
// Threads: the main thread.
#pragma once

#include <functional>

#include "app/cli.h"
#include "app/config/config.h"
#include "app/serve/process.h"
#include "net/asio_loop.h"

namespace cleave::app {

// How to run.
struct RunOptions {
  Config config;
  bool mark_new_servers = false;
  // Runs on the main thread each time the router begins to serve; may be empty.
  std::function<void(const RouterProcess&)> serving;
};

// Serves until a stop signal; a router whose session was removed from the ring starts again under a
// new one. Runs `loop` meanwhile, on this thread. Requires: hold_stop_signals was called. Gives the
// exit code; the object that ends the output is printed by the caller.
int run_router(const Cli& cli, net::AsioLoop& loop, const RunOptions& options);

}  // namespace cleave::app
