#include "app/run_router.h"

#include <memory>

#include "app/entropy.h"
#include "app/log.h"
#include "app/signals.h"

namespace cleave::app {
namespace {

constexpr milliseconds kLook{20};

enum class Ended : std::uint8_t { kBySignal, kByRemoval, kByFailure };

Json addresses_of(const RouterProcess& process) {
  Json list = Json::array();
  for (const net::Address& address : process.addresses()) list.push_back(net::to_string(address));
  return list;
}

// The first thing that a script waits for.
void tell_ready(const Cli& cli, const RouterProcess& process) {
  const Json addresses = addresses_of(process);
  const std::string admin = net::to_string(process.admin_address());
  log_info("serving clients at " + addresses.dump() + ", admin at " + admin);
  if (cli.json()) {
    Cli::print_json({{"ready", true}, {"addresses", addresses}, {"admin", admin}});
  }
}

Ended wait_for_end(const Cli& cli, const RunOptions& options, const RouterProcess& process) {
  bool told = false;
  while (!stop_wanted(kLook)) {
    switch (process.state()) {
      case RouterProcess::State::kStarting: break;
      case RouterProcess::State::kServing:
        if (told) break;
        told = true;
        tell_ready(cli, process);
        if (options.serving) options.serving(process);
        break;
      case RouterProcess::State::kFailed: return Ended::kByFailure;
      case RouterProcess::State::kRemoved: return Ended::kByRemoval;
    }
  }
  return Ended::kBySignal;
}

}  // namespace

int run_router(const Cli& cli, const RunOptions& options) {
  while (true) {
    Result<std::unique_ptr<RouterProcess>> process =
        RouterProcess::start({.config = options.config,
                              .mark_new_servers = options.mark_new_servers,
                              .seed = random_bits(),
                              .log = log_info});
    if (!process) return cli.fail(kExitUsage, process.error());
    const Ended ended = wait_for_end(cli, options, **process);
    const Error why = (*process)->error();
    if (ended == Ended::kBySignal) log_info("stopping");
    process->reset();
    if (ended == Ended::kByFailure) return cli.fail(kExitUsage, why);
    if (ended == Ended::kBySignal) break;
    log_error(why.message + "; starting again under a new session");
  }
  if (cli.json()) Cli::print_json({{"stopped", true}});
  return kExitOk;
}

}  // namespace cleave::app
