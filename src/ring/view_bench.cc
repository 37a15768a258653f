// Cost of a lookup: `find` for uniform tokens, and with the key's hash in front.
#include "ring/view.h"

#include <benchmark/benchmark.h>

#include <array>
#include <string>

#include "base/check.h"
#include "base/rng.h"
#include "ring/edits.h"

namespace cleave::ring {
namespace {

RingSnapshot ring_of(std::int64_t count) {
  Creation creation{.pool = "bench", .mark = "m", .nodes = {}, .mode = Mode::kAuto, .now = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    Node node;
    node.name = "node-" + std::to_string(i);
    node.members = {{.address = node.name + ":6379", .rack = ""}};
    creation.nodes.push_back(node);
  }
  const auto document = create(creation);
  CHECK(document);
  const auto view = RingView::build(*document);
  CHECK(view);
  return *view;
}

void find_token(benchmark::State& state) {
  const RingSnapshot view = ring_of(state.range(0));
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(view->find(Token{rng.next()}));
}
BENCHMARK(find_token)->Arg(4)->Arg(100)->Arg(1'000);

void find_key(benchmark::State& state) {
  const RingSnapshot view = ring_of(state.range(0));
  std::array<std::string, 1'024> keys;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = "user:" + std::to_string(1'000'000 + i);
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(view->find(view->token_of(keys[at])));
    at = (at + 1) % keys.size();
  }
}
BENCHMARK(find_key)->Arg(4)->Arg(100)->Arg(1'000);

void build_view(benchmark::State& state) {
  const Document document = ring_of(state.range(0))->document();
  for (auto _ : state) benchmark::DoNotOptimize(RingView::build(document));
}
BENCHMARK(build_view)->Arg(4)->Arg(100)->Arg(1'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cleave::ring
