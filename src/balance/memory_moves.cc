#include "balance/memory_moves.h"

#include <algorithm>
#include <vector>

#include "balance/parts.h"
#include "balance/text.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;
constexpr std::size_t kRangesMax = 64;  // of one move

std::uint64_t ppm_of(std::uint64_t amount, std::uint32_t ppm) {
  return static_cast<std::uint64_t>(Wide{amount} * ppm / kMillion);
}

// What every node would use if all were filled alike, in millionths of its limit.
std::uint32_t mean_use_ppm(const Board& board) {
  Wide used = 0;
  Wide limit = 0;
  for (const BoardNode& each : board.nodes()) {
    if (each.memory_max == 0 || each.draining) continue;
    used += each.memory;
    limit += each.memory_max;
  }
  return limit == 0 ? 0 : static_cast<std::uint32_t>(used * kMillion / limit);
}

bool filled(const BoardNode& node, std::uint32_t mean_ppm, const Constants& constants) {
  if (node.memory_max == 0 || node.draining) return false;
  const std::uint32_t above =
      static_cast<std::uint32_t>(std::uint64_t{mean_ppm} * constants.memory_above_ppm / kMillion);
  return node.memory >= ppm_of(node.memory_max, constants.memory_hot_ppm) &&
         node.memory >= ppm_of(node.memory_max, above);
}

// The node with most bytes to spare below the mean use, or nullptr.
const BoardNode* roomiest(const Board& board, const BoardNode& source, std::uint32_t mean_ppm) {
  const BoardNode* best = nullptr;
  std::uint64_t most = 0;
  for (const BoardNode& each : board.nodes()) {
    if (each.id == source.id || each.memory_max == 0 || each.racks < source.racks) continue;
    if (!free_target(each, board.constants())) continue;
    const std::uint64_t level = ppm_of(each.memory_max, mean_ppm);
    if (level <= each.memory || level - each.memory <= most) continue;
    most = level - each.memory;
    best = &each;
  }
  return best;
}

// The coldest parts first, until one of the limits is reached.
std::vector<Part> coldest(const Board& board, const Calm& calm, const BoardNode& source,
                          const BoardNode& target, std::uint64_t bytes) {
  const Price price = board.price_of(source);
  const ring::RangeSet away = calm.left(target.id);
  std::vector<Part> parts = parts_of(board, source.id);
  std::erase_if(parts, [&](const Part& each) {
    return ring::overlap({each.range}, away) || ring::overlap({each.range}, calm.dwelling());
  });
  std::ranges::sort(parts, [&](const Part& left, const Part& right) {
    const Wide left_heat = Wide{left.load} * (price.keys_in(right.range) + 1);
    const Wide right_heat = Wide{right.load} * (price.keys_in(left.range) + 1);
    return left_heat != right_heat ? left_heat < right_heat : left.range.first < right.range.first;
  });
  const std::uint64_t plan_keys = std::max(
      ppm_of(board.total_keys(), board.constants().plan_keys_ppm), board.constants().plan_keys_min);
  std::uint64_t keys =
      std::min(plan_keys, calm.keys_left(board.total_keys(), board.constants().hour_keys_ppm));
  std::uint64_t room = room_of(target, board.constants());
  std::vector<Part> taken;
  for (const Part& each : parts) {
    const std::uint64_t its_keys = price.keys_in(each.range);
    const std::uint64_t its_bytes = its_keys * price.bytes_per_key;
    if (taken.size() >= kRangesMax) break;
    if (its_keys == 0 || its_keys > keys || its_bytes > bytes || each.load > room) continue;
    keys -= its_keys;
    bytes -= its_bytes;
    room -= each.load;
    taken.push_back(each);
  }
  return taken;
}

}  // namespace

void plan_memory(Board& board, const Calm& calm, Plan& plan) {
  const Constants& constants = board.constants();
  const std::uint32_t mean_ppm = mean_use_ppm(board);
  const std::vector<BoardNode> before = board.nodes();
  for (const BoardNode& each : before) {
    if (!filled(each, mean_ppm, constants)) continue;
    const BoardNode source = board.node(each.id);
    if (!free_source(source, constants)) continue;
    const BoardNode* found = roomiest(board, source, mean_ppm);
    const std::string who = "memory: '" + source.name + "' uses " +
                            percent(source.memory, source.memory_max) + " of its memory";
    if (found == nullptr) {
      plan.verdicts.push_back(
          {.why = Why::kNoTarget, .node = source.id, .text = who + ", and nobody has room"});
      continue;
    }
    const BoardNode target = *found;
    const std::uint64_t excess = source.memory - ppm_of(source.memory_max, mean_ppm);
    const std::uint64_t room = ppm_of(target.memory_max, mean_ppm) - target.memory;
    const auto taken = coldest(board, calm, source, target, std::min(excess, room));
    if (taken.empty()) continue;
    PlannedMove move = move_of_parts(board, source, target, taken, Cause::kMemory);
    if (!fits_memory(target, move, constants)) continue;
    move.reason = who + " and gives " + pieces_text(move) + ", its coldest, to '" + target.name +
                  "' at " + percent(target.memory, target.memory_max);
    carry_out(board, plan, std::move(move));
  }
}

}  // namespace cleave::balance
