// What counting costs a request: benchmark of Recorder::record, sampling and taking included.
//
//   heat_bench --benchmark_filter=Record
#include <benchmark/benchmark.h>

#include <array>
#include <string>

#include "base/check.h"
#include "base/rng.h"
#include "heat/recorder.h"
#include "ring/edits/edits.h"

namespace cleave::heat {
namespace {

constexpr std::size_t kKeys = 1U << 16U;
constexpr std::uint64_t kRequestsPerSecond = 200'000;  // what one worker serves

struct Request {
  std::string key;
  Token token;
  ring::RangeIndex index;
};

ring::RingSnapshot view_of(std::uint32_t nodes) {
  ring::Creation creation{.pool = "bench", .mark = "mark", .nodes = {}, .now = UnixMillis{1}};
  for (std::uint32_t id = 1; id <= nodes; ++id) {
    const std::string name = "n" + std::to_string(id);
    creation.nodes.push_back({.id = NodeId{id}, .name = name, .members = {{name + ":1", ""}}});
  }
  const Result<ring::Document> document = ring::create(creation);
  CHECK(document.has_value());
  return *ring::RingView::build(*document);
}

std::vector<Request> requests_of(const ring::RingView& view) {
  std::vector<Request> requests;
  Rng rng(7);
  for (std::size_t at = 0; at < kKeys; ++at) {
    const std::string key = "user:" + std::to_string(rng.below(1'000'000));
    const Token token = view.token_of(key);
    requests.push_back({key, token, view.find(token)});
  }
  return requests;
}

// 200,000 requests, then `take`, as one worker does in each second.
void BM_RecordOneSecond(benchmark::State& state) {
  const ring::RingSnapshot view = view_of(static_cast<std::uint32_t>(state.range(0)));
  const std::vector<Request> requests = requests_of(*view);
  Recorder recorder(1, Instant{0});
  recorder.set_view(view, Instant{0});
  Instant now{0};
  for (auto _ : state) {
    for (std::uint64_t count = 0; count < kRequestsPerSecond; ++count) {
      const Request& request = requests[count % kKeys];
      recorder.record(request.index, request.token, request.key,
                      count % 4 == 0 ? Access::kWrite : Access::kRead, 8'000);
    }
    now += seconds{1};
    benchmark::DoNotOptimize(recorder.take(now));
  }
  state.counters["per_request"] = benchmark::Counter(
      static_cast<double>(kRequestsPerSecond),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_RecordOneSecond)->Arg(4)->Arg(64);

// The same walk over the requests without counting, to be taken off.
void BM_WalkOneSecond(benchmark::State& state) {
  const ring::RingSnapshot view = view_of(static_cast<std::uint32_t>(state.range(0)));
  const std::vector<Request> requests = requests_of(*view);
  for (auto _ : state) {
    for (std::uint64_t count = 0; count < kRequestsPerSecond; ++count) {
      const Request& request = requests[count % kKeys];
      benchmark::DoNotOptimize(request.index);
      benchmark::DoNotOptimize(request.token);
    }
  }
  state.counters["per_request"] = benchmark::Counter(
      static_cast<double>(kRequestsPerSecond),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_WalkOneSecond)->Arg(4)->Arg(64);

}  // namespace
}  // namespace cleave::heat
