#include "balance/steps/leveller.h"

#include <algorithm>
#include <utility>

#include "balance/steps/parts.h"
#include "base/ppm.h"

namespace cleave::balance {
namespace {

// Cuts that the document has more, at most, when the ranges have gone there: a cut out of whose
// middle a range goes is two, and what the base gives to somebody else needs one of its own.
std::uint64_t cuts_more(const ring::RingView& view, const ring::RangeSet& ranges, NodeId to) {
  const std::vector<ring::Cut>& cuts = view.document().cuts;
  const auto last = [](const ring::Cut& cut) { return cut.range.last; };
  std::int64_t more = 0;
  for (const ring::TokenRange& range : ranges) {
    auto cut = std::ranges::lower_bound(cuts, range.first, {}, last);
    for (; cut != cuts.end() && cut->range.first <= range.last; ++cut) {
      more += (cut->range.first < range.first ? 1 : 0) + (cut->range.last > range.last ? 1 : 0) - 1;
    }
    const std::vector<ring::Arc> base = view.base_in(range);
    const bool home = std::ranges::all_of(base, [&](const auto& arc) { return arc.node == to; });
    more += home ? 0 : 1;
  }
  return static_cast<std::uint64_t>(std::max<std::int64_t>(more, 0));
}

// Beside those of the document, what is under way or planned already will have its own.
std::uint32_t cuts_left(const Board& board, const Plan& plan) {
  const Constants& constants = board.constants();
  const ring::RingView& view = *board.input().view;
  const std::size_t by_nodes = board.nodes().size() * constants.cuts_per_node;
  const std::size_t most = std::min<std::size_t>(by_nodes, constants.cuts_max);
  std::uint64_t cuts = view.document().cuts.size();
  for (const ring::Move& move : view.document().moves)
    cuts += cuts_more(view, move.ranges, move.destination);
  for (const PlannedMove& move : plan.moves) cuts += cuts_more(view, move.ranges, move.destination);
  return static_cast<std::uint32_t>(above(most, cuts));
}

}  // namespace

Leveller::Leveller(Board& board, const Calm& calm, Plan& plan)
    : board_(board),
      calm_(calm),
      plan_(plan),
      constants_(board.constants()),
      cuts_left_(cuts_left(board, plan)) {}

std::vector<Offer> Leveller::offers(const BoardNode& source, const BoardNode& target) const {
  const ring::RangeSet& away = calm_.left(target.id);
  std::vector<Offer> result;
  for (const BoardRange& each : board_.ranges_of(source.id)) {
    for (const ring::TokenRange& free : ring::outside(each.range, calm_.dwelling())) {
      for (const ring::TokenRange& range : ring::outside(free, away)) {
        result.push_back({.of = &each, .range = range});
      }
    }
  }
  return result;
}

ring::RangeSet Leveller::own_ranges(const BoardNode& source) const {
  ring::RangeSet own;
  for (const BoardRange& each : board_.ranges_of(source.id)) own.push_back(each.range);
  return own;
}

std::uint64_t Leveller::keys_left(std::uint32_t hour_ppm, std::uint32_t divisor) const {
  const std::uint64_t hour = calm_.keys_left(board_.total_keys(), hour_ppm);
  return above(std::min(keys_a_plan(board_) / divisor, hour), keys_used_);
}

void Leveller::take(PlannedMove move, std::vector<Alternative> passed_over) {
  move.alternatives = std::move(passed_over);
  if (!ordered(move.cause)) keys_used_ += move.keys;
  carry_out(board_, plan_, std::move(move));
}

void Leveller::spend_cuts(std::uint64_t cuts) {
  cuts_left_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(cuts_left_, cuts));
}

std::string Leveller::vetoed(const BoardNode& source, Verdict& verdict) {
  verdict.why = Why::kVeto;
  return "no move may touch it: " + source.no_source;
}

std::string Leveller::no_cuts(Verdict& verdict) {
  verdict.why = Why::kCuts;
  return "the pool has as many cuts as it may have; merges come first";
}

std::string Leveller::no_keys(std::uint64_t wanted, std::uint32_t hour_ppm,
                              Verdict& verdict) const {
  verdict.why = Why::kBudget;
  verdict.until = calm_.keys_left_at(wanted, board_.total_keys(), hour_ppm);
  return "the budget of keys is used up";
}

std::string Leveller::dwells(const BoardNode& source, Verdict& verdict) const {
  verdict.why = Why::kDwell;
  verdict.until = calm_.dwelling_until(own_ranges(source));
  return "what could be given was put there only just now";
}

}  // namespace cleave::balance
