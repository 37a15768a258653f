#include "ring/edits/move_steps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "ring/canonical.h"
#include "ring/edits/edit_steps.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

// The part of the range from the first to the last token that the base gives to somebody else than
// `node`; nullopt when there is none. What lies between stays one piece: a hole would make two cuts
// of one.
std::optional<TokenRange> disputed(const std::vector<Arc>& base, NodeId node,
                                   const TokenRange& range) {
  std::optional<TokenRange> result;
  auto arc = std::ranges::lower_bound(base, range.first, {},
                                      [](const Arc& each) { return each.range.last; });
  for (; arc != base.end() && arc->range.first <= range.last; ++arc) {
    if (arc->node == node) continue;
    if (!result) result = {std::max(arc->range.first, range.first), range.last};
    result->last = std::min(arc->range.last, range.last);
  }
  return result;
}

// Gives the tokens of the cut's range to its node: by the base alone where that says so.
void give(std::vector<Cut>& cuts, const std::vector<Arc>& base, Cut cut) {
  carve(cuts, cut.range);
  const std::optional<TokenRange> range = disputed(base, cut.node, cut.range);
  if (!range) return;
  CHECK(cut.range.first <= range->first && range->last <= cut.range.last);
  cut.range = *range;
  lay(cuts, cut);
}

}  // namespace

Result<std::size_t> find_in_phase(const Document& document, MoveId id, Epoch phase_epoch) {
  const Move* move = find_move(document, id);
  if (move == nullptr) return conflict("move " + std::to_string(id.value()) + " is gone");
  if (move->phase_epoch != phase_epoch) {
    return conflict("move " + std::to_string(id.value()) + " is in phase epoch " +
                    std::to_string(move->phase_epoch.value()) + ", not " +
                    std::to_string(phase_epoch.value()));
  }
  return static_cast<std::size_t>(move - document.moves.data());
}

Result<std::size_t> find_in_phase(const Document& document, MoveId id, Epoch phase_epoch,
                                  Phase phase) {
  Result<std::size_t> index = find_in_phase(document, id, phase_epoch);
  if (index && document.moves[*index].phase != phase) {
    return conflict("move " + std::to_string(id.value()) + " is " +
                    std::string(to_string(document.moves[*index].phase)) + ", not " +
                    std::string(to_string(phase)));
  }
  return index;
}

Result<void> check_free(const Document& document, const RangeSet& ranges, const std::string& what) {
  for (const Move& move : document.moves) {
    if (overlap(move.ranges, ranges)) {
      return conflict(what + ": move " + std::to_string(move.id.value()) +
                      " holds some of the tokens");
    }
  }
  return {};
}

void give_ranges(Document& document, const Move& move, UnixMillis now, UnixMillis pinned_until) {
  CHECK(!move.ranges.empty() && is_canonical(move.ranges));
  CHECK(move.source != move.destination);
  const std::vector<Arc> base = base_of(document);
  for (const TokenRange& range : move.ranges) {
    give(document.cuts, base,
         {.range = range,
          .node = move.destination,
          .reason = move.reason,
          .created = now,
          .pinned_until = pinned_until});
  }
}

void insert(std::vector<Leftover>& leftovers, Leftover leftover) {
  const auto place = std::ranges::lower_bound(leftovers, leftover.move, {}, &Leftover::move);
  CHECK(place == leftovers.end() || place->move != leftover.move);
  leftovers.insert(place, std::move(leftover));
}

}  // namespace cleave::ring
