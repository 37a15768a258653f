// The only ways a document changes. Each takes the document as read and returns the next one, with
// its epoch raised by one, to be written by compare-and-set on the epoch that was read. A change
// whose precondition does not hold in this document (unknown node, moved on phase) is a kConflict
// error; one that could hold in none (weight 0, no range, bad name) is kInvalid. Nothing else.
//
// Requires everywhere: a valid document (ring/document.h). The result is valid. Only `commit_move`
// changes the owner of any token. Cost: O(points log points + cuts), milliseconds; for the leader
// and for people, not for the data path.
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
#include "ring/document.h"

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
// range touches a move in flight (rule 21), when the destination drains, or when frozen. The new
// move's id is the new epoch.
Result<Document> begin_move(const Document& document, const MoveRequest& request);

// Rule 17. COPYING -> FENCED, only in the phase epoch given.
Result<Document> fence_move(const Document& document, MoveId move, Epoch phase_epoch);

// Rule 20. FENCED -> CLEAN: the destination owns the ranges. Each becomes at most one cut of it,
// without the ends that the base gives to it already: there cuts are taken away. What was cut there
// before is trimmed to the outside of the ranges.
Result<Document> commit_move(const Document& document, MoveId move, Epoch phase_epoch,
                             UnixMillis now, Pin pin = {});

// Rule 21. CLEAN -> gone.
Result<Document> finish_move(const Document& document, MoveId move, Epoch phase_epoch);

// Rules 11 and 22. COPYING or FENCED -> gone, the source owns the ranges as before.
Result<Document> abort_move(const Document& document, MoveId move, Epoch phase_epoch);

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

// Conflict while the node owns a token or takes part in a move, and for the last active node.
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

Result<Document> set_frozen(const Document& document, bool frozen);
Result<Document> set_mode(const Document& document, Mode mode);

}  // namespace cleave::ring
