#include <algorithm>
#include <cmath>
#include <memory>

#include "app/demo/demo_scenarios.h"
#include "app/signals.h"

namespace cleave::app {
namespace {

constexpr std::uint32_t kZipfThousandths = 1'100;

}  // namespace

Result<DemoResult> demo_hot(const DemoOptions& options) {
  hold_stop_signals();
  const Result<std::unique_ptr<DemoPool>> started =
      DemoPool::start({.nodes = options.nodes, .seed = options.seed, .verbose = options.verbose});
  if (!started) return std::unexpected(started.error());
  const DemoPool& pool = **started;
  Scenario scenario{.unit = "requests", .onset = "the hot set appeared"};
  scenario.load = demo_load(options, pool.router().addresses());
  scenario.load.keys.zipf_thousandths = kZipfThousandths;
  const ring::RingSnapshot view = pool.router().status().view;
  scenario.load.keys.hot_filter = [view](std::string_view key) {
    return view->owner(view->token_of(key)) == view->document().nodes.front().id;
  };
  scenario.measure = [&pool] { return pool.executed(kDemoCommands); };
  // The hottest key alone needs a node to itself.
  scenario.lower_bound = [&options](const std::vector<std::uint64_t>& shares) {
    const std::uint64_t most = *std::ranges::max_element(shares);
    return std::max(1.0, std::ldexp(static_cast<double>(most), -64) * options.nodes);
  };
  return run_demo(options, pool, std::move(scenario));
}

}  // namespace cleave::app
