// What a tick of the leader's books costs its loop, with the samples of `range(1)` workers.
//
//   heat_bench --benchmark_filter=Ledger
#include "heat/ledger.h"

#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "heat/ring_testing.h"

namespace cleave::heat {
namespace {

std::vector<Report> reports_of(const ring::RingView& view, std::uint64_t workers, Rng& rng,
                               std::uint64_t sequence) {
  std::vector<Report> reports;
  for (std::uint64_t worker = 1; worker <= workers; ++worker) {
    Report report{.recorder = worker, .sequence = sequence, .epoch = view.epoch()};
    report.covers = seconds{2};
    for (const ring::Entry& entry : view.entries()) {
      report.sums.push_back({entry.range, entry.node, 100, 10, 100'000'000});
    }
    for (int count = 0; count < 4'000; ++count)
      report.samples.push_back({Token{rng.next()}, 8'000});
    reports.push_back(std::move(report));
  }
  return reports;
}

void BM_LedgerTick(benchmark::State& state) {
  const ring::RingSnapshot view =
      test_view(test_document(static_cast<std::uint32_t>(state.range(0))));
  Rng rng(1);
  Instant now{0};
  Ledger ledger(now);
  ledger.set_view(view);
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto reports =
        reports_of(*view, static_cast<std::uint64_t>(state.range(1)), rng, ++sequence);
    state.ResumeTiming();
    now += seconds{2};
    for (const Report& each : reports) ledger.fold(SessionId{"router"}, each, now);
    ledger.tick(now);
    benchmark::DoNotOptimize(ledger.picture(now));
  }
}
BENCHMARK(BM_LedgerTick)->Args({4, 1})->Args({4, 4})->Args({64, 4})->Unit(benchmark::kMillisecond);

void BM_LedgerSetView(benchmark::State& state) {
  const ring::RingSnapshot view =
      test_view(test_document(static_cast<std::uint32_t>(state.range(0))));
  Rng rng(1);
  Instant now{0};
  Ledger ledger(now);
  ledger.set_view(view);
  for (std::uint64_t sequence = 1; sequence <= 15; ++sequence) {
    now += seconds{2};
    for (const Report& each : reports_of(*view, 4, rng, sequence)) {
      ledger.fold(SessionId{"router"}, each, now);
    }
    ledger.tick(now);
  }
  for (auto _ : state) ledger.set_view(view);
}
BENCHMARK(BM_LedgerSetView)->Arg(4)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cleave::heat
