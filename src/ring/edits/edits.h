// The only ways a document changes. Each takes the document as read and returns the next one, with
// its epoch raised by one, to be written by compare-and-set on the epoch that was read. A change
// whose precondition does not hold in this document (unknown node, moved on phase) is a kConflict
// error; one that could hold in none (weight 0, no range, bad name) is kInvalid. Nothing else.
//
// Requires everywhere: a valid document (document.h). The result is valid. Only `commit_move`
// and `take_back` change the owner of any token. The first change of a pool whose routers all know
// leftovers turns moves in the old phase CLEAN into leftovers (rule 21). Cost: O(points log points
// + cuts), milliseconds; for the leader and for people, not for the data path.
//
// Pure. Threads: values. The rule of docs/formats/move-protocol.md behind each is named.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "ring/document/document.h"

namespace cleave::ring {

// What the first document of a pool is made of.
struct Creation {
  std::string pool;
  std::string mark;
  // In the order of their ids. An id that is given stays, as for a peer that goes by position (the
  // node of id i stands at i - 1); an id of 0 becomes the one above that of the node before.
  std::vector<Node> nodes;
  SchemeSpec scheme = {.name = "vnode"};
  Mode mode = Mode::kAuto;
  UnixMillis now;
};

// Epoch 1. Ownership of a vnode ring is evened by a few cuts while that costs nothing: every node's
// share is within 2 % of its weight's. Any other scheme is there because servers hold keys where it
// has them: it stays as it is. Errors: kInvalid.
Result<Document> create(const Creation& creation);

// Rule 2. A router's session joins; joining twice is a conflict (a session never returns).
Result<Document> join(const Document& document, Router router);

// Rule 2. Removes a session and aborts every move in COPYING or FENCED. Was it the leader's, nobody
// leads until the next `lead`; the term stays.
Result<Document> remove_router(const Document& document, const SessionId& session);

// Rule 3. `session` becomes leader of the next term; aborts every COPYING or FENCED move.
// Requires: the session is in the document.
Result<Document> lead(const Document& document, const SessionId& session);

// A move that somebody wants.
struct MoveRequest {
  std::vector<TokenRange> ranges;
  NodeId source;
  NodeId destination;
  std::string reason;
  UnixMillis now;
  UnixMillis pin_until = {};  // for `commit_move`; not in the document
};

// Until when the cuts that a commit lays are not merged; 0 = not pinned.
struct Pin {
  UnixMillis until = {};
};

// Rule 12: phase COPYING. Conflict when the source does not own every token of the ranges, when a
// range touches a move in flight or a leftover at the destination (rule 23), when the destination
// drains, when frozen, or while a router knows no leftovers. The new move's id is the new epoch.
Result<Document> begin_move(const Document& document, const MoveRequest& request);

// Rule 13. The destination held none of the move's keys: from now on its copies may lie there.
// Neither phase nor phase epoch change. Conflict outside of COPYING, and when they are entered.
// `server`, here and below: the own id of the server that the entry's node has, as the move met it;
// empty: not known.
Result<Document> enter_copies(const Document& document, MoveId move, Epoch phase_epoch,
                              UnixMillis now, const std::string& server = {});

// Rule 17. COPYING -> FENCED, only in the phase epoch given.
Result<Document> fence_move(const Document& document, MoveId move, Epoch phase_epoch);

// The life of the destination that has the copies, and how far its replication stream had come when
// they were all there (0: it has no replica).
struct Holder {
  Incarnation incarnation;
  std::uint64_t offset = 0;
};

// Rule 20. FENCED -> gone: the destination owns the ranges, its leftover goes, and the source gets
// one that names the destination. Each range becomes at most one cut of it, without the ends that
// the base gives to it already: there cuts are taken away. What was cut there before is trimmed to
// the outside of the ranges. Conflict when the copies were not entered.
Result<Document> commit_move(const Document& document, MoveId move, Epoch phase_epoch,
                             const Holder& holder, UnixMillis now, Pin pin = {},
                             const std::string& server = {});

// Rules 11 and 22. COPYING or FENCED -> gone, the source owns the ranges as before.
Result<Document> abort_move(const Document& document, MoveId move, Epoch phase_epoch);

// ---- leftovers (rules 23 and 26) ---------------------------------------------------------------
// `seen` is the entry as it was read: a conflict when it is not exactly so any more, or when its
// move is in flight.

// The holder was found to have everything: cleaning begins (kBegun). Conflict for an entry without
// a holder, and for one that is begun or kept.
Result<Document> begin_cleaning(const Document& document, const Leftover& seen);

// The holder lost its data, or another server is at the node: what is there is kept until a person
// decides, for the reason given. Conflict for one that is kept already.
Result<Document> keep_leftover(const Document& document, const Leftover& seen, std::string why);

// All of it is deleted: the entry is off. Conflict for a kept one, and for one whose holder was not
// found whole.
Result<Document> drop_leftover(const Document& document, const Leftover& seen);

// A person gives up what a kept entry keeps: it is cleaned like one of an aborted move, at
// whichever server the node has.
Result<Document> release_leftover(const Document& document, const Leftover& seen);

// A person says that nothing is to be cleaned there: the entry is off, what lies there stays, as
// strays. Conflict for one that is not kept.
Result<Document> forget_leftover(const Document& document, const Leftover& seen);

// A person wants what a kept entry keeps to be the range again, as far as the holder still owns it:
// a move from the holder, fenced from the start. Conflict when the entry is not kept, nothing of it
// is the holder's, or a range touches a move in flight.
Result<Document> begin_taking_back(const Document& document, const Leftover& seen, UnixMillis now);

// The entry's node owns the move's ranges, which leave the kept entry; the node that owned them
// gets an ordinary leftover. Conflict unless `move` takes that entry back, in that phase epoch.
Result<Document> take_back(const Document& document, MoveId move, Epoch phase_epoch,
                           const Leftover& seen, UnixMillis now, const std::string& server = {});

// Lets routers of an older version join again, or not any more (Document::old_readers).
Result<Document> set_old_readers(const Document& document, bool allowed);

// Lays a boundary: the range becomes a cut of the node that already owns all of it (no data moves).
// What was cut there before is trimmed to the outside of the range.
Result<Document> lay_cut(const Document& document, const Cut& cut);

// Takes away boundaries that no longer matter: neighbouring cuts of one owner are joined and cuts
// that agree with the base disappear (unless two neighbours are joined across one). Only cuts that
// lie wholly in `range` and are not pinned at `now`. Conflict when nothing would change.
Result<Document> merge_cuts(const Document& document, TokenRange range, UnixMillis now);

// The node joins the base at once; every token whose owner would differ gets a cut that keeps its
// old owner (so nothing moves yet). The id of `node` is ignored; the new one is next_node.
Result<Document> add_node(const Document& document, const Node& node, UnixMillis now);

// The node leaves the base; cuts keep what it owns until moves have taken it away. Conflict for the
// last active node.
Result<Document> drain_node(const Document& document, NodeId node, UnixMillis now);

// Conflict while the node owns a token, takes part in a move or is named by a leftover, and for the
// last active node.
Result<Document> remove_node(const Document& document, NodeId node, UnixMillis now);

// Same as drain + add for a weight: the base changes, cuts keep every owner.
Result<Document> set_weight(const Document& document, NodeId node, std::uint32_t weight,
                            UnixMillis now);

// Announces events: each takes the place of one of the same name, so that announcing again what is
// announced changes nothing. Their loads may come in any order. Events that have ended by `now` go.
// Invalid: an event that has ended, ends before it starts, is given twice, has two loads for one
// token, a load out of bounds or too many of them. Conflict: too many loads with the other events'
// (ring::kExpectedLoadsMax), or a router that could not read them.
Result<Document> expect(const Document& document, std::vector<ExpectedEvent> events,
                        UnixMillis now);

// Takes an event back. What was pinned for it stays so until its end. Conflict when there is none
// of that name.
Result<Document> forget(const Document& document, std::string_view event, UnixMillis now);

// Conflict when no event has ended by `now`.
Result<Document> forget_ended(const Document& document, UnixMillis now);

// What a person accepts of strays at a node (ring/view/stray.h): more than these are new.
struct AcceptedStrays {
  NodeId node;
  std::uint64_t strays = 0;
};

// Nodes that are not there any more are passed over.
Result<Document> accept_strays(const Document& document, const std::vector<AcceptedStrays>& known);

// A person aborts all moves that are copying or fenced, in one change (rule 22); those of a drain
// are not begun again before the drain is ordered anew (Node::drain_held).
Result<Document> abort_by_order(const Document& document, std::span<const MoveId> moves);

// Every cut is to be taken back: mode observe, and what agrees with the base goes at once.
Result<Document> flatten(const Document& document, UnixMillis now);

// Ends what stops the balancer: frozen, a flatten, a way back to an older version.
Result<Document> resume(const Document& document);

Result<Document> set_frozen(const Document& document, bool frozen);
Result<Document> set_mode(const Document& document, Mode mode);

}  // namespace cleave::ring
