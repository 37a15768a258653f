#include <memory>

#include "app/demo/demo_scenarios.h"
#include "app/signals.h"

namespace cleave::app {
namespace {

// Whether every move that the join asks for is over: nothing moves, and the new node has its share
// of the tokens, within what the balancer is content with.
bool filled(const control::Status& status) {
  if (!status.moves.empty() || status.plan == nullptr) return false;
  return std::ranges::none_of(status.plan->trigger.nodes, &balance::NodeTrigger::filling);
}

}  // namespace

Result<DemoResult> demo_scale_out(const DemoOptions& options) {
  hold_stop_signals();
  const Result<std::unique_ptr<DemoPool>> started = DemoPool::start(
      {.nodes = options.nodes, .spare = 1, .seed = options.seed, .verbose = options.verbose});
  if (!started) return std::unexpected(started.error());
  DemoPool& pool = **started;
  Scenario scenario{.unit = "requests", .onset = "one more node joined"};
  scenario.load = demo_load(options, pool.router().addresses());
  scenario.measure = [&pool] { return pool.executed(kDemoCommands); };
  scenario.begin = [&pool] { return pool.join_spare(); };
  scenario.settled = [&pool] { return filled(pool.router().status()); };
  scenario.keys_moved_least = options.keys / (options.nodes + 1);
  return run_demo(options, pool, std::move(scenario));
}

}  // namespace cleave::app
