#include "balance/steps/parts.h"

#include <algorithm>
#include <utility>

#include "balance/plan/text.h"
#include "base/check.h"
#include "base/ppm.h"

namespace cleave::balance {

std::vector<Part> parts_of(const Board& board, NodeId source) {
  std::vector<Part> parts;
  for (const BoardRange& each : board.ranges_of(source)) {
    if (!each.in_cut) {
      parts.push_back({each.range, source, each.load, &each});
      continue;
    }
    for (const ring::Arc& arc : board.input().view->base_in(each.range)) {
      parts.push_back({arc.range, arc.node, board.load_in(each, arc.range), &each});
    }
  }
  return parts;
}

bool rdb_fits(std::uint16_t source, std::uint16_t target) {
  constexpr std::uint16_t kForeignFirst = 12;
  constexpr std::uint16_t kValkeyFirst = 80;
  if (source == 0 || target == 0) return true;
  const bool foreign = target >= kValkeyFirst && source >= kForeignFirst && source < kValkeyFirst;
  return source <= target && !foreign;
}

std::string placement_veto(const BoardNode& source, const BoardNode& target) {
  if (!rdb_fits(source.rdb_version, target.rdb_version)) {
    return "its server does not read values of RDB version " + std::to_string(source.rdb_version) +
           " (it writes " + std::to_string(target.rdb_version) + ")";
  }
  if (target.racks < source.racks) {
    return "it has fewer racks, and the piece would lose a failure domain";
  }
  if (target.members < source.members) {
    return "it has fewer members, and the piece would lose a replica";
  }
  return "";
}

bool free_source(const BoardNode& node, const Constants& constants) {
  return node.no_source.empty() && node.moves_out < constants.moves_out_max;
}

bool free_target(const BoardNode& node, const Constants& constants) {
  return node.no_target.empty() && node.moves_in < constants.moves_in_max;
}

std::uint64_t room_of(const BoardNode& node, const Constants& constants) {
  return above(ppm_of(node.fair, constants.fill_ppm), node.load);
}

PlannedMove move_of(const BoardNode& source, const BoardNode& target, Cargo cargo, Cause cause) {
  CHECK(source.id != target.id && !cargo.ranges.empty());
  return {.ranges = ring::normalised(std::move(cargo.ranges)),
          .source = source.id,
          .destination = target.id,
          .cause = cause,
          .load = cargo.load,
          .keys = cargo.keys,
          .bytes = cargo.bytes,
          .source_before = source.load,
          .source_after = source.load - std::min(source.load, cargo.load),
          .destination_before = target.load,
          .destination_after = target.load + cargo.load};
}

PlannedMove move_of_parts(const Board& board, const BoardNode& source, const BoardNode& target,
                          const std::vector<Part>& parts, Cause cause) {
  Cargo cargo;
  const Price price = board.price_of(source);
  for (const Part& each : parts) {
    cargo.ranges.push_back(each.range);
    cargo.load += each.load;
    const std::uint64_t keys = price.keys_in(each.range);
    cargo.keys += keys;
    cargo.bytes += price.bytes_in(each.range, keys);
  }
  return move_of(source, target, std::move(cargo), cause);
}

std::uint64_t keys_a_plan(const Board& board) {
  const Constants& constants = board.constants();
  return std::max(ppm_of(board.total_keys(), constants.plan_keys_ppm), constants.plan_keys_min);
}

bool fits_memory(const BoardNode& target, const PlannedMove& move, const Constants& constants) {
  const Wide needed = Wide{move.bytes} * constants.memory_ppm / 1'000'000;
  return target.memory_max == 0 || target.memory + needed <= target.memory_max;
}

std::string pieces_text(const PlannedMove& move) {
  return counted(move.ranges.size(), "range") + ", about " + counted(move.keys, "key") + " (" +
         bytes_text(move.bytes) + ")";
}

// Whichever step has planned it: what every move keeps to.
void carry_out(Board& board, Plan& plan, PlannedMove move) {
  const BoardNode& source = board.node(move.source);
  const BoardNode& target = board.node(move.destination);
  CHECK(free_source(source, board.constants()));
  CHECK(free_target(target, board.constants()));
  CHECK(placement_veto(source, target).empty());
  CHECK(fits_memory(target, move, board.constants()));
  board.apply(move);
  plan.moves.push_back(std::move(move));
}

}  // namespace cleave::balance
