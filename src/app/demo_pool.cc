#include "app/demo_pool.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/entropy.h"
#include "app/log.h"
#include "app/signals.h"
#include "heat/cost.h"
#include "supervise/ask.h"

namespace cleave::app {
namespace {

constexpr milliseconds kLook{20};
constexpr int kLooksMax = 1'000;  // 20 s
constexpr milliseconds kAskTimeout{2'000};
constexpr std::uint16_t kFirstPort = 24'001;  // beside those of a `cleave up`

}  // namespace

Result<std::unique_ptr<DemoPool>> DemoPool::start(const Options& options) {
  std::unique_ptr<DemoPool> pool(new DemoPool);
  const Result<void> opened = pool->open(options);
  if (!opened) return std::unexpected(opened.error());
  return pool;
}

Result<void> DemoPool::open(const Options& given) {
  std::error_code failure;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
  if (failure) return fail(Code::kUnavailable, "no temporary directory: " + failure.message());
  directory_ = temporary / ("cleave-demo-" + random_name());
  ChildPoolOptions options;
  options.directory = directory_;
  options.nodes = given.nodes;
  options.port = options.admin_port = 0;
  options.first_server_port = kFirstPort;
  Result<std::unique_ptr<supervise::Children>> children = start_children(options);
  if (!children) return std::unexpected(children.error());
  children_ = std::move(*children);
  Result<std::unique_ptr<RouterProcess>> router =
      RouterProcess::start({.config = config_for(options, *children_),
                            .mark_new_servers = true,
                            .seed = given.seed,
                            .log = given.verbose ? std::function<void(const std::string&)>(log_info)
                                                 : [](const std::string&) {}});
  if (!router) return std::unexpected(router.error());
  router_ = std::move(*router);
  return wait_until_served();
}

Result<void> DemoPool::wait_until_served() const {
  for (int look = 0; look < kLooksMax; ++look) {
    if (router_->state() == RouterProcess::State::kServing) return {};
    if (router_->state() != RouterProcess::State::kStarting) {
      return std::unexpected(router_->error());
    }
    if (stop_wanted(kLook)) return fail(Code::kUnavailable, "stopped while starting");
  }
  return fail(Code::kTimeout, "the router does not begin to serve");
}

DemoPool::~DemoPool() {
  router_.reset();
  if (children_ != nullptr) {
    if (const Result<void> stopped = children_->stop(); !stopped) {
      log_error(stopped.error().message);
    }
    children_.reset();
  }
  std::error_code ignored;  // whoever cannot delete in a temporary directory cannot be helped here
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Result<std::map<std::string, std::uint64_t>> DemoPool::executed(
    const std::vector<std::string>& commands) const {
  std::map<std::string, std::uint64_t> counts;
  for (const supervise::Child& server : children_->list()) {
    const Result<std::vector<std::string>> answer =
        supervise::ask(server.address, {"INFO", "commandstats"}, kAskTimeout);
    if (!answer) return std::unexpected(answer.error());
    const Result<heat::CommandStats> stats =
        heat::parse_commandstats(answer->empty() ? "" : answer->front());
    if (!stats) return std::unexpected(stats.error());
    std::uint64_t& count = counts[server.name];
    for (const std::string& command : commands) {
      const auto found = stats->find(command);
      if (found != stats->end()) count += found->second.calls;
    }
  }
  return counts;
}

}  // namespace cleave::app
