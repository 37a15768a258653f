#include "balance/steps/staged_moves.h"

#include <algorithm>
#include <map>
#include <utility>

#include "balance/steps/parts.h"
#include "base/check.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

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

// Those that have not left the node just now: load that was taken from it would come back.
std::vector<Part> new_to(const Calm& calm, NodeId node, const std::vector<Part>& parts) {
  const ring::RangeSet& left = calm.left(node);
  std::vector<Part> kept = parts;
  if (!left.empty())
    std::erase_if(kept, [&](const Part& each) { return ring::overlap({each.range}, left); });
  return kept;
}

// Whom a draining node gives to next, and what: to the node that the base names where that has
// room, because this takes a cut away; else to whoever has most room; else, because a drain must
// end, the coldest part to whoever is least loaded.
std::pair<NodeId, std::vector<Part>> next_of_drain(const Board& board, const Calm& calm,
                                                   const BoardNode& source,
                                                   const std::vector<Part>& parts) {
  CHECK(!parts.empty());
  const Constants& constants = board.constants();
  std::map<NodeId, std::vector<Part>> homes;
  for (const Part& part : parts) homes[part.base_owner].push_back(part);
  std::pair<NodeId, std::vector<Part>> home;
  const BoardNode* coolest = nullptr;
  const BoardNode* roomiest = nullptr;
  for (const BoardNode& each : board.nodes()) {
    if (!free_target(each, constants) || !placement_veto(source, each).empty()) continue;
    if (coolest == nullptr || each.level() < coolest->level()) coolest = &each;
    const std::uint64_t room = room_of(each, constants);
    if (roomiest == nullptr || room > room_of(*roomiest, constants)) roomiest = &each;
    const auto own = homes.find(each.id);
    if (own == homes.end()) continue;
    std::vector<Part> taken = within_room(new_to(calm, each.id, own->second), room);
    if (taken.size() > home.second.size()) home = {each.id, std::move(taken)};
  }
  if (!home.second.empty()) return home;
  if (coolest == nullptr) return {};
  std::vector<Part> any =
      within_room(new_to(calm, roomiest->id, parts), room_of(*roomiest, constants));
  if (!any.empty()) return {roomiest->id, std::move(any)};
  const auto coldest = std::ranges::min_element(
      parts, {}, [](const Part& part) { return std::pair(part.load, part.range.first); });
  return {coolest->id, {*coldest}};
}

// Why not, of the first few nodes.
std::vector<Alternative> drain_vetoes(const Board& board, const BoardNode& source) {
  std::vector<Alternative> result;
  for (const BoardNode& each : board.nodes()) {
    if (each.id == source.id || result.size() >= kAlternativesMax) continue;
    std::string no = each.no_target.empty() ? placement_veto(source, each) : each.no_target;
    result.push_back({each.id, no.empty() ? "it is taking another move" : std::move(no)});
  }
  return result;
}

}  // namespace

void plan_drains(Board& board, const Calm& calm, Plan& plan) {
  const Constants& constants = board.constants();
  const std::vector<BoardNode> before = board.nodes();
  for (const BoardNode& source : before) {
    if (!source.draining) continue;
    const std::vector<Part> parts = parts_of(board, source.id);
    if (parts.empty()) continue;
    const std::string who = "node '" + source.name + "' is being drained";
    const ring::Node* const drained = ring::find_node(board.input().view->document(), source.id);
    CHECK(drained != nullptr && drained->state == ring::NodeState::kDraining);
    if (drained->drain_held) {
      plan.verdicts.push_back({.why = Why::kHeld,
                               .node = source.id,
                               .text = who + ", but a move of its drain was aborted by order"});
      continue;
    }
    if (!source.no_source.empty()) {
      plan.verdicts.push_back({.why = Why::kVeto,
                               .node = source.id,
                               .text = who + ", but no move may touch it: " + source.no_source});
      continue;
    }
    if (!free_source(source, constants)) continue;  // one move after the other
    const auto [target, taken] = next_of_drain(board, calm, source, parts);
    if (taken.empty()) {
      plan.verdicts.push_back({.why = Why::kNoTarget,
                               .node = source.id,
                               .text = who + ", but no node can take anything now",
                               .alternatives = drain_vetoes(board, source)});
      continue;
    }
    const BoardNode to = board.node(target);
    PlannedMove move = move_of_parts(board, source, to, taken, Cause::kDrain);
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
      each.load = board.load_in(*each.of, each.range);
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
  const ring::RangeSet& away = calm.left(target);
  std::vector<Part> parts = parts_of(board, source);
  std::erase_if(parts, [&](const Part& each) { return ring::overlap({each.range}, away); });
  std::ranges::stable_partition(parts, [&](const Part& each) { return each.base_owner == target; });
  return parts;
}

void fill(Board& board, const Calm& calm, NodeId id, Plan& plan) {
  const Constants& constants = board.constants();
  const BoardNode target = board.node(id);
  if (!free_target(target, constants) || target.width >= target.fair_width) return;
  if (board.total_load() > 0 && target.level() > constants.join_load_ppm) return;
  const std::uint64_t room =
      board.total_load() == 0 ? ~std::uint64_t{0} : room_of(target, constants);
  const Wide deficit = target.fair_width - target.width;
  // From whoever has most above its own share: nobody falls below it.
  const BoardNode* donor = nullptr;
  for (const BoardNode& each : board.nodes()) {
    if (each.draining || !free_source(each, constants) || each.width <= each.fair_width) continue;
    if (!placement_veto(each, target).empty()) continue;
    if (donor == nullptr || each.width - each.fair_width > donor->width - donor->fair_width) {
      donor = &each;
    }
  }
  if (donor == nullptr) return;
  const BoardNode source = *donor;
  const Wide amount = std::min(deficit, source.width - source.fair_width);
  const auto taken = of_width(board, offered(board, source.id, id, calm), amount, room);
  if (taken.empty()) return;
  PlannedMove move = move_of_parts(board, source, target, taken, Cause::kJoin);
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
  // A drain changes everybody's share: first it ends, then it is seen who still lacks something.
  const auto drains = [](const BoardNode& each) { return each.draining && each.width > 0; };
  if (std::ranges::any_of(board.nodes(), drains)) return;
  for (const NodeTrigger& each : plan.trigger.nodes) {
    if (each.filling) fill(board, calm, each.node, plan);
  }
}

}  // namespace cleave::balance
