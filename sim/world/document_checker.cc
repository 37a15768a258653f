#include "sim/world/document_checker.h"

#include <algorithm>
#include <set>

#include "ring/view/diff.h"

namespace cleave::sim {
namespace {

std::string name_of(const ring::Move& move) { return "move " + std::to_string(move.id.value()); }

}  // namespace

std::size_t server_of(const ring::RingView& view, NodeId node) {
  const auto& nodes = view.document().nodes;
  return static_cast<std::size_t>(std::ranges::find(nodes, node, &ring::Node::id) - nodes.begin());
}

void DocumentChecker::violation(const std::string& text) {
  violations_.push_back("document: " + text);
}

void DocumentChecker::see(const coord::Stored& stored, Instant now) {
  Result<ring::Document> document = ring::parse_document(stored.text);
  if (!document) return violation("cannot be read: " + document.error().message);
  if (document->epoch != stored.epoch)
    violation("says epoch " + std::to_string(document->epoch.value()) + " at epoch " +
              std::to_string(stored.epoch.value()));
  // A view is built only when every token has exactly one owner.
  Result<ring::RingSnapshot> view = ring::RingView::build(std::move(*document));
  if (!view) return violation("gives no ring: " + view.error().message);
  if (view_ != nullptr) compare(*view_, **view, now);
  view_ = std::move(*view);
}

void DocumentChecker::compare(const ring::RingView& before, const ring::RingView& after,
                              Instant now) {
  if (after.epoch().value() != before.epoch().value() + 1)
    violation("epoch " + std::to_string(after.epoch().value()) + " after " +
              std::to_string(before.epoch().value()));
  std::set<MoveId> ids;
  for (const ring::Move& move : before.document().moves) ids.insert(move.id);
  for (const ring::Move& move : after.document().moves) ids.insert(move.id);
  for (const MoveId id : ids)
    compare_move(ring::find_move(before.document(), id), after.document(), id, now);
  compare_owners(before, after);
  if (after.document().leader.term < before.document().leader.term) violation("a term went back");
}

bool is_committed(const ring::Move& move, const ring::Document& after) {
  const ring::Leftover* left = ring::find_leftover(after, move.id);
  return move.phase == ring::Phase::kFenced && ring::find_move(after, move.id) == nullptr &&
         left != nullptr && left->node == move.source;
}

// The only ways of a move: begun COPYING (a taking back: FENCED), COPYING -> FENCED -> gone with an
// entry of its source, or gone without one.
void DocumentChecker::compare_move(const ring::Move* before, const ring::Document& now_document,
                                   MoveId id, Instant now) {
  using ring::Phase;
  const ring::Move* after = ring::find_move(now_document, id);
  if (before == nullptr) {
    const Phase first = after->takes_back == MoveId{} ? Phase::kCopying : Phase::kFenced;
    begun_ += after->takes_back == MoveId{} ? 1U : 0U;
    if (after->phase != first) violation(name_of(*after) + " does not begin as it should");
    if (after->phase == Phase::kFenced) fenced_at_[id] = now;
    return;
  }
  if (before->phase == Phase::kFenced && (after == nullptr || after->phase != Phase::kFenced)) {
    longest_fence_ = std::max(longest_fence_, now - fenced_at_[id]);
    fenced_at_.erase(id);
  }
  if (after == nullptr) {
    if (!is_committed(*before, now_document)) {
      ++aborted_;
    } else if (before->takes_back == MoveId{}) {
      ++committed_;
    }
    return;
  }
  if (before->phase == after->phase) {
    if (before->phase_epoch != after->phase_epoch)
      violation(name_of(*after) + " changed its phase epoch within a phase");
  } else if (before->phase == Phase::kCopying && after->phase == Phase::kFenced) {
    fenced_at_[id] = now;
  } else {
    violation(name_of(*after) + " went from " + std::string(ring::to_string(before->phase)) +
              " to " + std::string(ring::to_string(after->phase)));
  }
}

// A token changes hands only by a commit of a move that holds it, from source to destination.
void DocumentChecker::compare_owners(const ring::RingView& before, const ring::RingView& after) {
  for (const ring::Change& change : ring::diff(before, after)) {
    const auto& moves = before.document().moves;
    const bool allowed = std::any_of(moves.begin(), moves.end(), [&](const ring::Move& move) {
      return is_committed(move, after.document()) && change.from == move.source &&
             change.to == move.destination && ring::contains(move.ranges, change.range.first) &&
             ring::difference({change.range}, move.ranges).empty();
    });
    if (!allowed)
      violation("range " + ring::to_string(change.range) +
                " changed hands without a commit at epoch " +
                std::to_string(after.epoch().value()));
  }
}

}  // namespace cleave::sim
