#include "balance/staged_moves.h"

#include <algorithm>
#include <map>
#include <utility>

#include "balance/text.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;

// A part of a node's ranges that the base gives to one node.
struct Part {
  ring::TokenRange range;
  NodeId base_owner;
  std::uint64_t load = 0;
};

std::uint64_t fill_level(const BoardNode& node, const Constants& constants) {
  return static_cast<std::uint64_t>(Wide{node.fair} * constants.fill_ppm / kMillion);
}

std::uint64_t room_of(const BoardNode& node, const Constants& constants) {
  const std::uint64_t level = fill_level(node, constants);
  return level > node.load ? level - node.load : 0;
}

bool free_target(const BoardNode& node, const Constants& constants) {
  return node.no_target.empty() && node.moves_in < constants.moves_in_max;
}

bool free_source(const BoardNode& node, const Constants& constants) {
  return node.no_source.empty() && node.moves_out < constants.moves_out_max;
}

// What the source owns and nothing touches yet, divided as the base divides it. In token order.
std::vector<Part> parts_of(const Board& board, NodeId source) {
  std::vector<Part> parts;
  for (const BoardRange& each : board.ranges()) {
    if (each.owner != source || each.in_flight) continue;
    auto arc = std::ranges::lower_bound(board.base(), each.range.first, {},
                                        [](const ring::Arc& arc_) { return arc_.range.last; });
    for (; arc != board.base().end() && arc->range.first <= each.range.last; ++arc) {
      const ring::TokenRange range{std::max(arc->range.first, each.range.first),
                                   std::min(arc->range.last, each.range.last)};
      parts.push_back({range, arc->node, board.load_in(range)});
    }
  }
  return parts;
}

PlannedMove move_of(const Board& board, const BoardNode& source, const BoardNode& target,
                    const std::vector<Part>& parts, Cause cause) {
  PlannedMove move{.source = source.id, .destination = target.id, .cause = cause};
  const Price price = board.price_of(source);
  std::vector<ring::TokenRange> ranges;
  for (const Part& each : parts) {
    ranges.push_back(each.range);
    move.load += each.load;
    move.keys += price.keys_in(each.range);
  }
  move.ranges = ring::normalised(std::move(ranges));
  move.bytes = move.keys * source.bytes_per_key;
  move.source_before = source.load;
  move.source_after = source.load - std::min(source.load, move.load);
  move.destination_before = target.load;
  move.destination_after = target.load + move.load;
  return move;
}

bool fits_memory(const BoardNode& target, const PlannedMove& move, const Constants& constants) {
  const Wide needed = Wide{move.bytes} * constants.memory_ppm / kMillion;
  return target.memory_max == 0 || target.memory + needed <= target.memory_max;
}

std::string pieces_text(const PlannedMove& move) {
  return std::to_string(move.ranges.size()) + " range(s), about " + std::to_string(move.keys) +
         " keys (" + bytes_text(move.bytes) + ")";
}

void carry_out(Board& board, Plan& plan, PlannedMove move) {
  board.apply(move);
  plan.moves.push_back(std::move(move));
}

// The parts that the target takes: in order, as long as its room lasts.
std::vector<Part> within_room(const std::vector<Part>& parts, std::uint64_t room) {
  std::vector<Part> taken;
  for (const Part& each : parts) {
    if (each.load > room) continue;
    room -= each.load;
    taken.push_back(each);
  }
  return taken;
}

// Whom a draining node gives to next, and what: to the node that the base names where that has
// room, because this takes a cut away; else to whoever has most room; else, because a drain must
// end, the coldest part to whoever is least loaded.
std::pair<NodeId, std::vector<Part>> next_of_drain(const Board& board, std::vector<Part> parts) {
  const Constants& constants = board.constants();
  std::pair<NodeId, std::vector<Part>> best;
  std::pair<NodeId, std::vector<Part>> second;
  const BoardNode* coolest = nullptr;
  for (const BoardNode& each : board.nodes()) {
    if (!free_target(each, constants)) continue;
    if (coolest == nullptr || each.level() < coolest->level()) coolest = &each;
    const std::uint64_t room = room_of(each, constants);
    std::vector<Part> own;
    for (const Part& part : parts) {
      if (part.base_owner == each.id) own.push_back(part);
    }
    own = within_room(own, room);
    if (own.size() > best.second.size()) best = {each.id, own};
    std::vector<Part> any = within_room(parts, room);
    if (any.size() > second.second.size()) second = {each.id, std::move(any)};
  }
  if (!best.second.empty()) return best;
  if (!second.second.empty() || coolest == nullptr) return second;
  const auto coldest = std::ranges::min_element(
      parts, {}, [](const Part& part) { return std::pair(part.load, part.range.first); });
  return {coolest->id, {*coldest}};
}

}  // namespace

void plan_drains(Board& board, Plan& plan) {
  const Constants& constants = board.constants();
  const std::vector<BoardNode> before = board.nodes();
  for (const BoardNode& source : before) {
    if (!source.draining) continue;
    const std::vector<Part> parts = parts_of(board, source.id);
    if (parts.empty()) continue;
    const std::string who = "node '" + source.name + "' is being drained";
    if (!source.no_source.empty()) {
      plan.verdicts.push_back({.why = Why::kVeto,
                               .node = source.id,
                               .text = who + ", but no move may touch it: " + source.no_source});
      continue;
    }
    if (!free_source(source, constants)) continue;  // one move after the other
    const auto [target, taken] = next_of_drain(board, parts);
    if (taken.empty()) {
      plan.verdicts.push_back({.why = Why::kNoTarget,
                               .node = source.id,
                               .text = who + ", but no node can take anything now"});
      continue;
    }
    const BoardNode to = board.node(target);
    PlannedMove move = move_of(board, source, to, taken, Cause::kDrain);
    if (!fits_memory(to, move, constants)) {
      plan.verdicts.push_back(
          {.why = Why::kNoTarget,
           .node = source.id,
           .text = who + ", but '" + to.name + "' lacks memory for " + pieces_text(move)});
      continue;
    }
    move.reason = "drain: '" + source.name + "' leaves and gives " + pieces_text(move) + " to '" +
                  to.name + "'";
    carry_out(board, plan, std::move(move));
  }
}

namespace {

// Parts with about `amount` tokens, the last one shortened to it.
std::vector<Part> of_width(const Board& board, const std::vector<Part>& parts, Wide amount,
                           std::uint64_t room) {
  std::vector<Part> taken;
  for (Part each : parts) {
    if (amount == 0) break;
    if (ring::width(each.range) > amount) {
      each.range.last = Token{each.range.first.value() + static_cast<std::uint64_t>(amount - 1)};
      each.load = board.load_in(each.range);
    }
    if (each.load > room) continue;
    room -= each.load;
    amount -= ring::width(each.range);
    taken.push_back(each);
  }
  return taken;
}

// The donor's parts in the order in which the target should get them: first those that the base
// gives to it, because that takes cuts away.
std::vector<Part> offered(const Board& board, NodeId source, NodeId target, const Calm& calm) {
  const ring::RangeSet away = calm.left(target);
  std::vector<Part> parts = parts_of(board, source);
  std::erase_if(parts, [&](const Part& each) { return ring::overlap({each.range}, away); });
  std::ranges::stable_partition(parts, [&](const Part& each) { return each.base_owner == target; });
  return parts;
}

void fill(Board& board, const Calm& calm, NodeId id, Plan& plan) {
  const Constants& constants = board.constants();
  const BoardNode target = board.node(id);
  if (!free_target(target, constants) || target.width >= target.fair_width) return;
  const std::uint64_t room =
      board.total_load() == 0 ? ~std::uint64_t{0} : room_of(target, constants);
  const Wide deficit = target.fair_width - target.width;
  // From whoever has most above its own share: nobody falls below it.
  const BoardNode* donor = nullptr;
  for (const BoardNode& each : board.nodes()) {
    if (each.draining || !free_source(each, constants) || each.width <= each.fair_width) continue;
    if (donor == nullptr || each.width - each.fair_width > donor->width - donor->fair_width) {
      donor = &each;
    }
  }
  if (donor == nullptr) return;
  const BoardNode source = *donor;
  const Wide amount = std::min(deficit, source.width - source.fair_width);
  const auto taken = of_width(board, offered(board, source.id, id, calm), amount, room);
  if (taken.empty()) return;
  PlannedMove move = move_of(board, source, target, taken, Cause::kJoin);
  if (!fits_memory(target, move, constants)) {
    plan.verdicts.push_back(
        {.why = Why::kNoTarget,
         .node = id,
         .text = "node '" + target.name +
                 "' has less than its share of the ring, but lacks memory for " +
                 pieces_text(move)});
    return;
  }
  move.reason = "join: '" + target.name + "' has less than its share of the ring and gets " +
                pieces_text(move) + " from '" + source.name + "'";
  carry_out(board, plan, std::move(move));
}

}  // namespace

void plan_joins(Board& board, const Calm& calm, Plan& plan) {
  for (const NodeTrigger& each : plan.trigger.nodes) {
    if (each.filling) fill(board, calm, each.node, plan);
  }
}

void plan_flatten(Board& board, Plan& plan) {
  const Constants& constants = board.constants();
  const std::vector<BoardNode> before = board.nodes();
  for (const BoardNode& source : before) {
    if (!free_source(source, constants)) continue;
    std::map<NodeId, std::vector<Part>> by_owner;
    for (const Part& each : parts_of(board, source.id)) {
      if (each.base_owner != source.id) by_owner[each.base_owner].push_back(each);
    }
    for (const auto& [owner, parts] : by_owner) {
      const BoardNode target = board.node(owner);
      if (!free_target(target, constants)) continue;
      PlannedMove move = move_of(board, source, target, parts, Cause::kFlatten);
      if (!fits_memory(target, move, constants)) continue;
      move.reason = "flatten: " + pieces_text(move) + " go back from '" + source.name + "' to '" +
                    target.name + "', as the base has it";
      carry_out(board, plan, std::move(move));
      break;  // one move out
    }
  }
}

}  // namespace cleave::balance
