// What the wire costs a request: one parse, one scan, one write. Target: below 40 ns for a SET.
#include <benchmark/benchmark.h>

#include <string>

#include "wire/resp.h"

namespace cleave::wire {
namespace {

void parse_requests(benchmark::State& state, const std::string& raw) {
  std::string stream;
  for (int i = 0; i < 64; ++i) stream += raw;
  RequestParser parser{Limits{}};
  Request request;
  std::string_view pending = stream;
  for (auto _ : state) {
    const auto taken = parser.parse(pending, request);
    benchmark::DoNotOptimize(request.args.data());
    pending.remove_prefix(*taken);
    if (pending.empty()) pending = stream;
  }
}

void scan_replies(benchmark::State& state, const std::string& raw) {
  ReplyScanner scanner{Limits{}};
  for (auto _ : state) {
    auto bytes = scanner.scan(raw);
    benchmark::DoNotOptimize(bytes);
  }
}

void BM_ParseSet(benchmark::State& state) {
  parse_requests(state, command({"SET", "key:000000123456", std::string(32, 'v')}));
}
void BM_ParseGet(benchmark::State& state) {
  parse_requests(state, command({"GET", "key:000000123456"}));
}
void BM_ParseInlineGet(benchmark::State& state) {
  parse_requests(state, "GET key:000000123456\r\n");
}

// 16 MiB that arrive in pieces of 16 KiB: the cost a byte must not grow with the size.
void BM_ParseLargeInPieces(benchmark::State& state) {
  const std::string raw = command({"SET", "k", std::string(std::size_t{16} << 20U, 'v')});
  RequestParser parser{Limits{}};
  Request request;
  for (auto _ : state) {
    for (std::size_t size = 16'384; size < raw.size(); size += 16'384) {
      benchmark::DoNotOptimize(parser.parse(std::string_view(raw).substr(0, size), request));
    }
    benchmark::DoNotOptimize(parser.parse(raw, request));
  }
}

void BM_ScanStatus(benchmark::State& state) { scan_replies(state, "+OK\r\n"); }
void BM_ScanInteger(benchmark::State& state) { scan_replies(state, ":1234\r\n"); }
void BM_ScanBulk(benchmark::State& state) {
  std::string raw;
  append_bulk(raw, std::string(32, 'v'));
  scan_replies(state, raw);
}
void BM_ScanArrayOf16(benchmark::State& state) {
  std::string raw;
  append_array_header(raw, 16);
  for (int i = 0; i < 16; ++i) append_bulk(raw, std::string(32, 'v'));
  scan_replies(state, raw);
}

void BM_WriteSet(benchmark::State& state) {
  const std::string value(32, 'v');
  const std::array<std::string_view, 3> args{"SET", "key:000000123456", value};
  std::string out;
  for (auto _ : state) {
    out.clear();
    append_command(out, args);
    benchmark::DoNotOptimize(out.data());
  }
}

BENCHMARK(BM_ParseSet);
BENCHMARK(BM_ParseGet);
BENCHMARK(BM_ParseInlineGet);
BENCHMARK(BM_ParseLargeInPieces);
BENCHMARK(BM_ScanStatus);
BENCHMARK(BM_ScanInteger);
BENCHMARK(BM_ScanBulk);
BENCHMARK(BM_ScanArrayOf16);
BENCHMARK(BM_WriteSet);

}  // namespace
}  // namespace cleave::wire
