// Edits along the life of a move (ring/edits.h; docs/formats/move-protocol.md).
#include <algorithm>
#include <cstddef>
#include <optional>

#include "ring/edit_steps.h"
#include "ring/edits.h"
#include "ring/ownership.h"

namespace cleave::ring {
namespace {

std::unexpected<Error> conflict(const std::string& what) { return fail(Code::kConflict, what); }

// Rule 4: an order counts only in the phase epoch that it was given for, "at least" is not enough.
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

// As above, and in that phase.
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

Result<void> check_request(const MoveRequest& request) {
  const auto backwards = [](const TokenRange& range) { return range.last < range.first; };
  if (request.ranges.empty()) return fail(Code::kInvalid, "move: no range");
  if (std::ranges::any_of(request.ranges, backwards)) {
    return fail(Code::kInvalid, "move: a range ends before it begins");
  }
  if (request.source == request.destination) {
    return fail(Code::kInvalid, "move: source and destination are the same node");
  }
  return {};
}

Result<void> check_ends(const Document& document, const MoveRequest& request) {
  for (const NodeId id : {request.source, request.destination}) {
    if (find_node(document, id) == nullptr) {
      return conflict("move: " + describe(document, id) + " is unknown");
    }
  }
  if (find_node(document, request.destination)->state != NodeState::kActive) {
    return conflict("move: " + describe(document, request.destination) +
                    " is draining and takes nothing");
  }
  return {};
}

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

// The destination owns the tokens of the cut's range: by the base alone where that says so.
void give(std::vector<Cut>& cuts, const std::vector<Arc>& base, Cut cut) {
  carve(cuts, cut.range);
  const std::optional<TokenRange> range = disputed(base, cut.node, cut.range);
  if (!range) return;
  cut.range = *range;
  lay(cuts, cut);
}

}  // namespace

Result<Document> begin_move(const Document& document, const MoveRequest& request) {
  if (const auto good = check_request(request); !good) return std::unexpected(good.error());
  if (document.frozen) return conflict("move: the pool is frozen");
  if (const auto good = check_ends(document, request); !good) return std::unexpected(good.error());
  if (const auto good = check_cuttable(document, "move"); !good) {
    return std::unexpected(good.error());
  }
  const RangeSet ranges = normalised(request.ranges);
  for (const Move& move : document.moves) {
    if (overlap(move.ranges, ranges)) {
      return conflict("move: move " + std::to_string(move.id.value()) +
                      " holds some of the tokens");
    }
  }
  if (!owns_all(owners(document), request.source, ranges)) {
    return conflict("move: " + describe(document, request.source) + " does not own all the tokens");
  }
  Document next = advanced(document);
  next.moves.push_back({.id = MoveId{next.epoch.value()},
                        .ranges = ranges,
                        .source = request.source,
                        .destination = request.destination,
                        .phase = Phase::kCopying,
                        .phase_epoch = next.epoch,
                        .reason = request.reason,
                        .started = request.now});
  if (const Result<void> valid = validate(next); !valid) return fail("move", valid.error());
  return next;
}

Result<Document> fence_move(const Document& document, MoveId move, Epoch phase_epoch) {
  const auto index = find_in_phase(document, move, phase_epoch, Phase::kCopying);
  if (!index) return fail("fence", index.error());
  Document next = advanced(document);
  next.moves[*index].phase = Phase::kFenced;
  next.moves[*index].phase_epoch = next.epoch;
  return next;
}

Result<Document> commit_move(const Document& document, MoveId move, Epoch phase_epoch,
                             UnixMillis now, Pin pin) {
  const auto index = find_in_phase(document, move, phase_epoch, Phase::kFenced);
  if (!index) return fail("commit", index.error());
  Document next = advanced(document);
  Move& committed = next.moves[*index];
  committed.phase = Phase::kClean;
  committed.phase_epoch = next.epoch;
  const std::vector<Arc> base = base_of(document);
  for (const TokenRange& range : committed.ranges) {
    give(next.cuts, base,
         {.range = range,
          .node = committed.destination,
          .reason = committed.reason,
          .created = now,
          .pinned_until = pin.until});
  }
  if (const Result<void> valid = validate(next); !valid) return fail("commit", valid.error());
  return next;
}

Result<Document> finish_move(const Document& document, MoveId move, Epoch phase_epoch) {
  const auto index = find_in_phase(document, move, phase_epoch, Phase::kClean);
  if (!index) return fail("finish", index.error());
  Document next = advanced(document);
  next.moves.erase(next.moves.begin() + static_cast<std::ptrdiff_t>(*index));
  return next;
}

Result<Document> abort_move(const Document& document, MoveId move, Epoch phase_epoch) {
  const auto index = find_in_phase(document, move, phase_epoch);
  if (!index) return fail("abort", index.error());
  if (document.moves[*index].phase == Phase::kClean) {
    return conflict("abort: move " + std::to_string(move.value()) +
                    " is committed; it is finished instead, a move back undoes it");
  }
  Document next = advanced(document);
  next.moves.erase(next.moves.begin() + static_cast<std::ptrdiff_t>(*index));
  return next;
}

}  // namespace cleave::ring
