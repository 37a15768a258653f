// A closed pool for the tests of this folder: keys with true loads on a real ring document,
// counted by the real recorder, planned for by the real loop, and moved by the real edits (at once:
// what takes time in a move is not this folder's matter).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "balance/input/bound.h"
#include "balance/planning_loop.h"
#include "base/check.h"
#include "base/rng.h"
#include "heat/recorder.h"
#include "ring/edits/edits.h"
#include "ring/edits/whole_move.h"
#include "ring/view/diff.h"
#include "ring/vnode.h"

namespace cleave::balance {

inline ring::Node test_node(std::uint32_t number, std::uint32_t weight = 1) {
  const std::string name = "n" + std::to_string(number);
  return {.id = NodeId{number},
          .name = name,
          .weight = weight,
          .members = {{.address = name + ":1", .rack = "r" + std::to_string(number)}}};
}

inline ring::Document test_document(std::uint32_t nodes, UnixMillis now = UnixMillis{1}) {
  ring::Creation creation{.pool = "test", .mark = "mark", .nodes = {}, .now = now};
  for (std::uint32_t number = 1; number <= nodes; ++number) {
    creation.nodes.push_back(test_node(number));
  }
  const Result<ring::Document> document = ring::create(creation);
  CHECK(document.has_value());
  return *document;
}

inline ring::RingSnapshot test_view(ring::Document document) {
  const Result<ring::RingSnapshot> view = ring::RingView::build(std::move(document));
  CHECK(view.has_value());
  return *view;
}

// Threads: one owner.
class ClosedPool {
 public:
  struct Options {
    std::uint32_t nodes = 4;
    std::uint32_t keys = 20'000;
    std::uint32_t requests_per_second = 10'000;
    std::uint32_t weight_ns = 80'000;  // 10,000 requests a second keep 0.8 of a core busy
    std::uint64_t seed = 1;
  };

  explicit ClosedPool(Options options)
      : options_(options),
        rng_(options.seed),
        recorder_(options.seed, now_),
        loop_(now_),
        document_(test_document(options.nodes, wall())) {
    for (std::uint32_t number = 0; number < options.keys; ++number) {
      Key key{.name = "key:" + std::to_string(number)};
      key.token = ring::vnode_token(key.name);
      keys_.push_back(std::move(key));
    }
    adopt(document_);
  }

  // ---- load ---------------------------------------------------------------------------------
  // The key `order[rank]` gets `weights[rank]` of the requests.
  void skew(const std::vector<std::uint64_t>& weights, const std::vector<std::uint32_t>& order) {
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      keys_[order[rank]].weight = weights[rank];
    }
    cumulate();
  }

  void uniform() {
    for (Key& each : keys_) each.weight = 1'000'000;
    cumulate();
  }

  // Random ranks.
  std::vector<std::uint32_t> shuffled() {
    std::vector<std::uint32_t> order(keys_.size());
    for (std::uint32_t at = 0; at < order.size(); ++at) order[at] = at;
    for (std::size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[rng_.below(left)]);
    }
    return order;
  }

  // Random ranks, but the first `hot` are keys of one node.
  std::vector<std::uint32_t> hot_on(NodeId node, std::size_t hot) {
    std::vector<std::uint32_t> order = shuffled();
    std::ranges::stable_partition(order, [&](std::uint32_t key) {
      const bool inside = hot > 0 && view_->owner(keys_[key].token) == node;
      if (inside) --hot;
      return inside;
    });
    return order;
  }

  void set_rate(std::uint32_t requests_per_second) {
    options_.requests_per_second = requests_per_second;
  }

  // ---- one tick of two seconds: requests, reports, plan; moves done at once --------------------
  Plan tick() {
    observe();
    return tick(facts());
  }

  // Likewise with other facts, what was observed being enough.
  Plan tick(TickFacts told) {
    Plan result = loop_.step(std::move(told));
    for (const PlannedMove& each : result.moves) carry_out(each);
    for (const ring::TokenRange& each : result.merges) {
      const auto merged = ring::merge_cuts(document_, each, wall());
      CHECK(merged.has_value());
      adopt(*merged);
    }
    return result;
  }

  // Two seconds of requests and reports.
  void observe() {
    for (int second = 0; second < 2; ++second) {
      serve(options_.requests_per_second);
      now_ += seconds{1};
      for (const heat::Report& each : recorder_.take(now_)) {
        loop_.fold(SessionId{"router"}, each, now_);
      }
    }
    loop_.look(now_, wall());
  }

  TickFacts facts() const {
    TickFacts told{.orders = orders, .constants = constants, .now = wall()};
    told.seed = static_cast<std::uint64_t>(now_.count());
    const auto counts = keys_by_node();
    for (const ring::Node& node : document_.nodes) {
      const auto found = counts.find(node.id);
      told.nodes.push_back(
          {.id = node.id, .keys = found == counts.end() ? 0 : found->second, .bytes_per_key = 150});
    }
    return told;
  }

  // What any planner is told, after `observe`.
  Input input() const { return loop_.input(facts()); }

  void adopt(ring::Document document) {
    document_ = std::move(document);
    view_ = test_view(document_);
    recorder_.set_view(view_, now_);
    loop_.set_view(view_);
  }

  void carry_out(const PlannedMove& move) {
    const auto begun = ring::begin_move(
        document_, {move.ranges, move.source, move.destination, move.reason, wall()});
    CHECK(begun.has_value());
    const MoveId id{begun->epoch.value()};
    const auto finished = ring::complete_move(*begun, id, wall());
    CHECK(finished.has_value());
    std::uint64_t keys = 0;
    for (const Key& each : keys_) keys += ring::contains(move.ranges, each.token) ? 1U : 0U;
    loop_.ended({.ranges = move.ranges,
                 .source = move.source,
                 .destination = move.destination,
                 .ended = wall(),
                 .keys = keys},
                loop_.promise(move), now_);
    keys_moved += keys;
    ++moves_done;
    adopt(*finished);
  }

  // ---- the truth ------------------------------------------------------------------------------
  std::map<NodeId, std::uint64_t> loads_by_node() const {
    std::map<NodeId, std::uint64_t> loads;
    for (const ring::Node& node : document_.nodes) loads[node.id] = 0;
    for (const Key& each : keys_) loads[view_->owner(each.token)] += each.weight;
    return loads;
  }

  std::map<NodeId, std::uint64_t> keys_by_node() const {
    std::map<NodeId, std::uint64_t> counts;
    for (const Key& each : keys_) ++counts[view_->owner(each.token)];
    return counts;
  }

  // In millionths, nodes of equal weight.
  std::uint32_t peak_ppm() const {
    std::uint64_t peak = 0;
    std::uint64_t total = 0;
    std::uint64_t nodes = 0;
    for (const auto& [node, load] : loads_by_node()) {
      peak = std::max(peak, load);
      total += load;
      ++nodes;
    }
    return level_ppm(peak, total / nodes);
  }

  std::uint32_t bound_ppm() const {
    std::map<Token, std::uint64_t> tokens;
    std::uint64_t total = 0;
    for (const Key& each : keys_) {
      tokens[each.token] += each.weight;
      total += each.weight;
    }
    std::vector<std::uint64_t> loads;
    loads.reserve(tokens.size());
    for (const auto& [token, load] : tokens) loads.push_back(load);
    const std::vector<std::uint64_t> capacities(document_.nodes.size(), kCore);
    return balance::bound_ppm(loads, total, capacities);
  }

  // max(1.10, 1.05 x bound): what the balancer promises once it has engaged.
  std::uint32_t promise_ppm() const {
    return std::max(1'100'000U, static_cast<std::uint32_t>(bound_ppm() * 105ULL / 100));
  }

  const ring::Document& document() const { return document_; }
  const ring::RingSnapshot& view() const { return view_; }
  UnixMillis wall() const { return UnixMillis{1'700'000'000'000 + now_.count() / 1'000'000}; }
  void pass(nanoseconds time) { now_ += time; }

  Orders orders;
  Constants constants;
  std::uint64_t keys_moved = 0;
  std::uint64_t moves_done = 0;

 private:
  struct Key {
    std::string name;
    Token token = {};
    std::uint64_t weight = 0;
  };

  void cumulate() {
    weights_before_.assign(1, 0);
    for (const Key& each : keys_) weights_before_.push_back(weights_before_.back() + each.weight);
  }

  void serve(std::uint32_t requests) {
    for (std::uint32_t count = 0; count < requests; ++count) {
      const std::uint64_t drawn = rng_.below(weights_before_.back());
      const auto found = std::ranges::upper_bound(weights_before_, drawn);
      const Key& key = keys_[static_cast<std::size_t>(found - weights_before_.begin()) - 1];
      const auto access = rng_.chance(1, 4) ? heat::Access::kWrite : heat::Access::kRead;
      recorder_.record(view_->find(key.token), key.token, key.name, access, options_.weight_ns);
    }
  }

  Options options_;
  Rng rng_;
  Instant now_ = seconds{1'000};
  heat::Recorder recorder_;
  PlanningLoop loop_;
  std::vector<Key> keys_;
  std::vector<std::uint64_t> weights_before_;
  ring::Document document_;
  ring::RingSnapshot view_;
};

}  // namespace cleave::balance
