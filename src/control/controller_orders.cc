// A person's orders (control/operator.h): each an edit of the document or a move.

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "control/controller.h"
#include "control/controller_impl.h"
#include "control/describe.h"
#include "ring/diff.h"
#include "ring/scheme.h"

namespace cleave::control {
namespace {

template <class T>
void answer(net::Loop& loop, Operator::Done<T> done, Result<T> result) {
  loop.post([done = std::move(done), result = std::move(result)] { done(result); });
}

}  // namespace

Error Controller::Impl::not_leading() const {
  const ring::RingSnapshot& view = membership.view();
  if (view == nullptr) return {Code::kUnavailable, "the router has not joined its ring yet"};
  const SessionId& leader = view->document().leader.session;
  return {Code::kUnavailable, "this router does not lead; ask the leader" +
                                  (leader.value().empty() ? std::string() : " " + leader.value())};
}

void Controller::Impl::order(DocumentWriter::Edit edit, std::string kind, std::string subject,
                             Operator::Done<void> done) {
  writer.edit(std::move(edit),
              guarded(alive, [this, kind = std::move(kind), subject = std::move(subject),
                              done = std::move(done)](Result<SharedDocument> document) {
                if (!document) return done(std::unexpected(document.error()));
                decide({.at = options.loop.wall_now(),
                        .kind = kind,
                        .subject = subject,
                        .reason = "ordered",
                        .predicted = "",
                        .real = ""});
                done({});
              }));
}

void Controller::Impl::move(ring::MoveRequest request, Operator::Done<MoveId> done) {
  if (board == nullptr) return answer<MoveId>(options.loop, done, std::unexpected(not_leading()));
  decide({.at = options.loop.wall_now(),
          .kind = "order",
          .subject = describe(request.ranges),
          .reason = "move: " + request.reason,
          .predicted = "",
          .real = ""});
  board->want(std::move(request), std::move(done));
}

void Controller::Impl::undo(MoveId id, Operator::Done<MoveId> done) {
  const auto record =
      std::ranges::find_if(ended, [&](const MoveRecord& held) { return held.move.id == id; });
  if (record == ended.end() || record->end != MoveEnd::kCommitted) {
    return answer<MoveId>(options.loop, done,
                          fail(Code::kNotFound, "no committed move of that id is remembered"));
  }
  move({.ranges = record->move.ranges,
        .source = record->move.destination,
        .destination = record->move.source,
        .reason = "undo of move " + std::to_string(id.value()),
        .now = options.loop.wall_now()},
       std::move(done));
}

// The boundary lies behind the token: the range up to it becomes a cut of its present owner.
void Controller::Impl::cut(CutOrder wanted, Operator::Done<void> done) {
  const ring::RingSnapshot& view = membership.view();
  if (view == nullptr) return answer<void>(options.loop, done, std::unexpected(not_leading()));
  const ring::Entry& entry = view->entry(view->find(wanted.at));
  if (wanted.at == entry.range.last) {
    return answer<void>(options.loop, done,
                        fail(Code::kConflict, "there is a boundary at that token already"));
  }
  const ring::Cut cut{.range = {entry.range.first, wanted.at},
                      .node = entry.node,
                      .reason = std::move(wanted.reason),
                      .created = options.loop.wall_now(),
                      .pinned_until = wanted.pinned_until};
  order([cut](const ring::Document& document) { return ring::lay_cut(document, cut); }, "cut",
        ring::to_string(cut.range), std::move(done));
}

void Controller::Impl::add_node(ring::Node node, Operator::Done<NodeId> done) {
  const std::string name = node.name;
  const UnixMillis now = options.loop.wall_now();
  order([node, now](const ring::Document& document) { return ring::add_node(document, node, now); },
        "node", "add " + name,
        [this, name, done = std::move(done)](Result<void> added) {
          if (!added) return done(std::unexpected(added.error()));
          const ring::Node* found = ring::find_node(*writer.newest(), name);
          if (found == nullptr) return done(fail(Code::kConflict, "the node is gone again"));
          done(found->id);
        });
}

void Controller::Impl::presplit(PresplitOrder wanted, Operator::Done<Presplit> done) {
  if (balancer == nullptr)
    return answer<Presplit>(options.loop, done, std::unexpected(not_leading()));
  Result<Presplit> rehearsed = balancer->rehearse(wanted.events);
  if (rehearsed && !wanted.force) {
    if (const Result<void> room = check_room(*rehearsed); !room)
      rehearsed = std::unexpected(room.error());
  }
  if (!rehearsed || wanted.dry_run)
    return answer<Presplit>(options.loop, done, std::move(rehearsed));
  std::string names;
  for (const ring::ExpectedEvent& event : rehearsed->events)
    names += (names.empty() ? "expect " : ", ") + event.name;
  const UnixMillis now = options.loop.wall_now();
  const auto edit = [events = rehearsed->events, now](const ring::Document& document) {
    return ring::expect(document, events, now);
  };
  order(edit, "presplit", names,
        [rehearsed = std::move(rehearsed), done = std::move(done)](const Result<void>& announced) {
          done(announced ? rehearsed : Result<Presplit>(std::unexpected(announced.error())));
        });
}

void Controller::Impl::forget(const std::string& event, Operator::Done<void> done) {
  const UnixMillis now = options.loop.wall_now();
  order([event, now](const ring::Document& document) { return ring::forget(document, event, now); },
        "presplit", "forget " + event, std::move(done));
}

// What differs from the ring without cuts, as moves back to where the base has it.
void Controller::Impl::flatten(Operator::Done<std::uint64_t> done) {
  using Count = std::uint64_t;
  if (board == nullptr) return answer<Count>(options.loop, done, std::unexpected(not_leading()));
  const ring::RingSnapshot& view = membership.view();
  ring::Document bare = view->document();
  bare.cuts.clear();
  const Result<ring::RingSnapshot> base = ring::RingView::build(std::move(bare));
  if (!base) return answer<Count>(options.loop, done, std::unexpected(base.error()));
  std::map<std::pair<NodeId, NodeId>, std::vector<ring::TokenRange>> moves;
  for (const ring::Change& change : ring::diff(*view, **base))
    moves[{change.from, change.to}].push_back(change.range);
  const Count ranges = moves.size();
  for (auto& [ends, pieces] : moves) {
    board->want({.ranges = std::move(pieces),
                 .source = ends.first,
                 .destination = ends.second,
                 .reason = "flatten: back to the base",
                 .now = options.loop.wall_now()},
                nullptr);
  }
  const UnixMillis now = options.loop.wall_now();
  // Cuts that agree with the base go at once; that there were none is no error.
  order(
      [now](const ring::Document& document) {
        return ring::merge_cuts(document, {ring::kFirstToken, ring::kLastToken}, now);
      },
      "flatten", std::to_string(ranges) + " moves",
      [done = std::move(done), ranges](const Result<void>&) { done(ranges); });
}

void Controller::Impl::approve(Operator::Done<std::uint64_t> done) {
  using Count = std::uint64_t;
  if (balancer == nullptr) return answer<Count>(options.loop, done, std::unexpected(not_leading()));
  answer<Count>(options.loop, done, balancer->approve());
}

// ---- the public face ----------------------------------------------------------------------------

void Controller::move(ring::MoveRequest request, Done<MoveId> done) {
  impl_->move(std::move(request), std::move(done));
}

void Controller::abort(MoveId move, Done<void> done) {
  Impl& impl = *impl_;
  const ring::RingSnapshot& view = impl.membership.view();
  const ring::Move* shown = view == nullptr ? nullptr : ring::find_move(view->document(), move);
  if (shown == nullptr) {
    return answer<void>(impl.options.loop, done,
                        fail(Code::kNotFound, "no move of that id is under way"));
  }
  if (impl.board != nullptr) {
    const Result<void> told = impl.board->abort(move, "aborted by order");
    if (told || told.error().code == Code::kConflict)
      return answer<void>(impl.options.loop, done, told);
  }
  // Anybody may abort, with no leader too (rule 22).
  impl.order(
      [move, epoch = shown->phase_epoch](const ring::Document& document) {
        return ring::abort_move(document, move, epoch);
      },
      "abort", "move " + std::to_string(move.value()), std::move(done));
}

void Controller::take_back(MoveId move, Done<MoveId> done) {
  if (impl_->board == nullptr)
    return answer<MoveId>(impl_->options.loop, done, std::unexpected(impl_->not_leading()));
  impl_->board->take_back(move, std::move(done));
}

void Controller::give_up(MoveId move, Done<void> done) {
  impl_->order(
      [move](const ring::Document& document) -> Result<ring::Document> {
        const ring::Leftover* kept = ring::find_leftover(document, move);
        if (kept == nullptr) return fail(Code::kConflict, "no leftover of that move is kept");
        return ring::release_leftover(document, *kept);
      },
      "clean", "leftover of move " + std::to_string(move.value()), std::move(done));
}

void Controller::allow_old_readers(Done<void> done) {
  impl_->order([](const ring::Document& document) { return ring::set_old_readers(document, true); },
               "downgrade", "the pool", std::move(done));
}

void Controller::undo(MoveId move, Done<MoveId> done) { impl_->undo(move, std::move(done)); }

void Controller::cut(CutOrder order, Done<void> done) {
  impl_->cut(std::move(order), std::move(done));
}

void Controller::presplit(PresplitOrder order, Done<Presplit> done) {
  impl_->presplit(std::move(order), std::move(done));
}

void Controller::forget(std::string event, Done<void> done) {
  impl_->forget(event, std::move(done));
}

void Controller::merge(ring::TokenRange range, Done<void> done) {
  const UnixMillis now = impl_->options.loop.wall_now();
  impl_->order(
      [range, now](const ring::Document& document) {
        return ring::merge_cuts(document, range, now);
      },
      "merge", ring::to_string(range), std::move(done));
}

void Controller::freeze(bool frozen, Done<void> done) {
  impl_->order(
      [frozen](const ring::Document& document) {
        Result<ring::Document> next = ring::set_frozen(document, frozen);
        if (next && !frozen) next->old_readers = false;
        return next;
      },
      frozen ? "freeze" : "resume", "the pool", std::move(done));
}

void Controller::set_mode(ring::Mode mode, Done<void> done) {
  impl_->order([mode](const ring::Document& document) { return ring::set_mode(document, mode); },
               "mode", std::string(ring::to_string(mode)), std::move(done));
}

void Controller::approve(Done<std::uint64_t> done) { impl_->approve(std::move(done)); }

void Controller::add_node(ring::Node node, Done<NodeId> done) {
  impl_->add_node(std::move(node), std::move(done));
}

void Controller::drain_node(NodeId node, Done<void> done) {
  const UnixMillis now = impl_->options.loop.wall_now();
  impl_->order(
      [node, now](const ring::Document& document) { return ring::drain_node(document, node, now); },
      "node", "drain " + std::to_string(node.value()), std::move(done));
}

void Controller::flatten(Done<std::uint64_t> done) { impl_->flatten(std::move(done)); }

}  // namespace cleave::control
