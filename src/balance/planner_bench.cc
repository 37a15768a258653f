// What a plan costs its loop: an idle pool, and pools with hot nodes, up to 10,000 nodes.
//
//   balance_bench --benchmark_filter=Plan
#include "balance/planner.h"

#include <benchmark/benchmark.h>

#include <algorithm>

#include "balance/closed_pool_testing.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kTokenLoad = 10'000'000;  // of a cool node in all, so that nobody is full

struct Shape {
  std::uint32_t nodes = 4;
  std::size_t tokens = 50'000;  // sampled
  std::uint32_t hot_nodes = 0;  // that carry three times as much as the others
  std::uint32_t cuts = 0;       // as load moves leave them
};

// Not evened by cuts: at 10,000 nodes that takes longer than everything measured here.
ring::Document document_of(const Shape& shape, Rng& rng) {
  ring::Document document;
  document.epoch = Epoch{1};
  document.pool = "bench";
  document.mark = "mark";
  for (std::uint32_t number = 1; number <= shape.nodes; ++number) {
    document.nodes.push_back(test_node(number));
  }
  document.next_node = NodeId{shape.nodes + 1};
  const std::uint64_t step = shape.cuts == 0 ? 0 : ~std::uint64_t{0} / shape.cuts;
  for (std::uint32_t at = 0; at < shape.cuts; ++at) {
    const std::uint64_t first = at * step + rng.below(step / 2);
    const NodeId owner{static_cast<std::uint32_t>(1 + rng.below(shape.nodes))};
    document.cuts.push_back({.range = {Token{first}, Token{first + step / 1'000}},
                             .node = owner,
                             .reason = "bench",
                             .created = UnixMillis{1},
                             .pinned_until = {}});
  }
  return document;
}

Input input_of(const Shape& shape) {
  Rng rng(7);
  Input input{.view = test_view(document_of(shape, rng))};
  heat::Picture& picture = input.picture;
  picture.epoch = input.view->epoch();
  picture.observed = seconds{3'600};
  const std::uint64_t unit = kTokenLoad * shape.nodes / shape.tokens / 100 + 1;
  for (std::size_t count = 0; count < shape.tokens; ++count) {
    const Token token{rng.next()};
    const bool hot = input.view->owner(token).value() <= shape.hot_nodes;
    picture.tokens.push_back({token, (1 + rng.below(1'000)) * unit * (hot ? 3 : 1), 20});
  }
  std::ranges::sort(picture.tokens, {}, &heat::TokenLoad::token);
  std::map<NodeId, heat::NodeLoad> loads;
  for (const ring::Node& node : input.view->document().nodes) loads[node.id].node = node.id;
  auto token = picture.tokens.begin();
  for (const ring::Entry& entry : input.view->entries()) {
    std::uint64_t load = 0;
    for (; token != picture.tokens.end() && token->token <= entry.range.last; ++token) {
      load += token->load;
    }
    heat::RangeLoad range{.range = entry.range, .node = entry.node};
    range.load = {.tick = load, .mean = load, .slow = load, .peak = load};
    loads[entry.node].load += range.load;
    picture.ranges.push_back(range);
  }
  for (const auto& [id, load] : loads) {
    picture.nodes.push_back(load);
    input.nodes.push_back({.id = id, .keys = 1'000'000, .bytes_per_key = 150});
  }
  picture.sources.push_back({.session = SessionId{"router"}, .recorder = 1, .load = 1});
  input.constants.calm_capacity_ppm = 1;
  input.now = UnixMillis{1'700'000'000'000};
  return input;
}

// A day of past moves, as busy as the calm rules let a pool of this size be.
void add_history(Input& input, std::size_t moves) {
  Rng rng(8);
  const auto any = [&] {
    return NodeId{static_cast<std::uint32_t>(1 + rng.below(input.nodes.size()))};
  };
  for (std::size_t count = 0; count < moves; ++count) {
    const std::uint64_t first = rng.next() / 2;
    const auto ago = static_cast<std::int64_t>(rng.below(86'400'000));
    input.history.push_back({.ranges = {{Token{first}, Token{first + 1'000'000'000}}},
                             .source = any(),
                             .destination = any(),
                             .ended = UnixMillis{input.now.value() - ago},
                             .keys = 100,
                             .predicted_gain = 1'000,
                             .real_gain = 900});
  }
}

void run(benchmark::State& state, const Input& input) {
  Plan result;
  for (auto _ : state) result = plan(input);
  state.counters["moves"] = static_cast<double>(result.moves.size());
  state.counters["merges"] = static_cast<double>(result.merges.size());
  state.counters["verdicts"] = static_cast<double>(result.verdicts.size());
  state.counters["entries"] = static_cast<double>(input.view->entries().size());
}

void BM_PlanIdle(benchmark::State& state) {
  run(state, input_of({.nodes = static_cast<std::uint32_t>(state.range(0)),
                       .tokens = static_cast<std::size_t>(state.range(1))}));
}
BENCHMARK(BM_PlanIdle)
    ->Args({4, 50'000})
    ->Args({64, 50'000})
    ->Args({10'000, 1'280'000})
    ->Unit(benchmark::kMillisecond);

void BM_PlanHot(benchmark::State& state) {
  Input input = input_of({.nodes = static_cast<std::uint32_t>(state.range(0)),
                          .tokens = static_cast<std::size_t>(state.range(1)),
                          .hot_nodes = static_cast<std::uint32_t>(state.range(2)),
                          .cuts = static_cast<std::uint32_t>(state.range(3))});
  input.trigger.engaged = Engaged::kHot;
  add_history(input, static_cast<std::size_t>(state.range(4)));
  run(state, input);
}
BENCHMARK(BM_PlanHot)
    ->ArgNames({"nodes", "tokens", "hot", "cuts", "history"})
    ->Args({4, 50'000, 1, 0, 0})
    ->Args({64, 50'000, 1, 1'000, 100})
    ->Args({10'000, 1'280'000, 1, 0, 0})
    ->Args({10'000, 1'280'000, 1, 9'000, 5'000})
    ->Args({10'000, 122'880, 1'000, 9'000, 5'000})
    ->Args({10'000, 1'280'000, 1'000, 9'000, 5'000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cleave::balance
