// Cost of placing keys of 16 bytes on 100 nodes, by scheme, and of building large rings.
#include "ring/schemes/placement.h"

#include <benchmark/benchmark.h>

#include <array>
#include <string>

#include "base/check.h"
#include "base/rng.h"

namespace cleave::ring {
namespace {

std::shared_ptr<const Placement> placement_of(const SchemeSpec& spec, std::int64_t count) {
  std::vector<PlacedNode> nodes;
  for (std::int64_t i = 0; i < count; ++i) nodes.push_back({"node-" + std::to_string(i)});
  const auto placement = place(spec, nodes);
  CHECK(placement);
  return *placement;
}

const std::array<SchemeSpec, 6>& bench_specs() {
  static const std::array<SchemeSpec, 6> kSpecs = {
      {{"vnode"},
       {"murmur64a-vnode", {{"points", "160"}}},
       {"jedis"},
       {"libmemcached-ketama-weighted"},
       {"libmemcached-ketama-weighted", {{"hash", "fnv1a_64"}}},
       {"nginx", {{"method", "consistent"}}}}};
  return kSpecs;
}

void own_key(benchmark::State& state) {
  const SchemeSpec& spec = bench_specs()[static_cast<std::size_t>(state.range(0))];
  const auto placement = placement_of(spec, 100);
  std::array<std::string, 1'024> keys;
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = "user:" + std::to_string(10'000'000'000 + i);
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(placement->owner(keys[at]));
    at = (at + 1) % keys.size();
  }
  state.SetLabel(spec.name);
}
BENCHMARK(own_key)->DenseRange(0, 5);

void own_token(benchmark::State& state) {
  const auto placement = placement_of({"murmur64a-vnode", {{"points", "100"}}}, state.range(0));
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(placement->owner(Token{rng.next()}));
}
BENCHMARK(own_token)->Arg(1)->Arg(100)->Arg(10'000);

void build(benchmark::State& state) {
  const SchemeSpec& spec = bench_specs()[static_cast<std::size_t>(state.range(0))];
  for (auto _ : state) benchmark::DoNotOptimize(placement_of(spec, 10'000));
  state.SetLabel(spec.name);
}
BENCHMARK(build)->DenseRange(0, 5)->Unit(benchmark::kMillisecond)->Iterations(2);

}  // namespace
}  // namespace cleave::ring
