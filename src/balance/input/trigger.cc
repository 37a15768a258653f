#include "balance/input/trigger.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/ppm.h"
#include "base/wide.h"

namespace cleave::balance {
namespace {

bool reaches(std::uint64_t load, std::uint64_t of, std::uint32_t ppm) {
  return Wide{load} * kMillion >= Wide{of} * ppm;
}

bool above_by(std::uint64_t load, std::uint64_t fair, std::uint64_t capacity, std::uint32_t ppm) {
  return load > fair && reaches(load - fair, capacity, ppm);
}

bool far_above(const Level& level, const Constants& constants) {
  return level.load.tick > 0 && reaches(level.load.tick, level.fair.tick, constants.hot_ppm) &&
         above_by(level.load.tick, level.fair.tick, level.capacity, constants.hot_capacity_ppm);
}

// Above its own history for this hour, where there is one.
bool unusual(const Level& level, std::uint64_t load, std::uint64_t fair,
             const Constants& constants) {
  const Wide usual = Wide{level.usual_ppm} * constants.unusual_ppm / kMillion;
  return Wide{load} * kMillion >= Wide{fair} * usual;
}

bool warm_now(const Level& level, const Constants& constants) {
  return level.load.slow > 0 && reaches(level.load.slow, level.fair.slow, constants.slow_ppm) &&
         above_by(level.load.slow, level.fair.slow, level.capacity, constants.slow_capacity_ppm);
}

bool warm_for(const NodeTrigger& node, milliseconds time, UnixMillis now) {
  return node.warm_since != UnixMillis{} && now.value() - node.warm_since.value() >= time.count();
}

NodeTrigger next_of(const NodeTrigger& before, const Level& level, const Constants& constants,
                    UnixMillis now) {
  NodeTrigger next = before;
  const std::uint32_t history =
      (std::uint32_t{before.hot_ticks} << 1U) | (hot_now(level, constants) ? 1U : 0U);
  next.hot_ticks = static_cast<std::uint8_t>(history & ((1U << constants.hot_ticks_of) - 1U));
  if (!warm_now(level, constants)) {
    next.warm_since = UnixMillis{};
  } else if (before.warm_since == UnixMillis{} || before.warm_since > now) {
    next.warm_since = now;  // also when a clock was put back, or it would wait for that time
  }
  return next;
}

}  // namespace

std::uint32_t level_ppm(std::uint64_t load, std::uint64_t fair) {
  if (load == 0) return 0;
  if (fair == 0) return 0xFFFFFFFFU;
  return static_cast<std::uint32_t>(std::min(Wide{load} * kMillion / fair, Wide{0xFFFFFFFFU}));
}

const NodeTrigger* find_node(const Trigger& trigger, NodeId node) {
  const auto found = std::ranges::lower_bound(trigger.nodes, node, {}, &NodeTrigger::node);
  return found == trigger.nodes.end() || found->node != node ? nullptr : &*found;
}

bool hot_now(const Level& level, const Constants& constants) {
  return far_above(level, constants) && unusual(level, level.load.tick, level.fair.tick, constants);
}

bool hot_as_usual(const Level& level, const Constants& constants) {
  return far_above(level, constants) &&
         !unusual(level, level.load.tick, level.fair.tick, constants);
}

bool urgent(const Level& level, const Constants& constants) {
  return reaches(level.load.mean, level.capacity, constants.urgent_capacity_ppm) &&
         reaches(level.load.mean, level.fair.mean, constants.stop_ppm);
}

bool above_stop(const Level& level, std::uint32_t stop_ppm, const Constants& constants) {
  return level_ppm(level.load.mean, level.fair.mean) > stop_ppm &&
         above_by(level.load.mean, level.fair.mean, level.capacity, constants.calm_capacity_ppm);
}

Trigger next_trigger(const Trigger& before, std::span<const Level> levels, std::uint32_t stop_ppm,
                     const Constants& constants, UnixMillis now) {
  CHECK(constants.hot_ticks_of >= 1 && constants.hot_ticks_of <= 8);
  CHECK(std::ranges::adjacent_find(levels, std::ranges::greater_equal{}, &Level::node) ==
        levels.end());
  Trigger next;
  bool hot = false;
  bool slow = false;
  bool cheap = false;
  bool work_left = false;
  for (const Level& level : levels) {
    const NodeTrigger* known = find_node(before, level.node);
    NodeTrigger node = known == nullptr ? NodeTrigger{.node = level.node} : *known;
    node = next_of(node, level, constants, now);
    const auto ticks = static_cast<std::uint32_t>(std::popcount(node.hot_ticks));
    const bool lasting = ticks >= constants.hot_ticks &&
                         reaches(level.load.mean, level.fair.mean, constants.hot_mean_ppm) &&
                         unusual(level, level.load.mean, level.fair.mean, constants);
    hot = hot || lasting || urgent(level, constants);
    slow = slow || warm_for(node, constants.slow_after, now);
    cheap = cheap || (warm_for(node, constants.cheap_after, now) &&
                      unusual(level, level.load.slow, level.fair.slow, constants));
    work_left = work_left || above_stop(level, stop_ppm, constants);
    next.nodes.push_back(node);
  }
  // What was begun goes on for a few plans below the stop level, for as long as it costs little.
  if (!work_left && before.calm_plans >= constants.polish_plans) return next;
  next.engaged = before.engaged;
  if (!work_left) return next;
  if (cheap) next.engaged = std::max(next.engaged, Engaged::kCheap);
  if (slow) next.engaged = std::max(next.engaged, Engaged::kSlow);
  if (hot) next.engaged = Engaged::kHot;
  return next;
}

}  // namespace cleave::balance
