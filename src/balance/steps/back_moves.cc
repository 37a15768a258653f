#include "balance/steps/back_moves.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "balance/steps/parts.h"
#include "base/check.h"

namespace cleave::balance {
namespace {

using MayGo = std::function<bool(const BoardNode& source, const Part& part)>;
using Limit = std::function<void(const BoardNode& target, std::vector<Part>& parts)>;

Verdict verdict_of(Cause cause, const BoardNode& source, const BoardNode& target,
                   const std::string& no) {
  return {.why = Why::kNoTarget,
          .node = source.id,
          .text = std::string(to_string(cause)) + ": what the base gives to '" + target.name +
                  "' stays on '" + source.name + "': " + no,
          .alternatives = {{target.id, no}}};
}

// For each node that may give: its parts that the base gives to another one, to the first such node
// that may take.
void move_back(Board& board, Plan& plan, Cause cause, const MayGo& may_go, const Limit& limit) {
  const Constants& constants = board.constants();
  const std::vector<BoardNode> before = board.nodes();
  for (const BoardNode& source : before) {
    if (!free_source(board.node(source.id), constants)) continue;
    std::map<NodeId, std::vector<Part>> by_owner;
    for (const Part& each : parts_of(board, source.id)) {
      if (each.base_owner != source.id && may_go(source, each)) {
        by_owner[each.base_owner].push_back(each);
      }
    }
    for (auto& [owner, parts] : by_owner) {
      const BoardNode target = board.node(owner);
      if (!free_target(target, constants)) continue;
      if (const std::string no = placement_veto(source, target); !no.empty()) {
        plan.verdicts.push_back(verdict_of(cause, source, target, no));
        continue;
      }
      limit(target, parts);
      if (parts.empty()) continue;
      PlannedMove move = move_of_parts(board, board.node(source.id), target, parts, cause);
      if (!fits_memory(target, move, constants)) continue;
      move.reason = std::string(to_string(cause)) + ": " + pieces_text(move) + " go back from '" +
                    source.name + "' to '" + target.name + "', as the base has it";
      carry_out(board, plan, std::move(move));
      break;  // one move out of a node
    }
  }
}

// The cut that covers all of the range, or nullptr.
const ring::Cut* cut_over(const Board& board, const ring::TokenRange& range) {
  const auto& cuts = board.input().view->document().cuts;
  const auto found = std::ranges::lower_bound(
      cuts, range.first, {}, [](const ring::Cut& each) { return each.range.last; });
  if (found == cuts.end() || found->range.first > range.first) return nullptr;
  return range.last <= found->range.last ? &*found : nullptr;
}

std::uint64_t peak_in(const heat::Picture& picture, const ring::TokenRange& range) {
  auto at = std::ranges::lower_bound(picture.ranges, range.first, {},
                                     [](const heat::RangeLoad& each) { return each.range.last; });
  std::uint64_t peak = 0;
  for (; at != picture.ranges.end() && at->range.first <= range.last; ++at) peak += at->load.peak;
  return peak;
}

}  // namespace

void plan_flatten(Board& board, Plan& plan) {
  move_back(
      board, plan, Cause::kFlatten, [](const BoardNode&, const Part&) { return true; },
      [](const BoardNode&, std::vector<Part>&) {});
}

void plan_gather(Board& board, const Calm& calm, Plan& plan) {
  const Input& input = board.input();
  const Constants& constants = input.constants;
  const std::size_t cuts = input.view->document().cuts.size();
  if (cuts <= board.nodes().size() * constants.gather_cuts_per_node) return;
  if (input.picture.observed < constants.merge_observed) return;

  const auto cold_for_long = [&](const BoardNode& source, const Part& part) {
    const ring::Cut* cut = cut_over(board, part.range);
    if (cut == nullptr || cut->pinned_until > input.now) return false;
    if (input.now.value() - cut->created.value() < constants.merge_after.count()) return false;
    const Wide cut_load = Wide{source.fair} * constants.cut_ppm / 1'000'000;
    if (peak_in(input.picture, part.range) > cut_load * constants.merge_ppm / 1'000'000)
      return false;
    return !ring::overlap({part.range}, calm.left(part.base_owner));
  };
  std::uint64_t keys_left =
      calm.keys_left(board.total_keys(), constants.hour_keys_ppm / constants.slow_divisor);
  const auto within_budget = [&](const BoardNode& target, std::vector<Part>& parts) {
    std::uint64_t room = board.total_load() == 0 ? ~std::uint64_t{0} : room_of(target, constants);
    std::erase_if(parts, [&](const Part& each) {
      const BoardNode& source = board.node(input.view->owner(each.range.first));
      const std::uint64_t keys = board.price_of(source).keys_in(each.range);
      if (keys > keys_left || each.load > room) return true;
      keys_left -= keys;
      room -= each.load;
      return false;
    });
  };
  move_back(board, plan, Cause::kGather, cold_for_long, within_budget);
}

}  // namespace cleave::balance
