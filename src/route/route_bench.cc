// What a decision costs. Target: below 60 ns for GET and SET.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "route/route.h"

namespace cleave::route {
namespace {

// As large as a server's table; four of its commands are real.
CommandTable table() {
  std::vector<std::string> names{"get", "set", "del", "mget"};
  for (int i = 0; i < 236; ++i) names.push_back("command" + std::to_string(i));
  std::string raw;
  wire::append_array_header(raw, names.size());
  for (const std::string& name : names) {
    wire::append_array_header(raw, 6);
    wire::append_bulk(raw, name);
    wire::append_integer(raw, -2);
    wire::append_array_header(raw, 1);
    wire::append_status(raw, name == "get" || name == "mget" ? "readonly" : "write");
    wire::append_integer(raw, 1);
    wire::append_integer(raw, name == "mget" || name == "del" ? -1 : 1);
    wire::append_integer(raw, 1);
  }
  return *CommandTable::parse(*wire::parse_reply(raw));
}

ring::RingSnapshot view() {
  ring::Document document;
  document.epoch = Epoch{1};
  document.pool = "main";
  document.mark = "m";
  for (std::uint32_t id = 1; id <= 3; ++id) {
    const std::string name = "node" + std::to_string(id);
    const std::string address = "127.0.0.1:" + std::to_string(7000 + id);
    document.nodes.push_back(
        {.id = NodeId{id}, .name = name, .members = {{.address = address, .rack = ""}}});
  }
  document.next_node = NodeId{4};
  return *ring::RingView::build(std::move(document));
}

void route_one(benchmark::State& state, std::vector<std::string_view> args) {
  const CommandTable commands = table();
  const ring::RingSnapshot ring = view();
  const CommandRouter router(commands, Limits{});
  Decision decision;
  for (auto _ : state) {
    router.route(args, *ring, decision);
    benchmark::DoNotOptimize(decision.keys.data());
  }
}

void BM_Get(benchmark::State& state) { route_one(state, {"GET", "key:000000123456"}); }
void BM_Set(benchmark::State& state) { route_one(state, {"SET", "key:000000123456", "v"}); }
void BM_Del(benchmark::State& state) { route_one(state, {"DEL", "key:000000123456"}); }
void BM_MgetOf16(benchmark::State& state) {
  std::vector<std::string_view> args(17, "key:000000123456");
  args[0] = "MGET";
  route_one(state, args);
}

BENCHMARK(BM_Get);
BENCHMARK(BM_Set);
BENCHMARK(BM_Del);
BENCHMARK(BM_MgetOf16);

}  // namespace
}  // namespace cleave::route
