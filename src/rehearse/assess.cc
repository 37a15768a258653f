#include "rehearse/assess.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "balance/input/trigger.h"
#include "base/wide.h"
#include "rehearse/workloads/pool.h"
#include "ring/document/base_ring.h"

namespace cleave::rehearse {
namespace {

constexpr std::uint32_t kHeavyPpm = 100'000;  // balance::Constants::heavy_ppm
constexpr std::size_t kUncuttableMax = 32;
constexpr std::uint32_t kEverythingPpm = 1'000'000'000;  // of all keys, a thousand times
constexpr std::size_t kNamesMax = 5;

// What a token's keys are asked for.
struct TokenCost {
  std::uint64_t cost = 0;
  std::map<std::uint32_t, std::uint64_t> keys;  // of the trace
};

std::vector<std::string> heaviest_names(const TokenCost& token, const Trace& trace) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
  for (const auto& [key, cost] : token.keys) keys.emplace_back(cost, key);
  std::ranges::sort(keys, std::ranges::greater{});
  std::vector<std::string> names;
  for (const auto& [cost, key] : keys) {
    if (names.size() < kNamesMax) names.push_back(trace.keys[key].name);
  }
  return names;
}

std::vector<UncuttableToken> uncuttable(const Trace& trace, const std::vector<NodeSpec>& nodes,
                                        const ring::SchemeSpec& scheme) {
  std::map<Token, TokenCost> tokens;
  std::uint64_t total = 0;
  for (const TraceRequest& each : trace.requests) {
    const std::uint64_t cost = request_ns(each.bytes);
    TokenCost& token = tokens[trace.keys[each.key].token];
    token.cost += cost;
    token.keys[each.key] += cost;
    total += cost;
  }
  std::uint64_t weights = 0;
  for (const NodeSpec& each : nodes) weights += each.weight;
  Pool pool(nodes, UnixMillis{1}, scheme);
  std::vector<UncuttableToken> result;
  for (const auto& [token, cost] : tokens) {
    const NodeSpec& node = nodes[number_of(pool.view()->owner(token))];
    const auto fair = static_cast<std::uint64_t>(Wide{total} * node.weight / weights);
    const std::uint32_t ppm = balance::level_ppm(cost.cost, fair);
    if (ppm < kHeavyPpm) continue;
    result.push_back({.token = token,
                      .keys = heaviest_names(cost, trace),
                      .key_count = cost.keys.size(),
                      .node = node.name,
                      .fair_ppm = ppm,
                      .load_ppm = balance::level_ppm(cost.cost, total)});
  }
  std::ranges::stable_sort(result, [](const UncuttableToken& left, const UncuttableToken& right) {
    return left.load_ppm > right.load_ppm;
  });
  if (result.size() > kUncuttableMax) result.resize(kUncuttableMax);
  return result;
}

std::vector<AssessedNode> assessed(const Record& record, const std::vector<NodeSpec>& nodes) {
  const auto levels = [&](const Moment& moment, std::size_t node) {
    Wide load = 0;
    Wide capacity = 0;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      load += moment.node_load[at];
      capacity += record.nodes[at].capacity;
    }
    const auto fair = static_cast<std::uint64_t>(load * record.nodes[node].capacity / capacity);
    return balance::level_ppm(moment.node_load[node], fair);
  };
  std::vector<AssessedNode> result;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    result.push_back({.name = nodes[node].name,
                      .weight = nodes[node].weight,
                      .before_ppm = levels(record.moments.front(), node),
                      .after_ppm = levels(record.moments.back(), node)});
  }
  return result;
}

Result<void> check_names(const std::vector<NodeSpec>& nodes) {
  std::set<std::string> names;
  for (const NodeSpec& each : nodes) {
    if (each.name.empty() || each.weight == 0 || !names.insert(each.name).second)
      return fail(Code::kInvalid, "nodes need different names and weights above 0");
  }
  return {};
}

// Gives the keys their tokens in the scheme; takes out requests for keys that have none.
Result<void> place_trace(Trace& trace, const std::vector<NodeSpec>& nodes,
                         const ring::SchemeSpec& scheme) {
  const auto document = simulated_document(nodes, UnixMillis{1}, scheme);
  if (!document) return std::unexpected(document.error());
  const auto base = ring::make_base(*document);
  if (!base) return std::unexpected(base.error());
  std::vector<char> placed(trace.keys.size());
  for (std::size_t key = 0; key < trace.keys.size(); ++key) {
    const auto token = base->placement->token_of(trace.keys[key].name);
    placed[key] = token ? 1 : 0;
    trace.keys[key].token = token.value_or(Token{});
  }
  std::erase_if(trace.requests,
                [&](const TraceRequest& request) { return placed[request.key] == 0; });
  return {};
}

}  // namespace

Result<Assessment> assess(Trace trace, const std::vector<NodeSpec>& nodes, std::uint64_t seed,
                          const ring::SchemeSpec& scheme) {
  if (const auto good = check_names(nodes); !good) return std::unexpected(good.error());
  if (!nodes.empty()) {
    if (const auto good = place_trace(trace, nodes, scheme); !good)
      return std::unexpected(good.error());
  }
  auto workload = make_trace_workload(trace, {.time = TraceSetting::Time::kAveraged,
                                              .nodes = nodes,
                                              .scheme = scheme,
                                              .utilisation_ppm = 400'000});
  if (!workload) return std::unexpected(workload.error());
  Options options{.workload = "sample"};
  options.setting.nodes = nodes.size();
  options.setting.keys = trace.keys.size();
  options.setting.read_ppm = read_ppm(trace);
  options.setting.seed = seed;
  // What is asked is where this ends, not how much of it an hour may take.
  options.constants.hour_keys_ppm = kEverythingPpm;
  options.constants.urgent_hour_keys_ppm = kEverythingPpm;
  options.constants.slow_divisor = 1;
  Result<Run> done = run(options, std::move(*workload));
  if (!done) return std::unexpected(done.error());
  Assessment result{.requests = trace.requests.size(), .keys = trace.keys.size()};
  result.read_ppm = read_ppm(trace);
  result.nodes = assessed(done->record, nodes);
  result.before_ppm = done->record.moments.front().peak_ppm;
  result.after_ppm = done->record.moments.back().peak_ppm;
  result.bound_ppm = done->record.moments.back().bound_ppm;
  result.keys_moved = done->summary.keys_moved;
  result.keys_moved_least = done->summary.keys_moved_bound;
  result.moves = done->summary.moves;
  result.cuts = done->summary.cuts;
  result.uncuttable = uncuttable(trace, nodes, scheme);
  result.run = std::move(*done);
  return result;
}

}  // namespace cleave::rehearse
