#include <algorithm>
#include <memory>

#include "app/demo_scenarios.h"
#include "app/signals.h"

namespace cleave::app {
namespace {

constexpr std::uint64_t kMemoryMax = std::uint64_t{96} << 20U;  // of each server
// What the tenant's values fill of its node: above what makes the balancer act (85 %), below what
// makes the server refuse writes.
constexpr std::uint64_t kTenantBytes = kMemoryMax / 100 * 82;
constexpr std::size_t kTenantValueBytes = 8'000;

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
    return pool.order(
        [frozen](control::Operator& operator_, const control::Operator::Done<void>& done) {
          operator_.freeze(frozen, done);
        });
  };
  // So that the whole tenant is there before anything is done about it.
  if (const Result<void> frozen = freeze(true); !frozen) return std::unexpected(frozen.error());
  Scenario scenario{.unit = "bytes", .onset = "the balancer was let go"};
  scenario.counted = false;
  scenario.load = demo_load(options, pool);
  scenario.load.counter_share = scenario.load.erasable_share = 0;  // every key holds its value
  // The tenant: keys of the first node, as many as it takes to fill it.
  const ring::RingSnapshot view = pool.router().status().view;
  const NodeId full = view->document().nodes.front().id;
  const load::Keys keys(scenario.load.keys);
  const auto tenant = std::make_shared<std::vector<bool>>(options.keys);
  std::uint64_t left = kTenantBytes / kTenantValueBytes;
  for (std::uint32_t key = 0; key < options.keys && left > 0; ++key) {
    if (view->owner(view->token_of(keys.name(key))) != full) continue;
    (*tenant)[key] = true;
    --left;
  }
  scenario.load.value_bytes_of = [tenant, usual = scenario.load.value_bytes](std::uint32_t key) {
    return (*tenant)[key] ? kTenantValueBytes : usual;
  };
  scenario.measure = [&pool] { return pool.bytes_used(); };
  scenario.begin = [&freeze] { return freeze(false); };
  return run_demo(options, pool, std::move(scenario));
}

}  // namespace cleave::app
