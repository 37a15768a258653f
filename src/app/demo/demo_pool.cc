#include "app/demo/demo_pool.h"

#include <algorithm>
#include <utility>

#include "backend/commands.h"
#include "heat/cost.h"
#include "supervise/ask.h"

namespace cleave::app {
namespace {

constexpr milliseconds kAskTimeout{2'000};

}  // namespace

Result<std::unique_ptr<DemoPool>> DemoPool::start(const Options& options) {
  std::unique_ptr<DemoPool> pool(new DemoPool);
  const Result<void> opened = pool->open(options);
  if (!opened) return std::unexpected(opened.error());
  return pool;
}

Result<void> DemoPool::open(const Options& given) {
  if (const auto started = servers_.start(given.nodes + given.spare); !started) return started;
  if (const auto limited = limit_memory(given.memory_bytes_max); !limited) return limited;
  Config config = servers_.config();
  spare_.assign(config.pool.nodes.begin() + given.nodes, config.pool.nodes.end());
  config.pool.nodes.resize(given.nodes);
  Result<std::unique_ptr<RouterProcess>> router = servers_.start_router(
      std::move(config), {.mark_new_servers = true, .seed = given.seed, .verbose = given.verbose});
  if (!router) return std::unexpected(router.error());
  router_ = std::move(*router);
  return {};
}

Result<void> DemoPool::limit_memory(std::uint64_t bytes) const {
  if (bytes == 0) return {};
  for (const supervise::Child& server : servers_.children().list()) {
    const Result<std::vector<std::string>> set = supervise::ask(
        server.address, {"CONFIG", "SET", "maxmemory", std::to_string(bytes)}, kAskTimeout);
    if (!set) return std::unexpected(set.error());
  }
  return {};
}

Result<std::map<std::string, std::uint64_t>> DemoPool::executed(
    std::span<const std::string_view> commands) const {
  std::map<std::string, std::uint64_t> counts;
  for (const supervise::Child& server : servers_.children().list()) {
    const Result<std::vector<std::string>> answer =
        supervise::ask(server.address, {"INFO", "commandstats"}, kAskTimeout);
    if (!answer) return std::unexpected(answer.error());
    const Result<heat::CommandStats> stats =
        heat::parse_commandstats(answer->empty() ? "" : answer->front());
    if (!stats) return std::unexpected(stats.error());
    std::uint64_t& count = counts[server.name];
    for (const std::string_view command : commands) {
      const auto found = stats->find(command);
      if (found != stats->end()) count += found->second.calls;
    }
  }
  return counts;
}

Result<std::map<std::string, std::uint64_t>> DemoPool::bytes_used() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const supervise::Child& server : servers_.children().list()) {
    const Result<std::vector<std::string>> answer =
        supervise::ask(server.address, {"INFO", "memory"}, kAskTimeout);
    if (!answer) return std::unexpected(answer.error());
    const std::string text = answer->empty() ? "" : answer->front();
    const std::uint64_t used = backend::info_number(text, "used_memory");
    bytes[server.name] = used - std::min(used, backend::info_number(text, "used_memory_startup"));
  }
  return bytes;
}

Result<void> DemoPool::join_spare() {
  const ring::Node node = spare_.front();
  spare_.erase(spare_.begin());
  return order([&](control::Operator& order_taker, const control::Done<void>& done) {
    order_taker.nodes().add_node(node, [done](const Result<NodeId>& id) {
      done(id ? Result<void>() : std::unexpected(id.error()));
    });
  });
}

}  // namespace cleave::app
