// Random worlds as the planner is told of them, for the property tests of this folder: any mixture
// of skewed load, cuts, moves in flight, sick nodes and history.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "balance/closed_pool_testing.h"
#include "balance/input/input.h"
#include "base/rng.h"

namespace cleave::balance {

inline std::vector<ring::TokenRange> random_ranges(Rng& rng, std::size_t count) {
  std::vector<std::uint64_t> bounds;
  for (std::size_t at = 0; at < 2 * count; ++at) bounds.push_back(rng.next());
  std::ranges::sort(bounds);
  std::vector<ring::TokenRange> ranges;
  for (std::size_t at = 0; at + 1 < bounds.size(); at += 2) {
    if (bounds[at] == bounds[at + 1]) continue;
    ranges.push_back({Token{bounds[at] + 1}, Token{bounds[at + 1]}});
  }
  return ranges;
}

inline ring::Document random_document(Rng& rng, UnixMillis now) {
  ring::Document document;
  document.epoch = Epoch{100};
  document.pool = "test";
  document.mark = "mark";
  const auto nodes = static_cast<std::uint32_t>(2 + rng.below(5));
  for (std::uint32_t number = 1; number <= nodes; ++number) {
    ring::Node node = test_node(number, static_cast<std::uint32_t>(1 + rng.below(3)));
    node.members[0].rack = "r" + std::to_string(rng.below(3));
    for (std::uint64_t more = rng.chance(1, 3) ? rng.below(3) : 0; more > 0; --more) {
      const std::string address = node.name + ":" + std::to_string(more + 1);
      node.members.push_back({.address = address, .rack = "r" + std::to_string(rng.below(3))});
    }
    if (number > 1 && rng.chance(1, 10)) node.state = ring::NodeState::kDraining;
    document.nodes.push_back(node);
  }
  document.next_node = NodeId{nodes + 1};
  const auto any = [&] { return NodeId{static_cast<std::uint32_t>(1 + rng.below(nodes))}; };
  for (const ring::TokenRange& range : random_ranges(rng, rng.below(30))) {
    const std::int64_t age = static_cast<std::int64_t>(rng.below(3 * 3'600'000));
    document.cuts.push_back({.range = range,
                             .node = any(),
                             .reason = "test",
                             .created = UnixMillis{now.value() - age},
                             .pinned_until = {}});
  }
  if (rng.chance(1, 3)) {
    // A move of whole entries, so that the document stays valid.
    const ring::RingSnapshot view = test_view(document);
    const ring::Entry& entry = view->entries()[rng.below(view->entries().size())];
    for (const ring::Node& node : document.nodes) {
      if (node.id == entry.node || node.state != ring::NodeState::kActive) continue;
      const auto begun =
          ring::begin_move(document, {{entry.range}, entry.node, node.id, "test", now});
      if (begun) document = *begun;
      break;
    }
  }
  return document;
}

// Loads of all sizes, some tokens far heavier than the rest; ranges without samples too.
inline heat::Picture random_picture(Rng& rng, const ring::RingView& view) {
  heat::Picture picture{.epoch = view.epoch(), .observed = seconds{rng.below(3'600)}};
  std::map<NodeId, heat::NodeLoad> nodes;
  for (const ring::Node& node : view.document().nodes) nodes[node.id].node = node.id;
  const std::uint64_t scale = std::uint64_t{1} << rng.below(24);
  for (const ring::Entry& entry : view.entries()) {
    heat::RangeLoad range{.range = entry.range, .node = entry.node};
    std::vector<heat::TokenLoad> tokens;
    const std::uint64_t width = entry.range.last.value() - entry.range.first.value();
    for (std::uint64_t count = rng.below(6); count > 0; --count) {
      const std::uint64_t offset = width == 0 ? 0 : rng.below(width);
      const std::uint64_t load = scale * (1 + rng.below(rng.chance(1, 40) ? 5'000 : 50));
      const auto samples = static_cast<std::uint32_t>(1 + rng.below(200));
      tokens.push_back({Token{entry.range.first.value() + offset}, load, samples});
    }
    std::ranges::sort(tokens, {}, &heat::TokenLoad::token);
    const auto same = std::ranges::unique(tokens, {}, &heat::TokenLoad::token);
    tokens.erase(same.begin(), same.end());
    std::uint64_t load = tokens.empty() && rng.chance(1, 2) ? scale * rng.below(50) : 0;
    for (const heat::TokenLoad& each : tokens) load += each.load;
    range.load = {.tick = load, .mean = load, .slow = load, .peak = load};
    picture.ranges.push_back(range);
    picture.tokens.insert(picture.tokens.end(), tokens.begin(), tokens.end());
    nodes[entry.node].load += range.load;
  }
  for (const auto& [id, node] : nodes) picture.nodes.push_back(node);
  picture.sources.push_back({.session = SessionId{"router"}, .recorder = 1, .load = 1});
  return picture;
}

inline PastMove random_past(Rng& rng, const ring::Document& document, UnixMillis now) {
  const auto nodes = document.nodes.size();
  PastMove move{.ranges = random_ranges(rng, 1 + rng.below(3))};
  move.source = document.nodes[rng.below(nodes)].id;
  move.destination = document.nodes[rng.below(nodes)].id;
  move.ended = UnixMillis{now.value() - static_cast<std::int64_t>(rng.below(2 * 3'600'000))};
  move.committed = rng.chance(3, 4);
  move.ordered = rng.chance(1, 4);
  move.keys = rng.below(2'000);
  move.predicted_gain = 1'000;
  if (rng.chance(1, 2)) move.real_gain = rng.below(1'500);
  return move;
}

// Some tokens with many keys, some keys far larger than the rest.
inline std::vector<KeySample> random_sample(Rng& rng) {
  std::vector<KeySample> sample;
  for (std::uint64_t count = rng.below(200); count > 0; --count) {
    const Token token =
        !sample.empty() && rng.chance(1, 4) ? sample.back().token : Token{rng.next()};
    sample.push_back({token, 1 + rng.below(rng.chance(1, 20) ? 1'000'000 : 1'000)});
  }
  std::ranges::sort(sample, {}, &KeySample::token);
  return sample;
}

inline std::vector<Expected> random_events(Rng& rng, UnixMillis now) {
  std::vector<Expected> events;
  for (const ring::TokenRange& range : random_ranges(rng, 1 + rng.below(3))) {
    const std::int64_t begin = static_cast<std::int64_t>(rng.below(100)) - 80;
    events.push_back({.range = range,
                      .load = std::uint64_t{1} << rng.below(40),
                      .lead_from = UnixMillis{now.value() + begin * 1'000},
                      .start = UnixMillis{now.value() + begin * 1'000 + 60'000},
                      .end = UnixMillis{now.value() + begin * 1'000 + 90'000},
                      .event = "event " + std::to_string(events.size())});
  }
  return events;
}

inline Input random_input(std::uint64_t seed) {
  Rng rng(seed);
  const UnixMillis now{1'700'000'000'000};
  Input input{.view = test_view(random_document(rng, now)), .picture = {}};
  input.picture = random_picture(rng, *input.view);
  for (const ring::Node& node : input.view->document().nodes) {
    NodeFacts facts{.id = node.id, .keys = rng.below(200'000), .bytes_per_key = rng.below(2'000)};
    facts.memory_bytes = facts.keys * facts.bytes_per_key;
    if (rng.chance(1, 5)) facts.memory_bytes_max = facts.memory_bytes + rng.below(100'000'000);
    facts.healthy = !rng.chance(1, 20);
    facts.joining = rng.chance(1, 20);
    facts.unattributed_writes = rng.chance(1, 20);
    if (rng.chance(1, 20)) facts.vetoes = {"it is the second name of a server"};
    if (rng.chance(1, 3)) facts.key_sample = random_sample(rng);
    if (rng.chance(1, 4)) {
      input.usual.push_back({node.id, static_cast<std::uint32_t>(rng.below(3'000'000))});
    }
    input.nodes.push_back(facts);
  }
  for (std::uint64_t count = rng.below(6); count > 0; --count) {
    input.history.push_back(random_past(rng, input.view->document(), now));
  }
  input.trigger.engaged = rng.chance(4, 5) ? Engaged::kHot : Engaged::kSlow;
  input.constants.moves_out_max = static_cast<std::uint32_t>(1 + rng.below(2));
  input.constants.moves_in_max = static_cast<std::uint32_t>(1 + rng.below(2));
  input.constants.hot_capacity_ppm = 1;
  input.constants.calm_capacity_ppm = 0;
  input.orders.flatten = rng.chance(1, 10);
  input.now = now;
  input.seed = rng.next();
  return input;
}

}  // namespace cleave::balance
