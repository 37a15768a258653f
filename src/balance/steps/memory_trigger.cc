#include "balance/steps/memory_trigger.h"

#include <algorithm>

#include "base/ppm.h"

namespace cleave::balance {
namespace {

// Far above the mean, or almost full.
bool far_above(const BoardNode& node, std::uint64_t mean, const Constants& constants) {
  const bool almost_full = node.memory >= ppm_of(node.memory_max, constants.memory_hot_ppm) &&
                           node.memory >= ppm_of(mean, constants.memory_above_ppm);
  const bool skewed =
      node.memory >= ppm_of(mean, constants.memory_skew_ppm) &&
      above(node.memory, mean) >= ppm_of(node.memory_max, constants.memory_skew_limit_ppm);
  return almost_full || skewed;
}

bool little_above(const BoardNode& node, std::uint64_t mean, const Constants& constants) {
  return node.memory >= ppm_of(mean, constants.slow_ppm) &&
         above(node.memory, mean) >= ppm_of(node.memory_max, constants.slow_capacity_ppm);
}

void update(const BoardNode& node, std::uint64_t mean, const NodeTrigger& before,
            const Input& input, NodeTrigger& next) {
  const Constants& constants = input.constants;
  next.full_since = UnixMillis{};
  if (node.memory_max > 0 && little_above(node, mean, constants)) {
    const bool since = before.full_since != UnixMillis{} && before.full_since <= input.now;
    next.full_since = since ? before.full_since : input.now;
  }
  const bool long_enough =
      next.full_since != UnixMillis{} &&
      input.now.value() - next.full_since.value() >= constants.slow_after.count();
  const bool goes_on = before.emptying && node.memory > ppm_of(mean, constants.memory_stop_ppm);
  next.emptying =
      node.memory_max > 0 && (goes_on || long_enough || far_above(node, mean, constants));
}

}  // namespace

std::uint64_t mean_use_ppm(const Board& board) {
  Wide used = 0;
  Wide limit = 0;
  for (const BoardNode& each : board.nodes()) {
    if (each.memory_max == 0 || each.draining) continue;
    used += each.memory;
    limit += each.memory_max;
  }
  const Wide most = Wide{1'000} * kMillion;  // a thousand times its limit: as much as says anything
  return limit == 0 ? 0 : static_cast<std::uint64_t>(std::min(used * kMillion / limit, most));
}

void update_emptying(const Board& board, const Trigger& before, Trigger& next) {
  const std::uint64_t mean_ppm = mean_use_ppm(board);
  for (NodeTrigger& each : next.nodes) {
    const BoardNode& node = board.node(each.node);
    const NodeTrigger* const known = find_node(before, each.node);
    update(node, ppm_of(node.memory_max, mean_ppm), known == nullptr ? NodeTrigger{} : *known,
           board.input(), each);
  }
}

}  // namespace cleave::balance
