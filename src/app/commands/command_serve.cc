#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/log.h"
#include "app/serve/run_router.h"
#include "app/signals.h"

namespace cleave::app {
namespace {

int serve(const Cli& cli, const std::string& file) {
  Result<Config> config = load_config(file);
  if (!config) return cli.fail(kExitUsage, config.error());
  set_log_format(config->log_format);
  hold_stop_signals();
  const std::unique_ptr<net::AsioLoop> loop = net::make_loop();
  const int code = run_router(
      cli, *loop, {.config = std::move(*config), .mark_new_servers = false, .serving = {}});
  if (code == kExitOk && cli.json()) Cli::print_json({{"stopped", true}});
  return code;
}

}  // namespace

void add_serve(Cli& cli) {
  const auto file = std::make_shared<std::string>();
  CLI::App& command = cli.add(cli.root(),
                              {.name = "serve",
                               .description = "a router for servers that run already",
                               .example = "cleave serve --config cleave.yaml"},
                              [&cli, file] { return serve(cli, *file); });
  command.add_option("--config", *file, "see docs/formats/config.md")->required();
}

}  // namespace cleave::app
