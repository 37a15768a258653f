#include <memory>
#include <string>
#include <vector>

#include "app/demo/demo_scenarios.h"
#include "app/signals.h"

namespace cleave::app {
namespace {

constexpr std::uint64_t kMemoryMax = std::uint64_t{96} << 20U;  // of each server
// The tenant's users, each with a hash tag, so that what belongs to one lies together. All of it is
// above what makes the balancer act (85 % of the server), and fits into the server.
constexpr std::uint32_t kUsers = 40;
constexpr std::uint32_t kObjectsOfUser = 26;
constexpr std::uint32_t kTenantKeys = kUsers * kObjectsOfUser;
constexpr std::size_t kObjectBytes = 80'000;
constexpr std::uint64_t kObjectBytesHeld = 82'100;  // with what the server needs for it

// Users of the tenant whose tag lies on that node.
std::vector<std::string> users_on(const ring::RingView& view, NodeId node) {
  std::vector<std::string> users;
  for (std::uint32_t number = 1; users.size() < kUsers; ++number) {
    std::string user = "{tenant:" + std::to_string(number) + "}";
    if (view.owner(view.token_of(user)) == node) users.push_back(std::move(user));
  }
  return users;
}

}  // namespace

Result<DemoResult> demo_memory(const DemoOptions& options) {
  hold_stop_signals();
  const Result<std::unique_ptr<DemoPool>> started = DemoPool::start({.nodes = options.nodes,
                                                                     .memory_bytes_max = kMemoryMax,
                                                                     .seed = options.seed,
                                                                     .verbose = options.verbose});
  if (!started) return std::unexpected(started.error());
  const DemoPool& pool = **started;
  const auto freeze = [&pool](bool frozen) {
    return pool.order([frozen](control::Operator& order_taker, const control::Done<void>& done) {
      order_taker.pool().freeze(frozen, done);
    });
  };
  // So that the whole tenant is there before anything is done about it.
  if (const Result<void> frozen = freeze(true); !frozen) return std::unexpected(frozen.error());
  Scenario scenario{.unit = "bytes", .onset = "the balancer was let go"};
  scenario.counted = false;
  scenario.amount_of_key_max = kObjectBytesHeld;
  scenario.load = demo_load(options, pool.router().addresses());
  scenario.load.counter_share = scenario.load.erasable_share = 0;  // every key holds its value
  const ring::RingSnapshot view = pool.router().status().view;
  scenario.load.keys.name =
      [users = users_on(*view, view->document().nodes.front().id)](std::uint32_t key) {
        if (key >= kTenantKeys) return "key:" + std::to_string(key);
        return users[key / kObjectsOfUser] + ":object:" + std::to_string(key % kObjectsOfUser);
      };
  scenario.load.value_bytes_of = [usual = scenario.load.value_bytes](std::uint32_t key) {
    return key < kTenantKeys ? kObjectBytes : usual;
  };
  scenario.measure = [&pool] { return pool.bytes_used(); };
  // What is being copied counts on both sides: then all look more even than they are.
  scenario.settled = [&pool] { return pool.router().status().moves.empty(); };
  scenario.begin = [&freeze] { return freeze(false); };
  return run_demo(options, pool, std::move(scenario));
}

}  // namespace cleave::app
