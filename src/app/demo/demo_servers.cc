#include "app/demo/demo_servers.h"

#include <filesystem>
#include <future>
#include <system_error>
#include <utility>

#include "app/entropy.h"
#include "app/log.h"
#include "app/serve/child_pool.h"
#include "app/signals.h"

namespace cleave::app {
namespace {

constexpr milliseconds kServedLook{20};
constexpr int kServedLooksMax = 1'000;  // 20 s
constexpr seconds kOrderTimeout{10};
constexpr std::uint16_t kFirstPort = 24'001;  // beside those of a `cleave up`

Result<void> wait_until_served(const RouterProcess& router) {
  for (int look = 0; look < kServedLooksMax; ++look) {
    if (router.state() == RouterProcess::State::kServing) return {};
    if (router.state() != RouterProcess::State::kStarting) return std::unexpected(router.error());
    if (stop_wanted(kServedLook)) return fail(Code::kUnavailable, "stopped while starting");
  }
  return fail(Code::kTimeout, "the router does not begin to serve");
}

ChildPoolOptions on_free_ports(const std::string& directory) {
  return {.directory = directory, .port = 0, .admin_port = 0, .first_server_port = kFirstPort};
}

}  // namespace

Result<void> DemoServers::start(std::uint32_t servers) {
  std::error_code failure;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
  if (failure) return fail(Code::kUnavailable, "no temporary directory: " + failure.message());
  directory_ = temporary / ("cleave-demo-" + random_name());
  ChildPoolOptions options = on_free_ports(directory_);
  options.nodes = servers;
  Result<std::unique_ptr<supervise::Children>> children = start_children(options);
  if (!children) return std::unexpected(children.error());
  children_ = std::move(*children);
  return {};
}

Config DemoServers::config() const { return config_for(on_free_ports(directory_), *children_); }

Result<std::unique_ptr<RouterProcess>> DemoServers::start_router(
    Config config, const RouterOptions& options) const {
  config.admin.address = {.host = "127.0.0.1", .port = 0};
  config.coordination.path = directory_ + "/cleave.db";
  config.coordination.saved_rings = config.coordination.path + ".rings";
  config.history_path = config.coordination.path + ".history";
  Result<std::unique_ptr<RouterProcess>> router =
      RouterProcess::start({.config = std::move(config),
                            .mark_new_servers = options.mark_new_servers,
                            .seed = options.seed,
                            .log = options.verbose ? std::function<void(const LogLine&)>(log_line)
                                                   : [](const LogLine&) {}});
  if (!router) return router;
  if (const Result<void> served = wait_until_served(**router); !served) {
    return std::unexpected(served.error());
  }
  return router;
}

DemoServers::~DemoServers() {
  if (children_ != nullptr) {
    if (const Result<void> stopped = children_->stop(); !stopped) {
      log_error(stopped.error().message);
    }
    children_.reset();
  }
  std::error_code ignored;  // whoever cannot delete in a temporary directory cannot be helped here
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Result<void> give_order(const RouterProcess& router, const Order& order) {
  // Shared: the answer may come after this has given up waiting.
  const auto answer = std::make_shared<std::promise<Result<void>>>();
  router.with_operator([&](control::Operator& order_taker) {
    order(order_taker, [answer](Result<void> done) { answer->set_value(std::move(done)); });
  });
  std::future<Result<void>> answered = answer->get_future();
  if (answered.wait_for(kOrderTimeout) == std::future_status::ready) return answered.get();
  return fail(Code::kTimeout, "the router does not answer an order");
}

}  // namespace cleave::app
