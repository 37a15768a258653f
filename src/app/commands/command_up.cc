#include <iostream>
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/log.h"
#include "app/serve/child_pool.h"
#include "app/serve/run_router.h"
#include "app/signals.h"

namespace cleave::app {
namespace {

void tell_how_to_go_on(const RouterProcess& process) {
  const std::string port = std::to_string(process.addresses().front().port);
  std::cerr << "\n  use it:    redis-cli -p " << port << "\n  look:      cleave status --admin "
            << net::to_string(process.admin_address()) << "\n  stop all:  Ctrl-C\n\n";
}

void tell_child(const supervise::ChildEvent& event) {
  const std::string line = "server " + event.name + ": " + event.message;
  if (event.kind == supervise::ChildEvent::Kind::kRestarted) {
    log_info(line);
  } else {
    log_error(line);
  }
}

int up(const Cli& cli, const ChildPoolOptions& options) {
  hold_stop_signals();
  Result<std::unique_ptr<supervise::Children>> children = start_children(options);
  if (!children) return cli.fail(kExitUsage, children.error());
  for (const supervise::Child& child : (*children)->list()) {
    log_info("server " + child.name + " at " + net::to_string(child.address) +
             (child.adopted ? ", adopted" : ", started"));
  }
  const std::unique_ptr<net::AsioLoop> loop = net::make_loop();
  (*children)->watch(*loop, tell_child);
  const int code = run_router(cli, *loop,
                              {.config = config_for(options, **children),
                               .mark_new_servers = true,
                               .serving = cli.json() ? nullptr : tell_how_to_go_on});
  const Result<void> stopped = (*children)->stop();
  children->reset();  // before the loop
  if (!stopped) return cli.fail(kExitFailed, stopped.error());
  if (code == kExitOk && cli.json()) Cli::print_json({{"stopped", true}});
  return code;
}

}  // namespace

void add_up(Cli& cli) {
  const auto options = std::make_shared<ChildPoolOptions>();
  options->directory = "cleave-data";
  CLI::App& command =
      cli.add(cli.root(),
              {.name = "up",
               .description = "start redis-servers and a router in front of them; Ctrl-C stops all",
               .example = "cleave up --nodes 4 --dir cleave-data"},
              [&cli, options] { return up(cli, *options); });
  command.add_option("--nodes", options->nodes, "how many servers")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--dir", options->directory, "where they keep their data")
      ->capture_default_str();
  command.add_option("--port", options->port, "for clients")->capture_default_str();
  command.add_option("--admin-port", options->admin_port, "of the HTTP interface")
      ->capture_default_str();
  command.add_option("--workers", options->workers, "threads that serve clients")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
}

}  // namespace cleave::app
