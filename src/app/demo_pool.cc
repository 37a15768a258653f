#include "app/demo_pool.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <system_error>
#include <utility>

#include "app/entropy.h"
#include "app/log.h"
#include "app/signals.h"
#include "backend/commands.h"
#include "heat/cost.h"
#include "supervise/ask.h"

namespace cleave::app {
namespace {

constexpr milliseconds kLook{20};
constexpr int kLooksMax = 1'000;  // 20 s
constexpr milliseconds kAskTimeout{2'000};
constexpr seconds kOrderTimeout{10};
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
  options.nodes = given.nodes + given.spare;
  options.port = options.admin_port = 0;
  options.first_server_port = kFirstPort;
  Result<std::unique_ptr<supervise::Children>> children = start_children(options);
  if (!children) return std::unexpected(children.error());
  children_ = std::move(*children);
  if (const Result<void> limited = limit_memory(given.memory_bytes_max); !limited) return limited;
  Config config = config_for(options, *children_);
  spare_.assign(config.pool.nodes.begin() + given.nodes, config.pool.nodes.end());
  config.pool.nodes.resize(given.nodes);
  Result<std::unique_ptr<RouterProcess>> router =
      RouterProcess::start({.config = std::move(config),
                            .mark_new_servers = true,
                            .seed = given.seed,
                            .log = given.verbose ? std::function<void(const std::string&)>(log_info)
                                                 : [](const std::string&) {}});
  if (!router) return std::unexpected(router.error());
  router_ = std::move(*router);
  return wait_until_served();
}

Result<void> DemoPool::limit_memory(std::uint64_t bytes) const {
  if (bytes == 0) return {};
  for (const supervise::Child& server : children_->list()) {
    const Result<std::vector<std::string>> set = supervise::ask(
        server.address, {"CONFIG", "SET", "maxmemory", std::to_string(bytes)}, kAskTimeout);
    if (!set) return std::unexpected(set.error());
  }
  return {};
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

Result<std::map<std::string, std::uint64_t>> DemoPool::bytes_used() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const supervise::Child& server : children_->list()) {
    const Result<std::vector<std::string>> answer =
        supervise::ask(server.address, {"INFO", "memory"}, kAskTimeout);
    if (!answer) return std::unexpected(answer.error());
    const std::string text = answer->empty() ? "" : answer->front();
    const std::uint64_t used = backend::info_number(text, "used_memory");
    bytes[server.name] = used - std::min(used, backend::info_number(text, "used_memory_startup"));
  }
  return bytes;
}

Result<void> DemoPool::order(const Order& order) const {
  // Shared: the answer may come after this has given up waiting.
  const auto answer = std::make_shared<std::promise<Result<void>>>();
  router_->with_operator([&](control::Operator& operator_) {
    order(operator_, [answer](Result<void> done) { answer->set_value(std::move(done)); });
  });
  std::future<Result<void>> answered = answer->get_future();
  if (answered.wait_for(kOrderTimeout) == std::future_status::ready) return answered.get();
  return fail(Code::kTimeout, "the router does not answer an order");
}

Result<void> DemoPool::join_spare() {
  const ring::Node node = spare_.front();
  spare_.erase(spare_.begin());
  return order([&](control::Operator& operator_, const control::Operator::Done<void>& done) {
    operator_.add_node(node, [done](const Result<NodeId>& id) {
      done(id ? Result<void>() : std::unexpected(id.error()));
    });
  });
}

}  // namespace cleave::app
