// What a plan costs its loop: an idle pool, and one with a hot node, for pools of several sizes.
//
//   balance_bench --benchmark_filter=Plan
#include "balance/planner.h"

#include <benchmark/benchmark.h>

#include <algorithm>

#include "balance/test_world.h"

namespace cleave::balance {
namespace {

// `tokens` sampled tokens on `nodes` nodes; the first node's carry `times` as much as the others'.
Input input_of(std::uint32_t nodes, std::size_t tokens, std::uint64_t times) {
  Input input{.view = test_view(test_document(nodes))};
  heat::Picture& picture = input.picture;
  picture.epoch = input.view->epoch();
  Rng rng(7);
  for (std::size_t count = 0; count < tokens; ++count) {
    const Token token{rng.next()};
    const bool hot = input.view->owner(token) == NodeId{1};
    picture.tokens.push_back({token, (1 + rng.below(1'000)) * 10'000 * (hot ? times : 1), 20});
  }
  std::ranges::sort(picture.tokens, {}, &heat::TokenLoad::token);
  std::map<NodeId, heat::NodeLoad> loads;
  auto token = picture.tokens.begin();
  for (const ring::Entry& entry : input.view->entries()) {
    std::uint64_t load = 0;
    for (; token != picture.tokens.end() && token->token <= entry.range.last; ++token) {
      load += token->load;
    }
    heat::RangeLoad range{.range = entry.range, .node = entry.node};
    range.load = {.tick = load, .mean = load, .slow = load, .peak = load};
    loads[entry.node].node = entry.node;
    loads[entry.node].load += range.load;
    picture.ranges.push_back(range);
  }
  for (const auto& [id, load] : loads) {
    picture.nodes.push_back(load);
    input.nodes.push_back({.id = id, .keys = 1'000'000, .bytes_per_key = 150});
  }
  picture.sources.push_back({.session = SessionId{"router"}, .recorder = 1, .load = 1});
  input.now = UnixMillis{1'700'000'000'000};
  return input;
}

void BM_PlanIdle(benchmark::State& state) {
  const Input input = input_of(static_cast<std::uint32_t>(state.range(0)),
                               static_cast<std::size_t>(state.range(1)), 1);
  for (auto _ : state) benchmark::DoNotOptimize(plan(input));
}
BENCHMARK(BM_PlanIdle)->Args({4, 50'000})->Args({64, 50'000})->Unit(benchmark::kMillisecond);

void BM_PlanHot(benchmark::State& state) {
  Input input = input_of(static_cast<std::uint32_t>(state.range(0)),
                         static_cast<std::size_t>(state.range(1)), 3);
  input.trigger.engaged = Engaged::kHot;
  std::size_t moves = 0;
  for (auto _ : state) moves = plan(input).moves.size();
  state.counters["moves"] = static_cast<double>(moves);
}
BENCHMARK(BM_PlanHot)->Args({4, 50'000})->Args({64, 50'000})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cleave::balance
