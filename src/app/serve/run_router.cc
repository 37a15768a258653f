#include "app/serve/run_router.h"

#include <memory>

#include "admin/order_log.h"
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

// Looks for a signal and at the router's state, some times a second.
class Watch {
 public:
  Watch(const Cli& cli, net::AsioLoop& loop, const RunOptions& options,
        const RouterProcess& process)
      : cli_(cli), loop_(loop), options_(options), process_(process) {}

  // Runs the loop until there is an end.
  Ended wait() {
    look();
    loop_.run();
    return ended_;
  }

 private:
  void look() {
    if (stop_wanted(milliseconds{0})) return end(Ended::kBySignal);
    switch (process_.state()) {
      case RouterProcess::State::kStarting: break;
      case RouterProcess::State::kServing: tell_once(); break;
      case RouterProcess::State::kFailed: return end(Ended::kByFailure);
      case RouterProcess::State::kRemoved: return end(Ended::kByRemoval);
    }
    loop_.after(kLook, [this] { look(); });
  }
  void tell_once() {
    if (told_) return;
    told_ = true;
    tell_ready(cli_, process_);
    if (options_.serving) options_.serving(process_);
  }
  void end(Ended ended) {
    ended_ = ended;
    loop_.stop();
  }

  const Cli& cli_;
  net::AsioLoop& loop_;
  const RunOptions& options_;
  const RouterProcess& process_;
  Ended ended_ = Ended::kBySignal;
  bool told_ = false;
};

}  // namespace

int run_router(const Cli& cli, net::AsioLoop& loop, const RunOptions& options) {
  // The fate of an order outlives the session that took it.
  const auto orders =
      std::make_shared<admin::OrderLog>(random_name().substr(0, admin::OrderLog::kNameLength));
  while (true) {
    Result<std::unique_ptr<RouterProcess>> process =
        RouterProcess::start({.config = options.config,
                              .mark_new_servers = options.mark_new_servers,
                              .seed = random_bits(),
                              .log = log_line,
                              .orders = orders});
    if (!process) return cli.fail(kExitUsage, process.error());
    const Ended ended = Watch(cli, loop, options, **process).wait();
    const Error why = (*process)->error();
    if (ended == Ended::kBySignal) log_info("stopping");
    process->reset();
    if (ended == Ended::kByFailure) return cli.fail(kExitUsage, why);
    if (ended == Ended::kBySignal) return kExitOk;
    log_error(why.message + "; starting again under a new session");
  }
}

}  // namespace cleave::app
