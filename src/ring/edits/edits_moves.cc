// Edits along the life of a move (ring/edits/edits.h; docs/formats/move-protocol.md).
#include <algorithm>
#include <cstddef>
#include <string>

#include "base/check.h"
#include "ring/edits/edit_steps.h"
#include "ring/edits/edits.h"
#include "ring/edits/move_steps.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

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

// Rule 12, while a pool is upgraded or goes back.
Result<void> check_readers(const Document& document) {
  if (const Router* old = old_reader(document); old != nullptr) {
    return conflict("move: upgrade: router " + old->session.value() +
                    " is of an older version, which moves by other rules; upgrade it first");
  }
  if (document.old_readers) {
    return conflict("move: the pool is going back to an older version; 'cleave resume' ends that");
  }
  return {};
}

const Leftover* leftover_at(const Document& document, NodeId node, const RangeSet& ranges) {
  const auto found = std::ranges::find_if(document.leftovers, [&](const Leftover& leftover) {
    return leftover.node == node && overlap(leftover.ranges, ranges);
  });
  return found == document.leftovers.end() ? nullptr : &*found;
}

}  // namespace

Result<Document> begin_move(const Document& document, const MoveRequest& request) {
  if (const auto good = check_request(request); !good) return std::unexpected(good.error());
  if (document.frozen) return conflict("move: the pool is frozen");
  if (const auto good = check_ends(document, request); !good) return std::unexpected(good.error());
  if (const auto good = check_cuttable(document, "move"); !good) {
    return std::unexpected(good.error());
  }
  if (const auto good = check_readers(document); !good) return std::unexpected(good.error());
  const RangeSet ranges = normalised(request.ranges);
  if (const auto good = check_free(document, ranges, "move"); !good) {
    return std::unexpected(good.error());
  }
  if (const Leftover* left = leftover_at(document, request.destination, ranges); left != nullptr) {
    return conflict("move: " + describe(document, request.destination) +
                    " may still hold copies of some of the tokens, of move " +
                    std::to_string(left->move.value()) + "; they are cleaned first" +
                    (left->kept() ? ": see 'cleave leftovers'" : ""));
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
  Move& fenced = *std::ranges::find(next.moves, move, &Move::id);
  CHECK(fenced.phase_epoch < next.epoch);  // rule 4: a phase epoch is met once
  fenced.phase = Phase::kFenced;
  fenced.phase_epoch = next.epoch;
  return next;
}

Result<Document> enter_copies(const Document& document, MoveId move, Epoch phase_epoch,
                              UnixMillis now, const std::string& server) {
  const auto index = find_in_phase(document, move, phase_epoch, Phase::kCopying);
  if (!index) return fail("enter", index.error());
  if (find_leftover(document, move) != nullptr) {
    return conflict("enter: move " + std::to_string(move.value()) + " has entered its copies");
  }
  Document next = advanced(document);
  const Move& entered = document.moves[*index];
  CHECK(entered.source != entered.destination);  // an entry never names the owner (rule 1)
  insert(next.leftovers, {.move = move,
                          .node = entered.destination,
                          .ranges = entered.ranges,
                          .since = now,
                          .server = server});
  return next;
}

Result<Document> commit_move(const Document& document, MoveId move, Epoch phase_epoch,
                             const Holder& holder, UnixMillis now, Pin pin,
                             const std::string& server) {
  const auto index = find_in_phase(document, move, phase_epoch, Phase::kFenced);
  if (!index) return fail("commit", index.error());
  const Move& committed = document.moves[*index];
  if (committed.takes_back != MoveId{}) return conflict("commit: the move takes a range back");
  if (find_leftover(document, move) == nullptr) {
    return conflict("commit: the copies of move " + std::to_string(move.value()) +
                    " were not entered");
  }
  Document next = advanced(document);
  std::erase_if(next.moves, [&](const Move& each) { return each.id == move; });
  give_ranges(next, committed, now, pin.until);
  // The destination's copies are the range now; those of the source are what is left over.
  std::erase_if(next.leftovers, [&](const Leftover& entry) { return entry.move == move; });
  insert(next.leftovers, {.move = move,
                          .node = committed.source,
                          .ranges = committed.ranges,
                          .since = now,
                          .holder = committed.destination,
                          .incarnation = holder.incarnation,
                          .offset = holder.offset,
                          .server = server});
  if (const Result<void> valid = validate(next); !valid) return fail("commit", valid.error());
  return next;
}

Result<Document> abort_by_order(const Document& document, std::span<const MoveId> moves) {
  Document next = advanced(document);
  for (const MoveId id : moves) {
    const Move* move = find_move(document, id);
    if (move == nullptr) return conflict("that move has just ended");
    if (move->phase == Phase::kClean) {
      return conflict("the move is committed: it is finished, not aborted; see undo");
    }
    const auto source = std::ranges::find(next.nodes, move->source, &Node::id);
    CHECK(source != next.nodes.end());
    // A taking back is no move of a drain.
    const bool drains = source->state == NodeState::kDraining && move->takes_back == MoveId{};
    source->drain_held = source->drain_held || drains;
    std::erase_if(next.moves, [id](const Move& each) { return each.id == id; });
  }
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
  std::erase_if(next.moves, [&](const Move& each) { return each.id == move; });
  return next;
}

}  // namespace cleave::ring
