// A person's orders (control/orders/operator.h): each an edit of the document or a move.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "control/controller.h"
#include "control/controller_impl.h"
#include "control/orders/describe.h"
#include "ring/edits/give_up.h"
#include "ring/edits/undrain.h"
#include "ring/view/diff.h"

namespace cleave::control {
namespace {

template <class T>
void answer(net::Loop& loop, Done<T> done, Result<T> result) {
  loop.post([done = std::move(done), result = std::move(result)] { done(result); });
}

constexpr milliseconds kLookAgain{200};
constexpr const char* kByOrder = "aborted by order";

// How many pieces lie elsewhere than the ring without cuts has them.
Result<std::uint64_t> astray(const ring::RingView& view) {
  ring::Document bare = view.document();
  bare.cuts.clear();
  const Result<ring::RingSnapshot> base = ring::RingView::build(std::move(bare));
  if (!base) return std::unexpected(base.error());
  return static_cast<std::uint64_t>(ring::diff(view, **base).size());
}

// Those that are copying or fenced.
std::vector<MoveId> uncommitted(const ring::Document& document) {
  std::vector<MoveId> moves;
  for (const ring::Move& move : document.moves)
    if (move.phase != ring::Phase::kClean) moves.push_back(move.id);
  return moves;
}

// Rule 22. Nothing of a drain is held: when the pool is resumed it goes on.
Result<ring::Document> frozen_without(const ring::Document& document,
                                      const std::vector<MoveId>& moves) {
  Result<ring::Document> next = ring::set_frozen(document, true);
  for (const MoveId id : moves) {
    CHECK(ring::find_move(document, id) != nullptr);
    next = ring::abort_move(*next, id, ring::find_move(document, id)->phase_epoch);
    if (!next) return next;
    next->epoch = Epoch{document.epoch.value() + 1};  // all of it is one change
  }
  return next;
}

Result<void> late_result(DocumentWriter::Fate fate) {
  switch (fate) {
    case DocumentWriter::Fate::kLanded: return {};
    case DocumentWriter::Fate::kLost:
      return fail(Code::kConflict, "the coordinator did not take it");
    case DocumentWriter::Fate::kUnknown: break;
  }
  return fail(Code::kTimeout,
              "others have changed the ring meanwhile; look whether it is as ordered");
}

}  // namespace

Error Controller::Impl::not_leading() const {
  const ring::RingSnapshot& view = membership.view();
  if (view == nullptr) return {Code::kUnavailable, "the router has not joined its ring yet"};
  const SessionId& leader = view->document().leader.session;
  return {Code::kUnavailable, "this router does not lead; ask the leader" +
                                  (leader.value().empty() ? std::string() : " " + leader.value())};
}

std::string Controller::Impl::node_name(NodeId node) const {
  const ring::RingSnapshot& view = membership.view();
  return view == nullptr ? "node " + std::to_string(node.value()) : name_of(view->document(), node);
}

void Controller::Impl::order(DocumentWriter::Edit edit, std::string kind, std::string subject,
                             Done<void> done, DocumentWriter::Settled settled) {
  CHECK(edit != nullptr && done != nullptr && !kind.empty());
  const auto late = std::make_shared<Done<void>>();
  const auto told = [this, kind = std::move(kind), subject = std::move(subject)] {
    decide({.at = options.loop.wall_now(),
            .kind = kind,
            .subject = subject,
            .reason = "ordered",
            .predicted = "",
            .real = ""});
  };
  writer.order(
      std::move(edit), kOrderPatience,
      guarded(alive,
              [this, told, late, done = std::move(done)](Result<SharedDocument> document) {
                if (document) {
                  told();
                  return done({});
                }
                CHECK(unsettled == nullptr);  // one answer at a time
                unsettled = late.get();
                done(std::unexpected(document.error()));
                unsettled = nullptr;
              }),
      guarded(alive, [told, late, settled = std::move(settled)](DocumentWriter::Fate fate) {
        if (fate == DocumentWriter::Fate::kLanded) told();
        if (settled) settled(fate);
        if (*late) (*late)(late_result(fate));
      }));
}

void Controller::Impl::move(ring::MoveRequest request, Done<MoveId> done) {
  if (board == nullptr) return answer<MoveId>(options.loop, done, std::unexpected(not_leading()));
  CHECK(membership.view() != nullptr && done != nullptr);
  const ring::Document& document = membership.view()->document();
  if (request.source == request.destination) {
    return answer<MoveId>(
        options.loop, done,
        fail(Code::kConflict, "node " + name_of(document, request.source) +
                                  " owns that already: there is nothing to move"));
  }
  std::vector<std::string> warnings;
  if (balancer != nullptr) {
    warnings = {balancer->bypass_warning(request.source),
                balancer->bypass_warning(request.destination),
                balancer->scripts_warning(ring::normalised(request.ranges))};
  }
  const std::uint64_t ticket =
      board->want(request, guarded(alive, [this, request, warnings = std::move(warnings),
                                           done = std::move(done)](Result<MoveId> begun) {
                    tell_order(request, warnings, begun);
                    // What its driver was told by the writer is a reason of now, not of the order.
                    if (!begun && DocumentWriter::of_coordinator(begun.error()))
                      return done(fail(Code::kUnavailable, begun.error().message));
                    done(std::move(begun));
                  }));
  // One that waits for others is not carried out when nobody thinks of it any more.
  options.loop.after(kOrderPatience, guarded(alive, [this, ticket] {
                       if (board != nullptr) board->withdraw(ticket);
                     }));
}

// What never began is not told as ordered. One that its driver refused has a record of its own
// (`move_ended`), by its code.
void Controller::Impl::tell_order(const ring::MoveRequest& request,
                                  const std::vector<std::string>& warnings,
                                  const Result<MoveId>& begun) {
  CHECK(!begun || *begun != MoveId{});
  if (!begun && begun.error().code == Code::kConflict) return;
  const ring::Document& document = membership.view()->document();
  DecisionRecord told{.at = options.loop.wall_now(),
                      .kind = begun ? "order" : "refused",
                      .subject = describe(request.ranges),
                      .reason = "move: " + request.reason,
                      .predicted = "",
                      .real = "",
                      .move = DecidedMove{.id = begun ? *begun : MoveId{},
                                          .source = name_of(document, request.source),
                                          .destination = name_of(document, request.destination),
                                          .ranges = request.ranges}};
  if (!begun) told.reason += ": " + begun.error().message;
  decide(std::move(told));
  for (const std::string& warning : warnings) {
    if (!begun || warning.empty()) continue;
    decide({.at = options.loop.wall_now(),
            .kind = "warning",
            .subject = describe(request.ranges),
            .reason = warning,
            .predicted = "",
            .real = ""});
  }
}

void Controller::Impl::note_aborts(const std::vector<MoveId>& moves) {
  for (const MoveId id : moves) {
    if (board != nullptr) board->note_abort(id, kByOrder);
  }
}

void Controller::Impl::forget_aborts(const std::vector<MoveId>& moves) {
  for (const MoveId id : moves) {
    if (board != nullptr) board->forget_abort(id);
  }
}

// Anybody may abort, with no leader too (rule 22). The driver sees it in the document, perhaps
// before the writer is answered: so what is told of its end is noted first, and taken back where
// nothing was written.
void Controller::Impl::abort(MoveId id, Done<void> done) {
  const ring::RingSnapshot& view = membership.view();
  if (view == nullptr || ring::find_move(view->document(), id) == nullptr) {
    return answer<void>(options.loop, done,
                        fail(Code::kNotFound, "no move of that id is under way"));
  }
  note_aborts({id});
  order([id](const ring::Document& document) { return ring::abort_by_order(document, {{id}}); },
        "abort", "move " + std::to_string(id.value()),
        [this, id, done = std::move(done)](Result<void> aborted) {
          if (!aborted && aborted.error().code != Code::kTimeout) forget_aborts({id});
          done(std::move(aborted));
        },
        [this, id](DocumentWriter::Fate fate) {
          if (fate != DocumentWriter::Fate::kLanded) forget_aborts({id});
        });
}

void Controller::Impl::abort_all(Then then, Done<std::uint64_t> done) {
  const bool freeze = then == Then::kFreeze;
  const auto moves = std::make_shared<std::vector<MoveId>>();  // as the edit last found them
  const auto edit = [this, moves,
                     freeze](const ring::Document& document) -> Result<ring::Document> {
    forget_aborts(*moves);
    *moves = uncommitted(document);
    if (moves->empty() && !freeze) return fail(Code::kConflict, "no move is under way");
    note_aborts(*moves);
    return freeze ? frozen_without(document, *moves) : ring::abort_by_order(document, *moves);
  };
  const auto forget_waiting = [this] {
    return board == nullptr ? 0 : board->forget_waiting(kByOrder);
  };
  order(
      edit, freeze ? "freeze" : "abort", freeze ? "the pool, and all moves" : "all moves",
      [this, moves, forget_waiting, done = std::move(done)](const Result<void>& written) {
        // Nothing had to be written for those that only wait.
        const bool none = !written && written.error().code == Code::kConflict && moves->empty();
        if (written || none) {
          const bool forgot = forget_waiting() > 0;
          if (written || forgot) return done(static_cast<std::uint64_t>(moves->size()));
        }
        if (written.error().code != Code::kTimeout) forget_aborts(*moves);
        done(std::unexpected(written.error()));
      },
      [this, moves, forget_waiting](DocumentWriter::Fate fate) {
        fate == DocumentWriter::Fate::kLanded ? void(forget_waiting()) : forget_aborts(*moves);
      });
}

// The boundary lies behind the token: the range up to it becomes a cut of its present owner.
void Controller::Impl::cut(CutOrder wanted, Done<void> done) {
  const ring::RingSnapshot& view = membership.view();
  if (view == nullptr) return answer<void>(options.loop, done, std::unexpected(not_leading()));
  const ring::Entry& entry = view->entry(view->find(wanted.at));
  if (wanted.at == entry.range.last) {
    return answer<void>(options.loop, done,
                        fail(Code::kConflict, "there is a boundary at that token already"));
  }
  CHECK(entry.range.contains(wanted.at));
  const ring::Cut cut{.range = {entry.range.first, wanted.at},
                      .node = entry.node,
                      .reason = std::move(wanted.reason),
                      .created = options.loop.wall_now(),
                      .pinned_until = wanted.pinned_until};
  order([cut](const ring::Document& document) { return ring::lay_cut(document, cut); }, "cut",
        describe(cut.range), std::move(done));
}

void Controller::Impl::add_node(ring::Node node, Done<NodeId> done) {
  const std::string name = node.name;
  const UnixMillis now = options.loop.wall_now();
  order([node, now](const ring::Document& document) { return ring::add_node(document, node, now); },
        "node", "add " + name,
        [this, name, done = std::move(done)](Result<void> added) {
          if (!added) return done(std::unexpected(added.error()));
          CHECK(writer.newest() != nullptr);  // it was told before this answer
          const ring::Node* found = ring::find_node(*writer.newest(), name);
          if (found == nullptr) return done(fail(Code::kConflict, "the node is gone again"));
          done(found->id);
        });
}

// Right after a change of the ring its heat is not known yet: soon it is.
void Controller::Impl::presplit_until(Instant until, const PresplitOrder& wanted,
                                      Done<Presplit> done) {
  if (balancer == nullptr)
    return answer<Presplit>(options.loop, done, std::unexpected(not_leading()));
  Result<Presplit> rehearsed = balancer->rehearse(wanted.events);
  const bool early = !rehearsed && rehearsed.error().code == Code::kUnavailable;
  if (early && options.loop.now() < until) {
    options.loop.after(kLookAgain, guarded(alive, [this, wanted, until, done] {
                         presplit_until(until, wanted, done);
                       }));
    return;
  }
  announce(wanted, std::move(rehearsed), std::move(done));
}

void Controller::Impl::announce(const PresplitOrder& wanted, Result<Presplit> rehearsed,
                                Done<Presplit> done) {
  CHECK(done != nullptr);
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

void Controller::Impl::forget(std::string event, Done<void> done) {
  const UnixMillis now = options.loop.wall_now();
  order([event, now](const ring::Document& document) { return ring::forget(document, event, now); },
        "presplit", "forget " + event, std::move(done));
}

// Cuts that agree with the base go at once, the others by moves, one a node at a time: the balancer
// of whoever leads reads in the document that this is wanted.
void Controller::Impl::flatten(Done<std::uint64_t> done) {
  using Count = std::uint64_t;
  if (balancer == nullptr) return answer<Count>(options.loop, done, std::unexpected(not_leading()));
  CHECK(membership.view() != nullptr);  // who leads has joined
  const Result<Count> ranges = astray(*membership.view());
  if (!ranges) return answer<Count>(options.loop, done, ranges);
  const UnixMillis now = options.loop.wall_now();
  order([now](const ring::Document& document) { return ring::flatten(document, now); }, "flatten",
        std::to_string(*ranges) + " ranges",
        [ranges, done = std::move(done)](const Result<void>& written) {
          done(written ? ranges : std::unexpected(written.error()));
        });
}

void Controller::Impl::approve(std::string plan, Done<std::uint64_t> done) {
  using Count = std::uint64_t;
  if (balancer == nullptr) return answer<Count>(options.loop, done, std::unexpected(not_leading()));
  // Its moves would begin later or not at all.
  if (const std::string trouble = writer.trouble(); !trouble.empty()) {
    return answer<Count>(options.loop, done, fail(Code::kUnavailable, "coordinator: " + trouble));
  }
  answer<Count>(options.loop, done, balancer->approve(plan));
}

void Controller::Impl::when_settled(Done<void> told) {
  if (unsettled != nullptr) *unsettled = std::move(told);
}

void Controller::Impl::take_back(MoveId move, Done<MoveId> done) {
  if (board == nullptr) return answer<MoveId>(options.loop, done, std::unexpected(not_leading()));
  board->take_back(move, std::move(done));
}

void Controller::Impl::give_up(MoveId move, GiveUp how, Done<void> done) {
  order(
      [move, how](const ring::Document& document) -> Result<ring::Document> {
        const ring::Leftover* kept = ring::find_leftover(document, move);
        if (kept == nullptr) return fail(Code::kConflict, "no leftover of that move is kept");
        if (how == GiveUp::kForget) return ring::forget_leftover(document, *kept);
        return how == GiveUp::kCleanAll ? ring::release_leftover(document, *kept)
                                        : ring::release_copies(document, *kept);
      },
      how == GiveUp::kForget ? "forget" : "clean",
      "leftover of move " + std::to_string(move.value()), std::move(done));
}

void Controller::Impl::allow_old_readers(Done<void> done) {
  order([](const ring::Document& document) { return ring::set_old_readers(document, true); },
        "downgrade", "the pool", std::move(done));
}

void Controller::Impl::presplit(PresplitOrder wanted, Done<Presplit> done) {
  presplit_until(options.loop.now() + kHeatPatience, wanted, std::move(done));
}

void Controller::Impl::merge(ring::TokenRange range, Done<void> done) {
  const UnixMillis now = options.loop.wall_now();
  order([range,
         now](const ring::Document& document) { return ring::merge_cuts(document, range, now); },
        "merge", describe(range), std::move(done));
}

void Controller::Impl::freeze(bool frozen, Done<void> done) {
  order(
      [frozen](const ring::Document& document) {
        return frozen ? ring::set_frozen(document, true) : ring::resume(document);
      },
      frozen ? "freeze" : "resume", "the pool", std::move(done));
}

void Controller::Impl::set_mode(ring::Mode mode, Done<void> done) {
  order([mode](const ring::Document& document) { return ring::set_mode(document, mode); }, "mode",
        std::string(ring::to_string(mode)), std::move(done));
}

void Controller::Impl::drain_node(NodeId node, Done<void> done) {
  const UnixMillis now = options.loop.wall_now();
  order(
      [node, now](const ring::Document& document) { return ring::drain_node(document, node, now); },
      "node", "drain " + node_name(node), std::move(done));
}

void Controller::Impl::undrain_node(NodeId node, Done<void> done) {
  const UnixMillis now = options.loop.wall_now();
  order([node,
         now](const ring::Document& document) { return ring::undrain_node(document, node, now); },
        "node", "undrain " + node_name(node), std::move(done));
}

void Controller::Impl::set_weight(NodeId node, std::uint32_t weight, Done<void> done) {
  const UnixMillis now = options.loop.wall_now();
  order(
      [node, weight, now](const ring::Document& document) {
        return ring::set_weight(document, node, weight, now);
      },
      "node", "weight of " + node_name(node) + ": " + std::to_string(weight), std::move(done));
}

}  // namespace cleave::control
